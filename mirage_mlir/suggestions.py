"""What was perhaps meant by a name that does not exist."""

from collections.abc import Iterable
from difflib import get_close_matches


def suggestion(name: str, known: Iterable[str]) -> str:
    """The end of an error about `name`: `; did you mean '...'?`, or nothing where none is near."""
    close = get_close_matches(name, list(known), n=1)
    return f"; did you mean '{close[0]}'?" if close else ""
