"""
The search for uGraphs: plain Python over axis classes, no IR.

A program (`program`) is brought to normal forms (`values`); for every configuration (`config`)
the values that a block can hold are saturated (`saturate`), ways to make the outputs are
extracted (`extract`), tile sizes are tried (`instantiate`) and costed (`cost`). `engine` does
all of it within a time limit.
"""
