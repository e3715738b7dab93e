"""Gradients of kernel operators: reverse-mode differentiation, operator by operator."""
