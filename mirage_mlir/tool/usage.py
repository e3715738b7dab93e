"""What is wrong with a command line."""


class UsageError(Exception):
    """A command line that cannot be carried out, whatever the input is; exit code 2."""
