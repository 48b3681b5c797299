"""The three readings, stopping scores and slices on lists whose right answers are worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from sprintrec import evaluation, metrics
from sprintrec.evaluation import beyond_accuracy, evaluate, first_questions, slices, stopping_score
from sprintrec.method import Method, Run, Scores, top_k
from sprintrec.metrics import ABSENT
from sprintrec.records import Codes, Events, HeldOut, Histories, Past, Rankings

# Items 0 and 1 share code A, 3 and 4 code C; 2 is B, 5 is D. Everybody is shown 3 0 4 1 5 2.
SHOWN = [3, 0, 4, 1, 5, 2]
CODES = Codes("letters", np.array([[0], [0], [1], [2], [2], [3]]), (4,))


class Fixed(Method):
    """Shows everybody the same order."""

    def __init__(self, order: list[int]) -> None:
        super().__init__(settings=())
        self.scores = -np.argsort(order).astype(np.float32)
        self.calls: list[int] = []

    def _fit(self, past: Past, validate: Callable[[Method], Scores] | None, run: Run) -> None: ...

    def _recommend(self, histories: Histories, k: int, exclude_seen: bool) -> Rankings:
        self.calls.append(len(histories))
        scores = np.tile(self.scores, (len(histories), 1))
        if exclude_seen:
            scores[histories.row_of_each(), histories.items] = -np.inf
        return top_k(scores, k, np.arange(len(self.scores)))

    def state(self) -> dict[str, np.ndarray]:
        return {}

    def restore(self, state: Mapping[str, np.ndarray], past: Past) -> None: ...


def questions(*asked: tuple[list[int], int]) -> HeldOut:
    histories = Histories.of([history for history, _ in asked])
    return HeldOut(histories, np.array([target for _, target in asked], np.int32), np.arange(len(asked)))


ASKED = questions(([3, 0], 1), ([5], 2), ([2], 2), ([1, 4], 3))


def test_three_readings_by_hand() -> None:
    """Target 1 after 3, 0: second of 4 1 5 2, fourth of all, and its code A second after C.

    Target 2 after 5: fifth of 3 0 4 1 2, sixth of all, code B last of four. Target 2 after itself: taken out
    of the first reading. Target 3: first everywhere.
    """
    measured = evaluate(Fixed(SHOWN), ASKED, CODES)
    assert measured.ranks["item"].tolist() == [2, 5, ABSENT, 1]
    assert measured.ranks["item_seen_kept"].tolist() == [4, 6, 6, 1]
    assert measured.ranks["code"].tolist() == [2, 4, 4, 1]
    assert all(ranks.dtype == np.uint16 for ranks in measured.ranks.values())
    assert measured.shown.items[0, :5].tolist() == [4, 1, 5, 2, -1]


def test_summaries_are_the_means_of_the_readings() -> None:
    summaries = evaluate(Fixed(SHOWN), ASKED, CODES).summaries((1, 5))
    item, code = summaries["item"], summaries["code"]
    assert item is not None
    assert code is not None
    assert item["recall@5"] == 3 / 4
    assert item["mrr@5"] == pytest.approx((1 / 2 + 1 / 5 + 0 + 1) / 4)
    assert item["ndcg@5"] == pytest.approx((1 / np.log2(3) + 1 / np.log2(6) + 0 + 1) / 4)
    assert (item["recall@1"], code["recall@5"]) == (1 / 4, 1.0)


def test_without_codes_there_is_no_code_reading() -> None:
    measured = evaluate(Fixed(SHOWN), ASKED)
    assert measured.ranks.keys() == {"item", "item_seen_kept"}
    assert measured.summaries()["code"] is None


def random_questions(count: int, items: int) -> HeldOut:
    random = np.random.default_rng(0)
    rows = [random.integers(0, items, random.integers(1, 6)).tolist() for _ in range(count)]
    return questions(*((row, int(random.integers(items))) for row in rows))


def test_with_a_code_per_item_the_code_reading_is_the_one_with_seen_items() -> None:
    codes = Codes("unique", np.random.default_rng(1).permutation(30)[:, None], (30,))
    measured = evaluate(Fixed(list(range(30))), random_questions(25, 30), codes)
    np.testing.assert_array_equal(measured.ranks["code"], measured.ranks["item_seen_kept"])


def test_blocks_of_questions_give_what_all_at_once_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, whole, blocked = random_questions(25, 6), Fixed(SHOWN), Fixed(SHOWN)
    at_once = evaluate(whole, asked, CODES)
    scores = [stopping_score(whole, asked, level, CODES) for level in ("item", "item_seen_kept", "code")]
    monkeypatch.setattr(evaluation, "BLOCK", 4)
    in_blocks = evaluate(blocked, asked, CODES)
    for level, ranks in at_once.ranks.items():
        np.testing.assert_array_equal(in_blocks.ranks[level], ranks)
    np.testing.assert_array_equal(in_blocks.shown.items, at_once.shown.items)
    assert max(blocked.calls) == 4
    assert scores == [stopping_score(blocked, asked, level, CODES) for level in ("item", "item_seen_kept", "code")]


def test_code_ranks_are_exact_however_many_items_share_a_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three distinct codes deep is six items deep where two codes have three items and two."""
    monkeypatch.setattr(metrics, "DEEPEST", 3)
    monkeypatch.setattr(metrics, "ABSENT", 4)
    codes = Codes("uneven", np.array([[0], [0], [0], [1], [1], [2], [3]]), (4,))
    asked = questions(*(([6], target) for target in range(7)))
    measured = evaluate(Fixed(list(range(7))), asked, codes)
    assert measured.ranks["code"].tolist() == [1, 1, 1, 2, 2, 3, 4]
    assert measured.ranks["item_seen_kept"].tolist() == [1, 2, 3, 4, 4, 4, 4]


