"""
Equality saturation: all values that a block can hold under one configuration, and graphs extracted
from them.
"""
