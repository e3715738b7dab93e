"""Analyses of kernels and tiles that several passes of the lowering share."""
