"""Shapes of tensors and the extents of tiles. No IR."""
