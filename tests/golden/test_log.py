"""A log of nine rows, read by hand: what every array must hold."""

from __future__ import annotations

from pathlib import Path

from sprintrec.tables import ReadOptions, read_log

EVENTS = """userId;productId;createdAt;stars
zoe;007;2024-03-01T10:00:00Z;5
adam;7;2024-03-01T09:00:00Z;4
zoe;7;2024-02-29T23:59:59Z;3
zoe;new;2024-03-01T10:00:00Z;5
adam;007;2024-03-01T09:00:00Z;1
eve;7;2024-01-01T00:00:00Z;5
adam;7;2024-03-02T00:00:00Z;2
zoe;007;2024-03-01T10:00:00Z;5
eve;gone;2024-01-01T00:00:01Z;2
"""
ITEMS = '{"id": 7, "name": "Tea"}\n{"id": "old", "name": "Chess"}\n{"id": "007", "name": "Go"}\n'
DAY_ONE = 1_709_283_600  # 2024-03-01T09:00:00Z


def test_a_log_read_by_hand(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text(EVENTS)
    (tmp_path / "items.jsonl").write_text(ITEMS)
    log = read_log(tmp_path / "e.csv", tmp_path / "items.jsonl")
    assert log.users == ["zoe", "adam", "eve"]
    assert log.items.ids == ["7", "old", "007", "new", "gone"]
    assert log.items.fields == [{"title": "Tea"}, {"title": "Chess"}, {"title": "Go"}, {}, {}]
    assert log.events.offsets.tolist() == [0, 4, 7, 9]
    assert log.events.items.tolist() == [0, 2, 3, 2, 0, 2, 0, 0, 4]
    assert log.events.times is not None
    assert (log.events.times - DAY_ONE).tolist() == [-32_401, 3600, 3600, 3600, 0, 0, 54_000, -5_216_400, -5_216_399]
    assert log.events.targets is None
    assert log.notes == [
        "e.csv is read as csv.",
        "e.csv: user from 'userId', item from 'productId', time from 'createdAt', rating from 'stars', no event type.",
        "Events of every rating are kept (1 to 5 in the first rows); --min-rating leaves low ones out.",
        "items.jsonl: item from 'id'; fields title.",
        "Times are ISO 8601, as UTC where no zone is given: 2024-01-01T00:00:00Z to 2024-03-02T00:00:00Z.",
        "5 of 9 events (55.6%) share user and second with another; those with equal time stamps keep the order of "
        "the file.",
        "Rows that repeat another in user, item and second: 1; they are kept.",
        "Listed items without events, kept because their text can be ranked: 1 of 3.",
        "Items of the log that are not in the item list, kept without fields: 2.",
        "Items without text: 2 of 5.",
    ]


def test_the_same_log_thinned_by_hand(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text(EVENTS)
    # Rated 2 or better and before the second of March: zoe 7 007 new 007, adam 7, eve 7 gone; then the first of
    # every pair: zoe 7 007 new; then users with two events: zoe 7 007 new, eve 7 gone.
    options = ReadOptions(min_rating=2, until="2024-03-02", first_only=True, min_history=2)
    log = read_log(tmp_path / "e.csv", options=options)
    assert log.users == ["zoe", "eve"]
    assert log.items.ids == ["007", "7", "new", "gone"]
    assert log.events.items.tolist() == [1, 0, 2, 1, 3]
    assert log.events.offsets.tolist() == [0, 3, 5]
