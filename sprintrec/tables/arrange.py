"""From events in file order to a log: sorted by user and time, thinned as the options say, renumbered.

Users come in the order of their first event in the file; items in the order of the item list, then those
that only the log has, in the order of their first event. Everything here is numpy over whole columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sprintrec.errors import Mistake
from sprintrec.records import Events, Items, Log
from sprintrec.tables.catalogue import Catalogue
from sprintrec.tables.intake import Intake
from sprintrec.tables.options import ReadOptions
from sprintrec.tables.summary import has_text, moment_of, tied


@dataclass(frozen=True)
class Ordered:
    """Events by user, then time, then place in the file."""

    users: np.ndarray  # int32 [events], in the order of users' first events
    items: np.ndarray  # int32 [events]
    ticks: np.ndarray | None
    targets: np.ndarray | None

    def only(self, keep: np.ndarray) -> Ordered:
        return replace(self, **{name: column[keep] for name, column in vars(self).items() if column is not None})


def arranged(intake: Intake, catalogue: Catalogue, options: ReadOptions, notes: Sequence[str]) -> Log:
    """The log of some events and an item list."""
    columns = intake.columns
    if len(columns["user"]) == 0:
        raise Mistake(f"no events are left: {' '.join(intake.notes)}")
    user_ids, columns["user"] = _by_first_event(columns.pop("user"), intake.user_ids.to_list())
    logged_ids, items = _by_first_event(columns.pop("item"), intake.item_ids.to_list())
    row_of = {item: row for row, item in enumerate(catalogue.ids)}
    listed = len(row_of)
    columns["item"] = np.array([row_of.setdefault(item, len(row_of)) for item in logged_ids], np.int32)[items]
    del items
    ordered = _ordered(columns)

    notes = [*notes, *intake.notes, *catalogue.notes]
    ordered, thinned = _thinned(ordered, options)
    notes += thinned
    if len(ordered.users) == 0:
        raise Mistake(f"no events are left: {' '.join(notes)}")

    used = np.bincount(ordered.items, minlength=len(row_of)) > 0
    in_catalogue = used if options.used_items_only else used | (np.arange(len(used)) < listed)
    kept_ids = [item for item, keep in zip(row_of, in_catalogue, strict=True) if keep]
    item_of = (np.cumsum(in_catalogue) - 1).astype(np.int32)
    nothing: dict[str, object] = {}
    fields = [catalogue.fields[row] if row < listed else nothing for row in np.flatnonzero(in_catalogue).tolist()]
    events, kept_users = _events(ordered, item_of, intake.plan.clock.per_second if intake.plan.clock else 1)
    log = Log(events, Items(kept_ids, fields), [user_ids[user] for user in kept_users])
    notes += [*_event_notes(intake, events), *_item_notes(log, used, listed, options)]
    return replace(log, notes=notes)


def _by_first_event(codes: np.ndarray, ids: list[str]) -> tuple[list[str], np.ndarray]:
    """Ids in the order in which they first occur, and every event's place among them."""
    places = np.arange(len(codes), dtype=np.uint32)
    first = np.full(len(ids), len(codes), np.uint32)
    first[codes[::-1]] = places[::-1]  # of equal codes the last assignment stays: the first event
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(ids), np.int32)
    rank[order] = np.arange(len(ids), dtype=np.int32)
    return [ids[code] for code in order], rank[codes]


def _ordered(columns: dict[str, np.ndarray]) -> Ordered:
    """The columns sorted, taken out of the dict one by one."""
    users, ticks = columns["user"], columns.get("ticks")
    chronological = ticks is None or bool((ticks[1:] >= ticks[:-1]).all())
    order = np.argsort(users, kind="stable") if chronological else np.lexsort((np.asarray(ticks), users))
    del users, ticks
    in_order = {name: columns.pop(name)[order] for name in list(columns)}
    return Ordered(in_order["user"], in_order["item"], in_order.get("ticks"), in_order.get("target"))


