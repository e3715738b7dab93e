"""Programs for the search out of functions, and the graphs that it found back into IR."""
