"""A log in figures: what ``data describe`` prints, and what training and reports say about a log.

Pure functions of records; shares are between 0 and 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from sprintrec.records import Events, Log

TEXT_FIELDS = ("title", "description", "categories", "keywords", "features", "brand")
MANY_REPEATS = 0.01
QUANTILES = {"least": 0.0, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95, "most": 1.0}


def describe(log: Log, name: str) -> dict[str, Any]:
    """The figures of a log, ready for JSON."""
    events, items = log.events, log.items
    repeats = repeated_share(events)
    return {
        "name": name,
        "users": len(events),
        "items": len(items),
        "events": len(events.items),
        "mean_length": float(events.lengths.mean()) if len(events) else 0.0,
        "density": len(events.items) / max(len(events) * len(items), 1),
        "repeats": repeats,
        "ties": float(tied(events).mean()) if events.times is not None and len(events.items) else None,
        "first_event": None if events.times is None else moment_of(int(events.times.min())),
        "last_event": None if events.times is None else moment_of(int(events.times.max())),
        "events_per_user": _quantiles(events.lengths),
        "events_per_item": _quantiles(np.bincount(events.items, minlength=len(items))),
        "items_without_events": int((np.bincount(events.items, minlength=len(items)) == 0).sum()),
        "items_without_text": sum(not has_text(fields) for fields in items.fields),
        "fields": _coverage(log),
        "headline": "item_seen_kept" if repeats > MANY_REPEATS else "item",
        "notes": list(log.notes),
    }


def repeated_share(events: Events) -> float:
    """The share of events whose item the same user had before."""
    if not len(events.items):
        return 0.0
    pairs = events.row_of_each() * (int(events.items.max()) + 1) + events.items
    pairs.sort()
    return float((pairs[1:] == pairs[:-1]).sum() / len(pairs))


def repeats_sentence(share: float) -> str | None:
    """What to say of a log in which users come back to items; None where they hardly do."""
    if share <= MANY_REPEATS:
        return None
    return (
        f"{share:.1%} of events are of an item that the user had before: measuring should headline item_seen_kept, "
        "which lets a method recommend such items."
    )


def tied(events: Events) -> np.ndarray:
    """Which events share user and second with another one, bool [events]."""
    shares = np.zeros(len(events.items), bool)
    if events.times is not None and len(shares):
        same = events.times[1:] == events.times[:-1]
        inner = events.offsets[1:-1]
        same[inner[(inner > 0) & (inner < len(shares))] - 1] = False  # the last of one user, the first of the next
        shares[1:] = same
        shares[:-1] |= same
    return shares


def moment_of(seconds: int) -> str:
    """A moment in ISO 8601; the number itself where no calendar has such a year."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return str(seconds)


def has_text(fields: Mapping[str, object]) -> bool:
    """Whether an item has any field that people wrote for people."""
    return any(fields.get(name) for name in TEXT_FIELDS)


def _coverage(log: Log) -> dict[str, float]:
    """Per field the share of items that have it."""
    counts = Counter(name for fields in log.items.fields for name in fields)
    return {name: count / len(log.items) for name, count in counts.most_common()}


def _quantiles(counts: np.ndarray) -> dict[str, float]:
    if not len(counts):
        return {}
    return {name: float(np.quantile(counts, at)) for name, at in QUANTILES.items()}
