"""Functions of other frameworks, whole or in parts, as functions of the kernel dialect."""
