"""Programs over named axes, and changes that keep what they compute."""
