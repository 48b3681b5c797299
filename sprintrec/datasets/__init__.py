"""Public data sets: where each comes from, under which terms, how it is read and how large it must be then.

One file per set with a ``DATASET``, found by the file's name. After reading, users, items and events are
compared with what is known of the set, so that nobody measures on another log than they think.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sprintrec.errors import Mistake, nearest
from sprintrec.records import Log


@dataclass(frozen=True)
class Dataset:
    """One public data set."""

    name: str
    title: str
    users: int
    items: int
    events: int
    address: str
    licence: str
    find: Callable[[], Path]  # where it lies on this machine, or a Mistake that says how to get it
    read: Callable[[Path], Log]

    def log(self, place: Path | None = None) -> Log:
        """The log of the files at a place, or where they are found; a Mistake if its size is not the known one."""
        log = self.read(place or self.find())
        found = {"users": len(log.events), "items": len(log.items), "events": len(log.events.items)}
        known = {kind: getattr(self, kind) for kind in found}
        if found != known:
            raise Mistake(f"{self.title} has {_sizes(known)}, but {_sizes(found)} were read: fetch its files again")
        return log


def dataset_names() -> list[str]:
    """Every data set there is: the public file names of this folder."""
    return sorted(file.stem.replace("_", "-") for file in Path(__file__).parent.glob("[!_]*.py"))


def find_dataset(name: str) -> Dataset:
    """The data set of a name."""
    if name not in dataset_names():
        raise Mistake(f"unknown data set '{name}': {nearest(name, dataset_names())}")
    dataset: Dataset = importlib.import_module(f"{__name__}.{name.replace('-', '_')}").DATASET
    return dataset


def _sizes(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
