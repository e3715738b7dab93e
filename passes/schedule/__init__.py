"""The parts of `software-pipeline`: the order of operations, barriers, clusters."""
