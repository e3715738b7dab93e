"""How long a graph takes, for all combinations of tile sizes at once."""
