"""The pieces of `lower-to-nvvm`: views, addresses, loads, matrix products, reductions, stores."""
