"""The whole way from a program to an artifact: search, verify, lower, assemble, report."""