@pytest.mark.parametrize("level", ["item", "item_seen_kept", "code"])
def test_the_stopping_score_is_that_of_the_full_measurement(level: str) -> None:
    """0.8 N@10 + 0.2 R@10 at the level a recipe stops on, from lists just deep enough for it."""
    order = list(np.random.default_rng(2).permutation(60))
    codes = Codes("uneven", np.repeat(np.arange(20), [1] * 10 + [5] * 10)[:, None], (20,))
    asked = random_questions(40, 60)
    summary = evaluate(Fixed(order), asked, codes).summaries((10,))[level]
    assert summary is not None
    found = stopping_score(Fixed(order), asked, level, codes)
    assert found["ndcg@10"] == pytest.approx(summary["ndcg@10"])
    assert found["recall@10"] == pytest.approx(summary["recall@10"])
    assert found["score"] == pytest.approx(0.8 * summary["ndcg@10"] + 0.2 * summary["recall@10"])


def test_the_code_level_needs_codes() -> None:
    with pytest.raises(ValueError, match="without codes"):
        stopping_score(Fixed(SHOWN), ASKED, "code")


def test_slices_by_hand() -> None:
    """Items 0 to 3 were trained on 0, 1, 6 and 30 times."""
    past = Past(Events(np.repeat([1, 2, 3], [1, 6, 30]), np.array([0, 37])), 4)
    asked = questions(([1], 0), ([1, 1], 1), ([1] * 3, 2), ([1] * 60, 3), ([2], 3))
    found = slices(np.array([1, 3, 20, 1, 20]), asked, past)
    half = 1 / np.log2(4)
    assert found == {
        "history length": {
            "1 to 2": {"questions": 3, "recall@10": pytest.approx(2 / 3), "ndcg@10": pytest.approx((1 + half) / 3)},
            "3 to 4": {"questions": 1, "recall@10": 0.0, "ndcg@10": 0.0},
            "50+": {"questions": 1, "recall@10": 1.0, "ndcg@10": 1.0},
        },
        "target's training events": {
            "0": {"questions": 1, "recall@10": 1.0, "ndcg@10": 1.0},
            "1 to 4": {"questions": 1, "recall@10": 1.0, "ndcg@10": half},
            "5 to 19": {"questions": 1, "recall@10": 0.0, "ndcg@10": 0.0},
            "20 to 99": {"questions": 2, "recall@10": 0.5, "ndcg@10": 0.5},
        },
    }


def test_what_lists_show_apart_from_hits() -> None:
    """Shown are 4 1 5 2, of which item 5 was trained on once; read were 3 and 0, trained on three times and once."""
    past, asked = Past(Events(np.array([3, 3, 3, 0, 5]), np.array([0, 5])), 6), questions(([3, 0], 1))
    measured = evaluate(Fixed(SHOWN), asked)
    found = beyond_accuracy(measured, asked, past, None)
    assert found == {
        "coverage@10": pytest.approx(4 / 6),
        "novelty@10": pytest.approx((3 * np.log2(11 / 1) + np.log2(11 / 2)) / 4),
        "popularity_lift@10": pytest.approx((1 / 4) / (4 / 2) - 1),
    }
    assert beyond_accuracy(measured, asked, past, np.eye(6))["intra_list_distance@10"] == pytest.approx(1.0)


def test_the_first_questions_are_the_first() -> None:
    few = first_questions(ASKED, 2)
    assert [few.histories.row(0).tolist(), few.histories.row(1).tolist()] == [[3, 0], [5]]
    assert few.targets.tolist() == [1, 2]
