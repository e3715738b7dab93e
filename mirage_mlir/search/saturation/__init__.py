"""All values that a block can hold under one configuration, and the graphs in them."""
