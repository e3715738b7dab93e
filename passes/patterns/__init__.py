"""Rewrite patterns, by the dialect at their root; passes choose among them."""
