"""The search for graphs of one kernel, within a time limit."""
