"""From operations of StableHLO to operators of the kernel dialect."""
