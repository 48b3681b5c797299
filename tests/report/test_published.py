"""The table of published values: known figures, and that no figure is out of place."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sprintrec.report import SavedRow, boards
from sprintrec.report.board import LEVELS
from sprintrec.report.published import all_published, published
from sprintrec.report.words import METRIC_NAMES

EIGHT = {"sports", "beauty", "toys", "instruments", "scientific", "games", "arts", "yelp"}


def test_known_figures() -> None:
    found = {(one.dataset, one.method, one.level): one.values for one in all_published()}
    assert found["beauty", "SPRINT", "code"] == {
        "recall@5": 0.0675,
        "ndcg@5": 0.0451,
        "recall@10": 0.0987,
        "ndcg@10": 0.0552,
    }
    assert found["beauty", "SASRec", "item"]["ndcg@10"] == 0.0318
    assert found["arts", "SASRec", "item_seen_kept"]["recall@10"] == 0.0416
    assert found["beauty", "BSARec", "item"]["recall@10"] == 0.1008
    assert found["beauty", "BSARec", "item_seen_kept"]["ndcg@20"] == 0.0557


def test_the_paper_is_whole() -> None:
    """Fourteen methods on six sets and nine on the other two, each with four figures."""
    papers = [one for one in all_published() if one.source == "SPRINT paper"]
    assert {one.dataset for one in papers} == EIGHT
    assert sum(len(one.values) for one in papers) == (6 * 14 + 2 * 9) * 4
    assert len({(one.dataset, one.method) for one in papers}) == len(papers)


@pytest.mark.parametrize("one", all_published(), ids=lambda one: f"{one.dataset}-{one.method}-{one.level}")
def test_figures_are_possible(one: Callable[..., object]) -> None:
    assert one.level in LEVELS  # type: ignore[attr-defined]
    values = one.values  # type: ignore[attr-defined]
    assert values.keys() <= METRIC_NAMES.keys()
    assert all(0 < value < 0.2 for value in values.values())
    cuts = sorted({int(key.split("@")[1]) for key in values})
    for cut in cuts:
        assert values[f"ndcg@{cut}"] < values[f"recall@{cut}"]
    for name in ("recall", "ndcg"):
        assert [values[f"{name}@{cut}"] for cut in cuts] == sorted(values[f"{name}@{cut}"] for cut in cuts)


@pytest.mark.parametrize(("method", "count"), [("llada_rec", 1), ("sidmlp", 1), ("bsarec", 2), ("popular", 0)])
def test_methods_are_found_however_spelt(made: Callable[..., SavedRow], method: str, count: int) -> None:
    assert len(published(boards([made(method)])[0], method)) == count


def test_nothing_is_published_for_a_split_by_time(made: Callable[..., SavedRow]) -> None:
    assert published(boards([made("sasrec", protocol="time")])[0], "sasrec") == []
