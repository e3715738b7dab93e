"""Numerical stability of found graphs: row maxima and first elements are subtracted, as shifts."""
