"""A log to a prepared folder: split, item vectors, codes; each step says what it decided.

What is fitted here (co-occurrence vectors, PCA, codebooks) is fitted on the training part of the split,
so a prepared folder belongs to one protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from sprintrec import prepared
from sprintrec.codes import codes_named
from sprintrec.codes.quality import quality
from sprintrec.prepared import Prepared
from sprintrec.records import Items, Log
from sprintrec.split import split
from sprintrec.texts import vectors_for

DEFAULT_CODES = "opq4x256-unique"
VECTORS_BESIDE = "emb_*.npy"

Say = Callable[[str], None]
Advance = Callable[[str, int, int], None]  # (what, done, total)


def prepare(
    log: Log,
    folder: str | Path,
    name: str,
    protocol: str = "last-out",
    texts: str = "auto",
    codes: Sequence[str] = (DEFAULT_CODES,),
    seed: int = 0,
    say: Say = lambda sentence: None,
    advance: Advance = lambda what, done, total: None,
) -> Prepared:
    """Write the prepared folder and its code tables. ``texts``: what texts.vectors_for takes."""
    train = split(log.events, protocol).train
    vectors, about = vectors_for(log.items, texts, train, lambda done, total: advance("item vectors", done, total))
    say(about["note"])
    made = prepared.write(folder, log, name, protocol, vectors, {"texts": about})
    add_codes(made, codes, seed, say, advance)
    return made


def add_codes(
    made: Prepared,
    names: Sequence[str],
    seed: int = 0,
    say: Say = lambda sentence: None,
    advance: Advance = lambda what, done, total: None,
) -> None:
    """Make code tables by their names and add them to a prepared folder."""
    vectors = made.vectors()
    assert vectors is not None, "prepare always writes vectors"
    train_items = np.unique(made.split().train.items)
    items = made.items()
    for name in names:
        table = codes_named(
            name,
            vectors,
            train_items,
            seed,
            lambda done, total, name=name: advance(f"codes {name}", done, total),  # type: ignore[misc]
        )
        report = quality(table, vectors, titles(items))
        prepared.write_codes(made, table, report)
        say(report["sentence"])


def titles(items: Items) -> list[str]:
    """What people call an item: its title, else its id."""
    return [str(fields.get("title") or item) for item, fields in zip(items.ids, items.fields, strict=True)]


def vectors_beside(events: Path) -> Path | None:
    """Ready vectors in the folder of a log in the sequence-file format, where there are any."""
    folder = events if events.is_dir() else events.parent
    found = sorted(folder.glob(VECTORS_BESIDE))
    return found[0] if found and (folder / "sequences.tsv.gz").is_file() else None
