"""Shapes, partitions, layouts, memory plans and targets: mathematics without an IR."""
