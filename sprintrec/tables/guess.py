"""Files without a header: whether the first row names the columns, and what nameless columns hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sprintrec.tables.columns import is_known

HIGHEST_RATING = 100
EARLIEST_TIME = 1e8  # seconds since 1970: 1973
MOST = 0.9  # of the values of a column must fit
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def has_header(rows: Sequence[Sequence[str]], named: Sequence[str | None]) -> bool:
    """Whether the first row names columns.

    It does if a known name stands in it. It does not if it holds a number, a value that returns further down
    in its column, or a digit in a column where nearly every value has one: then it looks like the rest.
    """
    first, others = rows[0], rows[1:]
    if any(cell in named or is_known(cell) for cell in first):
        return True
    if any(number(cell) is not None for cell in first):
        return False
    for place, cell in enumerate(first):
        below = [row[place] for row in others if len(row) > place]
        if cell in below or (below and _has_digit(cell) and share(map(_has_digit, below)) > MOST):
            return False
    return True


def guessed_roles(rows: Sequence[Sequence[str]]) -> dict[str, str]:
    """Role -> number of a column, counted from 1: user and item come first, times are large numbers or dates."""
    roles = {"user": "1", "item": "2"}
    width = max(map(len, rows))
    for place in range(2, width):
        values = [row[place] for row in rows if len(row) > place and row[place].strip()]
        for role, fits in (("time", _like_time), ("rating", _like_rating)):
            if role not in roles and values and share(map(fits, values)) > MOST:
                roles[role] = str(place + 1)
    return roles


def number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def share(fits: Iterable[bool]) -> float:
    """The share of true values among at least one."""
    values = list(fits)
    return sum(values) / len(values)


def _like_time(text: str) -> bool:
    value = number(text)
    return value >= EARLIEST_TIME if value is not None else bool(DATE.match(text.strip()))


def _like_rating(text: str) -> bool:
    value = number(text)
    return value is not None and abs(value) <= HIGHEST_RATING


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)
