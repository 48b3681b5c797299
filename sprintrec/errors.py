"""Errors that are the caller's to mend: the command line prints them as one sentence, no traceback."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class Mistake(Exception):
    """Something a user can put right; the message says what is wrong and what to do."""


class WorkFailed(Exception):
    """The work itself failed (a full disk, a loss that is no number); the message says what was kept."""


def nearest(word: str, known: Iterable[str]) -> str:
    """``, did you mean X?`` where something known looks like the word, else the list of what is known."""
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    if close:
        return f"did you mean '{close[0]}'?"
    return f"known are {', '.join(names)}" if names else "none are known"
