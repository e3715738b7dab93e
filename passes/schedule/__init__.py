"""The parts of `schedule-threadblock`: the order of operations, barriers, clusters."""