def _thinned(ordered: Ordered, options: ReadOptions) -> tuple[Ordered, list[str]]:
    """What the options leave, and a sentence for each that was used; each starts from what the last one left."""
    notes = []
    if options.first_only:
        before, ordered = len(ordered.users), ordered.only(_first_of_pair(ordered))
        notes.append(f"Events after a user's first one with an item, left out: {before - len(ordered.users):,}.")
    if options.drop_repeats:
        before, ordered = len(ordered.users), ordered.only(~_repeats_previous(ordered))
        notes.append(f"Events that repeat the one just before, left out: {before - len(ordered.users):,}.")
    if options.k_core:
        ordered = _core(ordered, options.core_of_users, options.core_of_items)
        left = f"{len(np.unique(ordered.users)):,} users, {len(np.unique(ordered.items)):,} items"
        least = f"at least {options.core_of_users} events per user and {options.core_of_items} per item"
        notes.append(f"The k-core ({least}) leaves {left} and {len(ordered.users):,} events.")
    if options.min_history:
        lengths = np.bincount(ordered.users)
        short = int(((lengths > 0) & (lengths < options.min_history)).sum())
        ordered = ordered.only(lengths[ordered.users] >= options.min_history)
        notes.append(f"Users with fewer than {options.min_history} events, left out: {short:,}.")
    return ordered, notes


def _first_of_pair(ordered: Ordered) -> np.ndarray:
    pairs = ordered.users.astype(np.int64) * (int(ordered.items.max()) + 1) + ordered.items
    first = np.zeros(len(pairs), bool)
    first[np.unique(pairs, return_index=True)[1]] = True
    return first


def _repeats_previous(ordered: Ordered) -> np.ndarray:
    repeats = np.zeros(len(ordered.users), bool)
    repeats[1:] = (ordered.users[1:] == ordered.users[:-1]) & (ordered.items[1:] == ordered.items[:-1])
    return repeats


def _core(ordered: Ordered, of_users: int, of_items: int) -> Ordered:
    """Leaving out users and items with too few events takes events from others: repeat until nothing changes."""
    while len(ordered.users):
        enough_user = np.bincount(ordered.users) >= of_users
        enough_item = np.bincount(ordered.items) >= of_items
        keep = enough_user[ordered.users] & enough_item[ordered.items]
        if keep.all():
            break
        ordered = ordered.only(keep)
    return ordered


def _events(ordered: Ordered, item_of: np.ndarray, per_second: int) -> tuple[Events, np.ndarray]:
    """The events grouped by user, and which users have any."""
    lengths = np.bincount(ordered.users)
    kept = np.flatnonzero(lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths[kept])])
    times = None if ordered.ticks is None else ordered.ticks // per_second
    return Events(item_of[ordered.items], offsets, times, ordered.targets), kept


def _event_notes(intake: Intake, events: Events) -> list[str]:
    clock = intake.plan.clock
    if clock is None or events.times is None:
        return ["No time stamps: the order of the rows is the order in time."]
    first, last = moment_of(int(events.times.min())), moment_of(int(events.times.max()))
    notes = [f"Times are {clock.unit}: {first} to {last}."]
    ties = tied(events)
    if ties.any():
        notes.append(
            f"{ties.sum():,} of {len(ties):,} events ({ties.mean():.1%}) share user and second with another; "
            "those with equal time stamps keep the order of the file."
        )
        duplicates = _duplicates(events, np.flatnonzero(ties))
        if duplicates:
            notes.append(f"Rows that repeat another in user, item and second: {duplicates:,}; they are kept.")
    return notes


def _duplicates(events: Events, among: np.ndarray) -> int:
    """How many of some events repeat an earlier one in user, item and time."""
    assert events.times is not None
    columns = np.stack([events.row_of_each()[among], events.times[among], events.items[among]])
    columns = columns[:, np.lexsort(columns)]
    return int((columns[:, 1:] == columns[:, :-1]).all(axis=0).sum())


def _item_notes(log: Log, used: np.ndarray, listed: int, options: ReadOptions) -> list[str]:
    if not listed:
        return ["No item list: items are known by their events alone."]
    notes = []
    unused, unlisted = int((~used[:listed]).sum()), int(used[listed:].sum())
    if unused and options.used_items_only:
        notes.append(f"Listed items without events, left out: {unused:,} of {listed:,}.")
    elif unused:
        notes.append(f"Listed items without events, kept because their text can be ranked: {unused:,} of {listed:,}.")
    if unlisted and unused == listed:
        of_log, of_list = log.items.ids[listed], log.items.ids[0]
        raise Mistake(
            f"no item of the log is in the item list: the log has '{of_log}', the list '{of_list}'; ids must be "
            "written alike (007 is not 7), or leave the item list out"
        )
    if unlisted:
        notes.append(f"Items of the log that are not in the item list, kept without fields: {unlisted:,}.")
    silent = sum(not has_text(fields) for fields in log.items.fields)
    if silent:
        notes.append(f"Items without text: {silent:,} of {len(log.items):,}.")
    return notes
