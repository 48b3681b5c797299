"""A tiny data set whose right answers are visible, for every test that needs one.

Forty users walk a circle of 28 items, each from a place of their own: after item i comes item i + 1.
Items 28 and 29 never occur. Vectors and codes are random, every item has a code of its own. All arrays
are read-only, so whoever writes into what was lent fails.
"""

from __future__ import annotations

import os
from pathlib import Path

# Tiny networks run fastest on one thread, above all where other work shares the machine. Read when torch loads.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest

from sprintrec import prepared
from sprintrec.records import Codes, Events, Histories, Items, Log, Past
from sprintrec.split import split

USERS, ITEMS, WALKED = 40, 30, 28
DAY = 86_400
FIRST_DAY = 1_700_000_000


def lent(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


def walks() -> tuple[Histories, list[int]]:
    """Every user's walk of 6 to 12 items, and the day each begins; more walks begin early in the circle."""
    random = np.random.default_rng(0)
    starts = (WALKED * random.random(USERS) ** 1.5).astype(int)
    lengths = random.integers(6, 13, USERS)
    rows = [(start + np.arange(length)) % WALKED for start, length in zip(starts, lengths, strict=True)]
    return Histories.of(rows), list(random.permutation(USERS))


@pytest.fixture(scope="session")
def tiny_log() -> Log:
    """40 users, 30 items with titles, 6 to 12 events a user, two days apart."""
    walked, days = walks()
    place = np.arange(len(walked.items)) - np.repeat(walked.offsets[:-1], walked.lengths)
    times = FIRST_DAY + DAY * (np.repeat(days, walked.lengths) + 2 * place)
    events = Events(lent(walked.items), lent(walked.offsets), lent(times.astype(np.int64)))
    items = Items(
        [f"{row:03d}" for row in range(ITEMS)],
        [{"title": f"Stone {row} of the circle", "brand": "AB"[row % 2]} for row in range(ITEMS)],
    )
    return Log(events, items, [f"user{row}" for row in range(USERS)], ("made by hand",))


@pytest.fixture(scope="session")
def tiny_past(tiny_log: Log) -> Past:
    """All a method may be fitted on: the walks without their last two steps, codes and vectors of all items."""
    random = np.random.default_rng(1)
    table = random.choice(8**4, ITEMS, replace=False)[:, None] // 8 ** np.arange(4) % 8
    codes = Codes("tiny", lent(table), (8, 8, 8, 8))
    vectors = lent(random.normal(size=(ITEMS, 16)).astype(np.float32))
    train = split(tiny_log.events, "last-out").train
    assert train.times is not None
    events = Events(lent(train.items), lent(train.offsets), lent(train.times))
    return Past(events, ITEMS, codes, vectors)


@pytest.fixture
def tiny_prepared(tiny_log: Log, tiny_past: Past, tmp_path: Path) -> prepared.Prepared:
    """The tiny data set as a prepared folder, with vectors and the code table ``tiny``."""
    assert tiny_past.codes is not None
    folder = prepared.write(tmp_path / "tiny", tiny_log, "tiny", "last-out", tiny_past.vectors)
    prepared.write_codes(folder, tiny_past.codes, {})
    return folder
