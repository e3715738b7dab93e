"""
The search for uGraphs: plain Python over axis classes, no IR.

A program (`program`) is brought to normal forms; for every configuration the values that a block
can hold are saturated, and ways to make the outputs extracted (`saturation`). Tile sizes are tried
and costed (`cost_model`), numbers kept in range (`stabilization`), within a time limit
(`single_kernel`). What one kernel does not do well is cut into several (`multi_kernel`).
"""
