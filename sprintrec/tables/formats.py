"""All formats, and which of them a path is in: a format is a module of this folder with the functions of Format."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from sprintrec.tables import files
from sprintrec.tables.options import FORMATS, ReadOptions
from sprintrec.tables.table import ItemList, Table


class Format(Protocol):
    """Where a format's files lie and how they are cut into fields."""

    def holds_events(self, path: Path) -> bool:
        """Whether a file or folder looks like events in this format."""

    def holds_items(self, path: Path) -> bool:
        """Whether a file or folder looks like an item list in this format."""

    def items_beside(self, path: Path) -> Path | None:
        """The item list that belongs to some events, where one lies beside them."""

    def events(self, path: Path, options: ReadOptions) -> Sequence[Table]:
        """The events, in one table per file."""

    def items(self, path: Path, options: ReadOptions) -> ItemList:
        """The item list."""


def format_called(name: str) -> Format:
    # A module of ours named csv would read as Python's own.
    module = "delimited" if name == "csv" else name
    return cast(Format, import_module(f"sprintrec.tables.{module}"))


def format_of_events(path: Path) -> str:
    """The name of the format that some events are in."""
    files.existing(path)
    return next((name for name in FORMATS if format_called(name).holds_events(path)), None) or _by_content(path)


def format_of_items(path: Path) -> str:
    """The name of the format that an item list is in."""
    files.existing(path)
    return next((name for name in FORMATS if format_called(name).holds_items(path)), None) or _by_content(path)


def _by_content(path: Path) -> str:
    """Of a file whose name says nothing."""
    return "jsonl" if files.head(path).lstrip().startswith((b"{", b"[")) else "csv"
