"""GPUs, one row each: features, sizes, speeds, and the limits of tensor maps. No IR."""
