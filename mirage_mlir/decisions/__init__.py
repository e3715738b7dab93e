"""
Decisions that the lowering and the cost model share: functions of sizes, not of IR. Both call them,
the model with arrays that have an entry for each combination of tile sizes.
"""
