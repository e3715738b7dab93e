"""Graphs for people: in a browser (Google's Model Explorer) and as pictures (SVG)."""
