"""What was made elsewhere is measured as our own runs are, and every way in which it does not fit is said."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sprintrec import measuring
from sprintrec.errors import Mistake
from sprintrec.experiment import Workbench
from sprintrec.measuring import measure_lists, measure_model
from sprintrec.method import Run, find_method
from sprintrec.prepared import Prepared
from sprintrec.recipe import Recipe
from sprintrec.recommender import Recommender
from sprintrec.records import Events, Histories, Items, Log
from sprintrec.split import split

PAST = {"ann": "abc", "bob": "bcd", "cid": "cde", "dan": "dea"}  # the last letter is what is asked for
OTHERS = "vwxyz"


def log_of(rows: dict[str, str]) -> Log:
    """A log of letters; every letter of the alphabet is an item."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    walked = Histories.of([[letters.index(letter) for letter in row] for row in rows.values()])
    return Log(Events(walked.items, walked.offsets), Items(list(letters), [{}] * len(letters)), list(rows))


# ---- lists ---------------------------------------------------------------------------------------


def test_figures_worked_by_hand() -> None:
    """Ranks 1, 3, 6 and none."""
    lists = log_of({"ann": "cvwxyz", "bob": "vwdxyz", "cid": "vwxyze", "dan": "vwxyzb"})
    found = measure_lists(lists, log_of(PAST), "last-out")
    assert found["questions"] == 4
    assert found["item"] == {
        "recall@5": 2 / 4,
        "ndcg@5": (1 + 1 / math.log2(4)) / 4,
        "mrr@5": (1 + 1 / 3) / 4,
    }
    low, high = found["intervals"]["item"]["recall@5"]
    assert 0 <= low <= 0.5 <= high <= 1


def test_lists_and_log_may_number_users_and_items_differently() -> None:
    lists = log_of({"dan": "avwxy", "cid": "evwxy", "bob": "dvwxy", "ann": "cvwxy"})
    order = [5, 3, 1, 25, 24, 23, 22, 21, 4, 2, 0, *range(6, 21)]
    ids = [lists.items.ids[row] for row in order]
    items = np.argsort(order)[lists.events.items].astype(np.int32)
    shuffled = Log(Events(items, lists.events.offsets), Items(ids, [{}] * 26), lists.users)
    assert measure_lists(shuffled, log_of(PAST), "last-out")["item"]["mrr@5"] == 1.0


