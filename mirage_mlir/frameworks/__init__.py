"""Functions of other frameworks as programs of the kernel dialect, and calls of what is found."""
