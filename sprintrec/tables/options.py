"""What to take from a log and how: one frozen dataclass that Python callers fill in and the command line reads.

The defaults keep every event. A field's default and help text stand here and nowhere else; the flags of
``data check``, ``prepare`` and ``train`` are made from them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sprintrec.errors import Mistake, nearest

# The particular before the general, as they are looked for: Amazon's files are JSON lines too, MovieLens' CSV.
FORMATS = (
    *("sequences", "movielens", "recbole", "amazon2014", "amazon2018", "amazon2023"),
    *("parquet", "jsonl", "csv"),
)
NO_COLUMN = "none"  # said in place of a column name: do not use one even if there is one


def _flag(default: Any, help: str) -> Any:
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How a log is read; each field is the flag of the same name."""

    format: str | None = _flag(None, f"Format of the events, instead of looking: {', '.join(FORMATS)}.")
    user: str | None = _flag(None, "Column of the events that holds the user id.")
    item: str | None = _flag(None, "Column of the events that holds the item id.")
    time: str | None = _flag(None, f"Column with the time of an event; '{NO_COLUMN}': file order is time order.")
    event_type: str | None = _flag(None, "Column with the type of an event (view, purchase, ...).")
    rating: str | None = _flag(None, "Column with the rating.")
    items_id: str | None = _flag(None, "Column of the item list that holds the item id.")
    delimiter: str | None = _flag(None, "What separates the fields of a CSV file, instead of looking.")
    header: bool | None = _flag(None, "Whether the first row of a CSV file names the columns, instead of looking.")
    min_rating: float | None = _flag(None, "Leave out events rated lower. Without it every rating is an event.")
    since: str | None = _flag(None, "Leave out events before this moment (ISO 8601 or seconds).")
    until: str | None = _flag(None, "Leave out events from this moment on (ISO 8601 or seconds).")
    history_types: tuple[str, ...] = _flag((), "Event types that enter histories, by comma; all by default.")
    target_types: tuple[str, ...] = _flag((), "Event types that may be asked for, by comma; all by default.")
    first_only: bool = _flag(False, "Keep a user's first event with an item only.")
    drop_repeats: bool = _flag(False, "Drop an event that repeats the user's event just before it.")
    k_core: tuple[int, ...] = _flag((), "Leave out users and items with fewer events, until none are left: 5, or 5,3.")
    min_history: int = _flag(0, "Leave out users with fewer events.")
    used_items_only: bool = _flag(False, "Leave listed items without events out of the catalogue.")
    allow_bad: float = _flag(0.01, "Share of rows that may be unreadable.")
    rejects: Path | None = _flag(None, "Write rows that cannot be read to this CSV file, with the reason.")

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise Mistake(f"unknown format '{self.format}': {nearest(self.format, FORMATS)}")
        if not 0 <= self.allow_bad <= 1:
            raise Mistake(f"--allow-bad is a share between 0 and 1, not {self.allow_bad}")
        if len(self.k_core) > 2 or any(k < 0 for k in self.k_core):
            raise Mistake(f"--k-core takes one number, or two (users, items), not {self.k_core}")
        if self.delimiter == "":
            raise Mistake("--delimiter needs at least one character; a tab is written tab")

    @property
    def core_of_users(self) -> int:
        return self.k_core[0] if self.k_core else 0

    @property
    def core_of_items(self) -> int:
        return self.k_core[-1] if self.k_core else 0