@pytest.mark.parametrize("block", [1, 3, 4096])
def test_blocks_change_nothing(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lists = log_of({"ann": "cvwxyz", "bob": "vwdxy", "dan": "vwxyab"})
    whole = measure_lists(lists, log_of(PAST), "last-out")
    monkeypatch.setattr(measuring, "BLOCK", block)
    assert measure_lists(lists, log_of(PAST), "last-out") == whole


def test_cuts_beyond_the_longest_list_are_not_measured() -> None:
    found = measure_lists(log_of({"ann": "cvwxyz", "bob": "dvwxy"}), log_of(PAST), "last-out")
    assert found["not_measured"] == [10, 20, 50, 100, 1000]
    assert found["shorter_lists"] == 1
    assert "The longest list has 6 items, so nothing can be said at 10, 20, 50, 100, 1000." in found["notes"]
    assert "Lists of fewer than 6 items: 1; they count as they are." in found["notes"]


def test_a_user_without_a_list_is_a_miss() -> None:
    found = measure_lists(log_of({"ann": "c" + OTHERS, "bob": "d" + OTHERS}), log_of(PAST), "last-out")
    assert found["item"]["recall@5"] == 2 / 4
    assert found["users_without_list"] == 2
    assert "Users who are asked and have no list, counted as misses: 2." in found["notes"]


def test_lists_of_others_are_left_out() -> None:
    """Eve is not in the log, fay is and has too few events to be asked."""
    rows = {user: f"{PAST[user][-1]}{OTHERS}" for user in PAST}
    found = measure_lists(log_of({"eve": "abcdef", **rows, "fay": "abcdef"}), log_of({**PAST, "fay": "ab"}), "last-out")
    assert found["item"]["recall@5"] == 1.0
    assert found["lists_not_asked"] == 2
    assert "Lists of users who are not in the log or not asked, left out: 2." in found["notes"]


def test_an_unknown_item_takes_its_place_and_is_wrong() -> None:
    lists = log_of({"ann": "vcwxy", "bob": "dvwxy", "cid": "evwxy", "dan": "avwxy"})
    ids = ["no such" if item == "v" else item for item in lists.items.ids]
    found = measure_lists(Log(lists.events, Items(ids, [{}] * 26), lists.users), log_of(PAST), "last-out")
    assert found["item"]["mrr@5"] == (1 / 2 + 3) / 4
    assert found["unknown_items"] == 1
    assert "Listed items that are not in the log, each a wrong answer: 1." in found["notes"]


@pytest.mark.parametrize(
    ("listed", "count", "said"), [("vwxyz", 0, "seen items were excluded"), ("vawxy", 1, "were kept")]
)
def test_whether_seen_items_were_kept_is_said(listed: str, count: int, said: str) -> None:
    found = measure_lists(log_of({"ann": listed, "bob": OTHERS}), log_of(PAST), "last-out")
    assert found["lists_with_seen_items"] == count
    assert said in found["notes"][-1]


def test_lists_of_nobody_are_a_mistake() -> None:
    with pytest.raises(
        Mistake, match=r"no list is for a user who is asked .* for 'eve', the log's first user is 'ann'"
    ):
        measure_lists(log_of({"eve": OTHERS}), log_of(PAST), "last-out")


def test_lists_too_short_for_any_figure_are_a_mistake() -> None:
    with pytest.raises(Mistake, match="the longest list has 4 items, and figures begin at 5"):
        measure_lists(log_of({"ann": "abcd"}), log_of(PAST), "last-out")


# ---- models --------------------------------------------------------------------------------------


@pytest.fixture
def model(tiny_prepared: Prepared) -> Recommender:
    bench = Workbench(tiny_prepared)
    recipe = Recipe("itemknn", "itemknn", find_method("itemknn").Settings(pairs="after"))
    return Recommender.of(bench, bench.run(recipe, Run()))


def test_the_log_of_the_model_gives_the_figures_of_the_model(model: Recommender, tiny_log: Log) -> None:
    found = measure_model(model.model, model.method, tiny_log, "last-out")
    for reading in ("item", "item_seen_kept"):
        assert found[reading] == model.metrics[reading]
        assert found["intervals"][reading] == model.metrics["intervals"][reading]
    assert found["code"] is None
    assert found["same_log"]
    assert found["notes"] == ["This is the log that the model was made from."]


def test_another_log_is_said_to_be_one(model: Recommender, tiny_log: Log) -> None:
    events = tiny_log.events
    assert events.times is not None
    later = Log(Events(events.items, events.offsets, events.times + 1), tiny_log.items, tiny_log.users)
    found = measure_model(model.model, model.method, later, "last-out")
    assert not found["same_log"]
    assert found["notes"] == [
        "This is not the log that the model was made from: it may have been trained on events that are asked here."
    ]


def test_the_order_of_the_items_is_the_models_own(model: Recommender, tiny_log: Log) -> None:
    backwards = Items(tiny_log.items.ids[::-1], tiny_log.items.fields[::-1])
    events = Events(29 - tiny_log.events.items, tiny_log.events.offsets, tiny_log.events.times)
    found = measure_model(model.model, model.method, Log(events, backwards, tiny_log.users), "last-out")
    assert found["item"] == model.metrics["item"]


def test_an_unknown_item_is_left_out_of_histories_and_a_miss_where_asked_for(model: Recommender, tiny_log: Log) -> None:
    targets = split(tiny_log.events, "last-out").test.targets
    lost = int(np.bincount(targets).argmax())
    ids = ["no such" if row == lost else item for row, item in enumerate(tiny_log.items.ids)]
    found = measure_model(
        model.model, model.method, Log(tiny_log.events, Items(ids, tiny_log.items.fields), tiny_log.users), "last-out"
    )
    missed = int((targets == lost).sum())
    assert (found["unknown_items"], found["unknown_targets"]) == (1, missed)
    assert found["item"]["recall@1000"] == 1 - missed / 40
    assert f"the {missed} questions that ask for one count as misses." in found["notes"][-1]


def test_another_protocol_asks_other_questions(model: Recommender, tiny_log: Log) -> None:
    found = measure_model(model.model, model.method, tiny_log, "time")
    assert found["protocol"] == "time"
    assert found["questions"] == len(split(tiny_log.events, "time").test) < 40
