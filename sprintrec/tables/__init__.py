"""Files in, a log out: every format that we read, columns found by name, rows checked, decisions told.

``read_log`` reads files, ``from_frames`` tables of pandas, polars or Arrow. What was decided on the way
stands in the log's notes, one sentence each.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sprintrec.tables.options import FORMATS, ReadOptions

if TYPE_CHECKING:
    from sprintrec.records import Log

__all__ = ["FORMATS", "ReadOptions", "from_frames", "name_of", "read_log"]

# Public data sets lie in folders with a family's name before their own.
FAMILIES = ("amazon2014_", "amazon2018_", "amazon2023_")


# Polars is imported when something is read: the command line takes its flags from here.
def read_log(events: Path, items: Path | None = None, options: ReadOptions | None = None) -> Log:
    """The log of some events and an item list; without one, the list that belongs to the events' format."""
    from sprintrec.tables.reading import read_files

    return read_files(Path(events), None if items is None else Path(items), options or ReadOptions()).log


def from_frames(events: Any, items: Any = None, options: ReadOptions | None = None) -> Log:
    """The log of a table of events and one of items, from pandas, polars or Arrow."""
    from sprintrec.tables.reading import read_frames

    return read_frames(events, items, options or ReadOptions()).log


def name_of(events: Path) -> str:
    """What a log is called after its file, or after its folder where the file has the name of its format."""
    place = events.resolve()
    if place.name.startswith(("sequences.", "u.data", "ratings.")):
        place = place.parent
    name = place.name if place.is_dir() else place.name.split(".")[0]
    return next((name.removeprefix(family) for family in FAMILIES if name.startswith(family)), name)
