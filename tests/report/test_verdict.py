"""The verdict, sentence by sentence, on ranks whose answer is plain to see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sprintrec.metrics import ndcg
from sprintrec.report import Background, Board, SavedRow, Verdict, boards, paired_tests, verdict
from sprintrec.significance import holm, permutation_test

Made = Callable[..., SavedRow]
METRIC = "ndcg@10"


def judged(board: Board, level: str = "item") -> Verdict:
    return verdict(board, paired_tests(board, level, METRIC), level)


def firsts(count: int, users: int = 400) -> np.ndarray:
    """The first ``count`` users have their target at place 1, the others nowhere."""
    ranks = np.full(users, 500, np.uint16)
    ranks[:count] = 1
    return ranks


def test_one_method_is_no_contest(made: Made) -> None:
    said = judged(boards([made("sasrec", firsts(100))])[0])
    assert said.sentence == "sasrec reaches N@10 0.2500 per item."
    assert "400 users (95 % interval 0." in said.detail
    assert "a verdict takes a second method" in said.detail


def test_a_clear_winner(made: Made) -> None:
    said = judged(boards([made("popular", firsts(80)), made("sasrec", firsts(120))])[0])
    assert said.sentence == "sasrec is best per item."
    assert said.detail.startswith(
        "N@10 0.3000 against 0.2000 of popular, the best other, +50 %: a difference of 0.1000 (95 % interval 0.0"
    )
    assert "p < 0.001), over 400 users. One seed each" in said.detail


def test_a_lead_within_noise_is_none(made: Made) -> None:
    """Two users more: sign patterns at least as extreme are half of all."""
    said = judged(boards([made("popular", firsts(100)), made("sasrec", firsts(102))])[0])
    assert said.sentence == "No difference between sasrec and popular that these 400 users can show."
    assert said.detail.startswith(
        "N@10 0.2550 and 0.2500 per item: a difference of 0.0050 (95 % interval 0.0000 to 0.0"
    )
    assert "p = 0.5" in said.detail
    assert "that may be chance." in said.detail


def test_the_same_lists_are_equal(made: Made) -> None:
    said = judged(boards([made("a", firsts(100)), made("b", firsts(100))])[0])
    assert said.sentence == "No difference between a and b that these 400 users can show."
    assert "a difference of 0.0000 (95 % interval 0.0000 to 0.0000, p = 1.00)" in said.detail


def test_what_is_behind_is_named_beside_what_is_level(made: Made) -> None:
    runs = [made("a", firsts(102)), made("b", firsts(101)), made("c", firsts(20)), made("d", firsts(10))]
    said = judged(boards(runs)[0])
    assert said.sentence == "No difference between a and b that these 400 users can show."
    assert "a is ahead of c and d (p < 0.001)." in said.detail


def test_a_winner_needs_all_tests(made: Made) -> None:
    """Without one method's ranks nobody is best."""
    runs = [made("a", firsts(120)), made("b", firsts(20), keep_ranks=False), made("c", firsts(10))]
    said = judged(boards(runs)[0])
    assert said.sentence == "a has the highest N@10 per item."
    assert "a, 0.3000, against b, 0.0500" in said.detail
    assert "no paired test" in said.detail


def test_the_winners_own_ranks_are_needed(made: Made) -> None:
    runs = [made("a", firsts(120), keep_ranks=False), made("b", firsts(20))]
    board = boards(runs)[0]
    assert paired_tests(board, "item", METRIC) == []
    assert judged(board).sentence == "a has the highest N@10 per item."


def test_nothing_measured_at_a_level(made: Made) -> None:
    assert judged(boards([made()])[0], "code").sentence == "Nothing was measured per code."


def test_repeats_bring_the_other_level_first(made: Made) -> None:
    background = {("beauty", "last-out"): Background(repeat_share=0.2)}
    board = boards([made("a", firsts(120)), made("b", firsts(20))], background)[0]
    said = verdict(board, paired_tests(board, board.headline, METRIC))
    assert said.sentence == "a is best per item with seen items kept."


def test_seeds_are_averaged_per_user_before_testing(made: Made, hits: Any) -> None:
    a, b = [hits(120, seed) for seed in (0, 1)], hits(60, 2)
    board = boards([made("a", ranks, seed=seed) for seed, ranks in enumerate(a)] + [made("b", b)])[0]
    (test,) = paired_tests(board, "item", METRIC)
    mean = np.mean([ndcg(ranks, 10) for ranks in a], axis=0)
    assert test.comparison.difference.mean == pytest.approx(float((mean - ndcg(b, 10)).mean()))
    assert judged(board).detail.endswith("Means over 1/2 seeds.")


def test_p_is_corrected_over_all_tests_made(made: Made) -> None:
    ranks = {"a": firsts(108), "b": firsts(101), "c": firsts(100)}
    board = boards([made(name, each) for name, each in ranks.items()])[0]
    tests = paired_tests(board, "item", METRIC)
    plain = [permutation_test(ndcg(ranks["a"], 10), ndcg(ranks[other], 10)) for other in "bc"]
    assert [test.p for test in tests] == pytest.approx(holm(plain).tolist())
    assert [test.other.label for test in tests] == ["b", "c"]


def test_any_entry_can_be_the_reference(made: Made) -> None:
    board = boards([made("a", firsts(120)), made("b", firsts(20)), made("c", firsts(10))])[0]
    tests = paired_tests(board, "item", METRIC, board.entries[1])
    assert [(test.other.label, test.comparison.wins, test.comparison.losses) for test in tests] == [
        ("a", 0, 100),
        ("c", 10, 0),
    ]
