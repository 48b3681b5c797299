"""The registry of data sets: what every entry must hold, and that a log of another size is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sprintrec.datasets import Dataset, dataset_names, find_dataset
from sprintrec.errors import Mistake
from sprintrec.records import Events, Items, Log

TINY = Dataset(
    name="tiny",
    title="Tiny",
    users=1,
    items=2,
    events=3,
    address="https://example.org/",
    licence="none",
    find=lambda: Path("tiny.csv"),
    read=lambda path: Log(
        Events(np.array([0, 1, 0], np.int32), np.array([0, 3])), Items(["a", "b"], [{}, {}]), ["u"], [str(path)]
    ),
)


@pytest.mark.parametrize("name", dataset_names())
def test_every_data_set_says_where_it_is_from_and_under_which_terms(name: str) -> None:
    found = find_dataset(name)
    assert found.name == name
    assert found.address.startswith("https://")
    assert found.title
    assert found.licence
    assert min(found.users, found.items, found.events) > 0


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(Mistake, match="did you mean 'movielens-small'"):
        find_dataset("movielens_small")


def test_a_log_is_read_where_it_is_found_or_where_it_is_said_to_be() -> None:
    assert TINY.log().notes == ["tiny.csv"]
    assert TINY.log(Path("elsewhere.csv")).notes == ["elsewhere.csv"]


@pytest.mark.parametrize("kind", ["users", "items", "events"])
def test_a_log_of_another_size_is_refused_with_both_sizes(kind: str) -> None:
    with pytest.raises(Mistake, match=r"Tiny has .*9 .* but 1 users, 2 items, 3 events were read"):
        replace(TINY, **{kind: 9}).log()
