"""Reading a command line, and what is wrong with one."""

import argparse
from typing import NoReturn


class UsageError(Exception):
    """A command line that cannot be carried out, whatever the input is; exit code 2."""


class OneLineParser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, like all of ours."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)
