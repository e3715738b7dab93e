"""Arithmetic in Z_p x Z_q, functions on it, the error bound of random tests (plain Python)."""
