"""The records refuse what contradicts itself and answer small questions about themselves."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sprintrec.records import Codes, Events, Histories, Items, Past, content_hash

ragged = st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=6)


@given(ragged)
def test_histories_give_their_rows_back(rows: list[list[int]]) -> None:
    histories = Histories.of(rows)
    assert len(histories) == len(rows)
    assert [list(histories.row(index)) for index in range(len(rows))] == rows
    assert list(histories.lengths) == [len(row) for row in rows]
    assert list(histories.row_of_each()) == [index for index, row in enumerate(rows) for _ in row]


@given(ragged, st.integers(0, 6), st.integers(0, 8))
def test_a_slice_is_the_slice_of_the_rows(rows: list[list[int]], start: int, stop: int) -> None:
    start = min(start, len(rows))
    stop = max(start, stop)
    part = Histories.of(rows).slice(start, stop)
    assert [list(part.row(index)) for index in range(len(part))] == rows[start:stop]


def test_a_slice_shares_memory() -> None:
    histories = Histories.of([[1, 2], [3]])
    assert np.shares_memory(histories.slice(1, 2).items, histories.items)


@pytest.mark.parametrize("offsets", [[], [1, 3], [0, 2], [0, 4]])
def test_offsets_must_span_the_items(offsets: list[int]) -> None:
    with pytest.raises(ValueError, match="offsets must begin with 0"):
        Histories(np.arange(3), np.array(offsets, np.int64))


def test_records_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Histories.of([[1]]).items = np.zeros(1)


def test_every_event_may_be_asked_for_unless_said() -> None:
    items, offsets = np.array([4, 5], np.int32), np.array([0, 2])
    assert Events(items, offsets).may_be_target().tolist() == [True, True]
    assert Events(items, offsets, None, np.array([False, True])).may_be_target().tolist() == [False, True]


def test_items_need_fields_each() -> None:
    assert len(Items(["007", "7"], [{"title": "Bond"}, {}])) == 2
    with pytest.raises(ValueError, match="2 item ids but fields of 1 items"):
        Items(["007", "7"], [{}])


@pytest.mark.parametrize(
    ("table", "sizes", "reason"),
    [
        ([[0, 1]], (2,), "shape"),
        ([0, 1], (2,), "shape"),
        ([[0, 2]], (2, 2), "outside"),
        ([[-1, 0]], (2, 2), "outside"),
    ],
)
def test_a_code_table_must_fit_its_sizes(table: list[list[int]], sizes: tuple[int, ...], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Codes("opq", np.array(table), sizes)


def test_distinct_codes_are_in_lexical_order_with_each_items_row() -> None:
    codes = Codes("opq", np.array([[1, 0], [0, 1], [1, 0]]), (2, 2))
    distinct, row = codes.distinct()
    assert distinct.tolist() == [[0, 1], [1, 0]]
    assert row.tolist() == [1, 0, 1]


def test_the_hash_of_codes_is_of_the_tokens_alone() -> None:
    table = np.array([[1, 0], [0, 1]])
    same = Codes("rqvae", np.asfortranarray(table.astype(np.uint8)), (4, 4), {"centroids": np.ones(3)})
    assert Codes("opq", table, (2, 2)).hash == same.hash
    assert Codes("opq", table[::-1], (2, 2)).hash != same.hash


def test_popularity_counts_items_that_never_occur_too() -> None:
    past = Past(Events(np.array([2, 0, 2], np.int32), np.array([0, 3])), item_count=4)
    assert past.popularity().tolist() == [1, 0, 2, 0]


def test_a_content_hash_tells_types_shapes_and_borders_apart() -> None:
    numbers = np.arange(6, dtype=np.int32)
    hashes = {
        content_hash(numbers),
        content_hash(numbers.astype(np.int64)),
        content_hash(numbers.reshape(2, 3)),
        content_hash(numbers, numbers),
        content_hash("ab", "c"),
        content_hash("a", "bc"),
        content_hash("abc"),
    }
    assert len(hashes) == 7
    assert all(len(digest) == 16 for digest in hashes)
    assert content_hash(numbers.reshape(2, 3).T) == content_hash(np.ascontiguousarray(numbers.reshape(2, 3).T))
    assert content_hash("é") == content_hash("é".encode())
