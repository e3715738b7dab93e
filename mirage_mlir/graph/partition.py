"""
How a tensor is cut into tiles: by the blocks of a grid and the iterations of a loop.

A dimension of size S that a grid axis of G blocks and a loop of F iterations cut into tiles of t
elements: block b, iteration i holds the indices

    [(b * F + i) * t, min(S, (b * F + i + 1) * t))

so G * F * t >= S; the last tiles may be ragged or empty. A dimension that nothing cuts has
G = F = 1.
"""

REPLICATED = -1
"""The entry of a grid or loop map that cuts no dimension: all see the whole tensor."""
