"""The bridge between the IR and the search: programs out of functions, and graphs back into IR."""
