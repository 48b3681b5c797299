"""What was made elsewhere, measured on a log: a saved model, or the lists of any other system.

The questions are the test part of the log's own split; ranks and figures come from the code that measures
our own runs. Who is asked about and not listed counts as a miss, and every such departure is a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sprintrec import metrics
from sprintrec.errors import Mistake
from sprintrec.evaluation import BLOCK, evaluate
from sprintrec.method import Method
from sprintrec.model_folder import ModelFolder
from sprintrec.prepared import data_hash
from sprintrec.records import HeldOut, Histories, Log, Rankings
from sprintrec.significance import rank_intervals
from sprintrec.split import split

INTERVAL_CUTS = (5, 10, 20)


def measure_model(model: ModelFolder, method: Method, log: Log, protocol: str) -> dict[str, Any]:
    """The figures of a model on a log's held-out part, with what the log has and the model does not know."""
    asked = split(log.events, protocol).test
    rows = rows_of(log.items.ids, row_by_id(model.items.ids))
    targets = rows[asked.targets]
    known = HeldOut(renumbered(asked.histories, rows), np.maximum(targets, 0), asked.users)
    measured = evaluate(method, known, model.codes)
    for ranks in measured.ranks.values():
        ranks[targets < 0] = metrics.ABSENT
    same_log = data_hash(log, model.config["protocol"]) == model.config["data_hash"]
    unknown_items, unknown_targets = int((rows < 0).sum()), int((targets < 0).sum())
    notes = [
        "This is the log that the model was made from."
        if same_log
        else "This is not the log that the model was made from: it may have been trained on events that are asked here."
    ]
    if unknown_items:
        notes.append(
            f"{unknown_items:,} of {len(rows):,} items of the log are not in the model: they are left out of "
            f"histories, and the {unknown_targets:,} questions that ask for one count as misses."
        )
    return {
        "protocol": protocol,
        "questions": len(asked),
        **measured.summaries(),
        "intervals": {reading: rank_intervals(ranks, INTERVAL_CUTS) for reading, ranks in measured.ranks.items()},
        "same_log": same_log,
        "unknown_items": unknown_items,
        "unknown_targets": unknown_targets,
        "seconds": round(measured.seconds, 3),
        "notes": notes,
    }


def measure_lists(lists: Log, log: Log, protocol: str) -> dict[str, Any]:
    """The figures of another system's lists, read as a log whose order is the rank, on a log's held-out part."""
    asked = split(log.events, protocol).test
    list_of = rows_of([log.users[user] for user in asked.users.tolist()], row_by_id(lists.users))
    if (list_of < 0).all():
        raise Mistake(
            f"no list is for a user who is asked under the protocol {protocol}: "
            f"the first list is for '{lists.users[0]}', the log's first user is '{log.users[0]}'"
        )
    longest = int(lists.events.lengths.max())
    cuts = tuple(cut for cut in metrics.CUTS if cut <= longest)
    if not cuts:
        raise Mistake(
            f"the longest list has {longest} items, and figures begin at {metrics.CUTS[0]}: give longer lists"
        )
    rows = rows_of(lists.items.ids, row_by_id(log.items.ids))
    ranks, with_seen = [], 0
    for start in range(0, len(asked), BLOCK):
        block = slice(start, start + BLOCK)
        shown = list_table(lists.events, list_of[block], rows)
        ranks.append(metrics.target_ranks(Rankings(shown), asked.targets[block]))
        with_seen += int(holds_seen(shown, asked.histories.slice(start, start + BLOCK)).sum())
    joined = np.concatenate(ranks)
    found: dict[str, Any] = {
        "protocol": protocol,
        "questions": len(asked),
        "item": metrics.summary(joined, cuts),
        "intervals": {"item": rank_intervals(joined, [cut for cut in INTERVAL_CUTS if cut in cuts])},
        "longest_list": longest,
        "not_measured": [cut for cut in metrics.CUTS if cut > longest],
        "shorter_lists": int((lists.events.lengths < longest).sum()),
        "users_without_list": int((list_of < 0).sum()),
        "lists_not_asked": len(lists.users) - len(np.unique(list_of[list_of >= 0])),
        "unknown_items": int((rows < 0).sum()),
        "lists_with_seen_items": with_seen,
    }
    return {**found, "notes": list(_said_of_lists(found))}


def _said_of_lists(found: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for everything about some lists that their figures depend on."""
    longest, cuts = found["longest_list"], ", ".join(map(str, found["not_measured"]))
    if cuts:
        yield f"The longest list has {longest} items, so nothing can be said at {cuts}."
    if found["shorter_lists"]:
        yield f"Lists of fewer than {longest} items: {found['shorter_lists']:,}; they count as they are."
    if found["users_without_list"]:
        yield f"Users who are asked and have no list, counted as misses: {found['users_without_list']:,}."
    if found["lists_not_asked"]:
        yield f"Lists of users who are not in the log or not asked, left out: {found['lists_not_asked']:,}."
    if found["unknown_items"]:
        yield f"Listed items that are not in the log, each a wrong answer: {found['unknown_items']:,}."
    if found["lists_with_seen_items"]:
        yield f"Lists with an item of the user's own past: {found['lists_with_seen_items']:,}; seen items were kept."
    else:
        yield "No list has an item of the user's own past: seen items were excluded."


def list_table(lists: Histories, list_of: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Lists side by side in a log's item rows, int32 [questions, longest]; -1 where there is no known item."""
    lengths = np.where(list_of >= 0, lists.lengths[list_of], 0)
    table = np.full((len(list_of), min(int(lists.lengths.max()), metrics.DEEPEST)), -1, np.int32)
    for place in range(table.shape[1]):
        longer = np.flatnonzero(lengths > place)
        table[longer, place] = rows[lists.items[lists.offsets[list_of[longer]] + place]]
    return table


def holds_seen(table: np.ndarray, histories: Histories) -> np.ndarray:
    """Whether each row of a table of items has one of its history, bool [questions]."""
    width = max(int(table.max(initial=0)), int(histories.items.max(initial=0))) + np.int64(1)
    seen = histories.row_of_each() * width + histories.items
    listed = np.where(table >= 0, np.arange(len(table))[:, None] * width + table, -1)
    return np.asarray(np.isin(listed, seen).any(axis=1))


def row_by_id(ids: Sequence[str]) -> dict[str, int]:
    return {one: row for row, one in enumerate(ids)}


def rows_of(ids: Sequence[str], row_of: Mapping[str, int]) -> np.ndarray:
    """The row of every id, int64; -1 where it has none."""
    return np.array([row_of.get(one, -1) for one in ids], np.int64)


def renumbered(histories: Histories, rows: np.ndarray) -> Histories:
    """Histories by other numbers of the items; an item whose number is -1 is left out."""
    items = rows[histories.items].astype(np.int32)
    kept = items >= 0
    lengths = np.bincount(histories.row_of_each()[kept], minlength=len(histories))
    return Histories(items[kept], np.concatenate([[0], np.cumsum(lengths)]))
