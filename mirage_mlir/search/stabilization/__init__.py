"""Shifts that keep the numbers of a found graph in the range of floating-point numbers."""
