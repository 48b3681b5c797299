"""What the stages hand to each other: plain frozen records over numpy arrays.

Outside this package users and items are strings; in here they are row numbers 0..n-1. The one
shape that returns everywhere is the ragged list: many short lists stored as one flat array and
the offsets at which each list begins.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Histories:
    """One list of items per row, oldest first: row i is ``items[offsets[i]:offsets[i + 1]]``."""

    items: np.ndarray  # int32 [events]
    offsets: np.ndarray  # int64 [rows + 1]

    def __post_init__(self) -> None:
        if len(self.offsets) == 0 or self.offsets[0] != 0 or self.offsets[-1] != len(self.items):
            raise ValueError("offsets must begin with 0 and end with the number of items")

    @classmethod
    def of(cls, rows: Sequence[Sequence[int] | np.ndarray]) -> Histories:
        """From a list of lists."""
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        parts = [np.asarray(row, np.int32) for row in rows]
        return cls(np.concatenate(parts) if parts else np.zeros(0, np.int32), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)

    def row(self, index: int) -> np.ndarray:
        return self.items[self.offsets[index] : self.offsets[index + 1]]

    def slice(self, start: int, stop: int) -> Histories:
        """Rows start to stop, sharing memory with this record."""
        first, last = self.offsets[start], self.offsets[min(stop, len(self))]
        offsets = self.offsets[start : min(stop, len(self)) + 1]
        return Histories(self.items[first:last], offsets - first)

    def row_of_each(self) -> np.ndarray:
        """The row every flat item belongs to, int64 [events]."""
        return np.repeat(np.arange(len(self)), self.lengths)


@dataclass(frozen=True)
class Events(Histories):
    """A log grouped by user and ordered in time within each user."""

    times: np.ndarray | None = None  # int64 seconds since 1970 [events]; None where only order is known
    targets: np.ndarray | None = None  # bool [events]: may be asked for; None means every event may

    def may_be_target(self) -> np.ndarray:
        return np.ones(len(self.items), bool) if self.targets is None else self.targets


@dataclass(frozen=True)
class Items:
    """The catalogue: string ids, and per item the fields its list gave (title, brand, ...)."""

    ids: Sequence[str]
    fields: Sequence[Mapping[str, object]]

    def __post_init__(self) -> None:
        if len(self.ids) != len(self.fields):
            raise ValueError(f"{len(self.ids)} item ids but fields of {len(self.fields)} items")

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Log:
    """A raw log after reading: what happened, to what, by whom, and what reading decided."""

    events: Events
    items: Items
    users: Sequence[str]
    notes: Sequence[str] = ()  # one sentence per decision taken while reading, for people


@dataclass(frozen=True)
class HeldOut:
    """Questions with known answers: the whole past of some users and the item that came next."""

    histories: Histories
    targets: np.ndarray  # int32 [questions]
    users: np.ndarray  # int64 [questions], rows of the log

    def __len__(self) -> int:
        return len(self.targets)


@dataclass(frozen=True)
class Split:
    """A log cut into what may be fitted on and what is asked afterwards."""

    protocol: str
    train: Events
    validation: HeldOut
    test: HeldOut


@dataclass(frozen=True)
class Codes:
    """Semantic IDs: row i of the table is item i's tuple of tokens, one of ``sizes[l]`` at digit l."""

    name: str
    table: np.ndarray  # integers [items, digits]
    sizes: tuple[int, ...]  # tokens per digit
    tokenizer: Mapping[str, np.ndarray] = field(default_factory=dict)  # what codes/assign.py needs for new items

    def __post_init__(self) -> None:
        if self.table.ndim != 2 or self.table.shape[1] != len(self.sizes):
            raise ValueError(f"a code table of shape {self.table.shape} with {len(self.sizes)} digits")
        if len(self.table) and (self.table.min() < 0 or (self.table.max(axis=0) >= self.sizes).any()):
            raise ValueError("a token lies outside its digit's range")

    def distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct codes [codes, digits] in lexical order, and each item's row among them."""
        codes, row = np.unique(self.table, axis=0, return_inverse=True)
        return codes, row.reshape(-1)

    @property
    def hash(self) -> str:
        return content_hash(np.ascontiguousarray(self.table, np.int32))


@dataclass(frozen=True)
class Past:
    """All that a method may be fitted on: training events and what is known of the items."""

    events: Events
    item_count: int
    codes: Codes | None = None
    vectors: np.ndarray | None = None  # float [items, dimensions], text or co-occurrence vectors

    def popularity(self) -> np.ndarray:
        """Training events per item, int64 [items]."""
        return np.bincount(self.events.items, minlength=self.item_count)


@dataclass(frozen=True)
class Rankings:
    """Recommended items per question, best first; -1 fills a row that has fewer."""

    items: np.ndarray  # int32 [questions, k]
    scores: np.ndarray | None = None  # float32 [questions, k]

    def __len__(self) -> int:
        return len(self.items)


def content_hash(*arrays: np.ndarray | bytes | str) -> str:
    """Sixteen hexadecimal digits of SHA-256 over types, shapes and contents."""
    digest = hashlib.sha256()
    for array in arrays:
        if isinstance(array, np.ndarray):
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
        else:
            plain = array.encode() if isinstance(array, str) else array
            digest.update(b"%d:" % len(plain) + plain)
    return digest.hexdigest()[:16]
