"""What several passes of the lowering ask about kernels and tiles."""
