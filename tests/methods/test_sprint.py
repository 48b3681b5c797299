"""SPRINT put together: what it trains on, and how levels become scores of items."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from sprintrec.flow import SCHEDULERS, partial_state, sample_times
from sprintrec.method import Run, popularity_order
from sprintrec.methods.sprint import Settings, Sprint, centred
from sprintrec.objective import dual_level_loss, id_level_loss
from sprintrec.records import Codes, Events, Histories, Past
from sprintrec.settings import changed
from sprintrec.windows import question_windows

ITEMS, SLOTS = 10, 5
TINY = {
    "network.width": 8,
    "network.inner": 8,
    "network.heads": 2,
    "network.decoder_layers": 1,
    "network.dropout": 0.0,
    "network.history": SLOTS,
    "tau": 0.2,
}
IDS = {"ids.layers": 1, "ids.width": 4, "ids.history": 3, "ids.dropout": 0.0}
ASKED = Histories.of([[4], [1, 0, 2], [7, 3, 8, 2, 6, 5, 1]])
# Items 2, 5 and 7 share a code, and so do 0 and 9.
TABLE = np.array([[1, 0], [0, 1], [2, 2], [0, 2], [1, 1], [2, 2], [0, 0], [2, 2], [2, 1], [1, 0]])


@pytest.fixture(scope="module")
def past() -> Past:
    random = np.random.default_rng(0)
    rows = [random.integers(0, ITEMS, random.integers(1, 9)) for _ in range(30)]
    histories = Histories.of(rows)
    vectors = random.normal(size=(ITEMS, 6)).astype(np.float32)
    return Past(Events(histories.items, histories.offsets), ITEMS, Codes("pairs", TABLE, (3, 3)), vectors)


def begun(past: Past, **changes: Any) -> Sprint:
    method = Sprint(changed(Settings(), {**TINY, **changes}))
    method.begin(past, Run(seed=1))
    torch.manual_seed(2)
    for parameter in method.network.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return method


def asked(method: Sprint, histories: Histories = ASKED) -> dict[str, Tensor]:
    method.network.eval()
    with torch.no_grad():
        return method.levels(histories)


# ---- candidates and levels -----------------------------------------------------------------------


def test_distinct_codes_are_the_candidates(past: Past) -> None:
    method = begun(past)
    assert len(method.table) == 7
    assert method.table.codes_CL[method.candidate_of_item].tolist() == TABLE.tolist()


OF_THEIR_OWN = {
    "ids": IDS,
    "texts": {"score.texts": 1.0},
    "text beside the code": {"item_texts": True},
    "vector beside the code": {"item_vectors": True},
    "transitions": {"score.transitions": 1.0},
}


@pytest.mark.parametrize("changes", OF_THEIR_OWN.values(), ids=OF_THEIR_OWN)
def test_items_that_have_more_than_a_code_are_candidates_themselves(past: Past, changes: dict[str, Any]) -> None:
    method = begun(past, **changes)
    assert method.table.codes_CL.tolist() == TABLE.tolist()
    assert all(level.shape == (len(ASKED), ITEMS) for level in asked(method).values())


LEVELS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "both": ({}, {"tokens", "vectors"}),
    "token level": ({"sid_level": False}, {"tokens"}),
    "SID level": ({"token_level": False}, {"vectors"}),
    "plain cross-entropy": ({"contrast": False}, {"tokens"}),
    "with ids": (IDS, {"tokens", "vectors", "ids"}),
    "with texts": ({"score.texts": 2.0}, {"tokens", "vectors", "texts"}),
}


@pytest.mark.parametrize(("changes", "names"), LEVELS.values(), ids=LEVELS)
def test_what_was_trained_is_what_is_scored(past: Past, changes: dict[str, Any], names: set[str]) -> None:
    assert asked(begun(past, **changes)).keys() == names


def test_levels_are_token_sums_and_cosines_over_tau(past: Past) -> None:
    method = begun(past, **IDS)
    found, codes, ids = asked(method), method.network.codes, method.network.ids
    assert ids is not None
    items_BT, known_BT = question_windows(ASKED, SLOTS, "cpu")
    with torch.no_grad():
        answer = codes(method.table, method.candidate_of_item[items_BT], known_BT)
        vectors = codes.code_vectors(method.table)
        states = ids(ids.item_table(), items_BT[:, -3:], known_BT[:, -3:])[:, -1]
    for b in range(len(ASKED)):
        for item, code in enumerate(TABLE):
            tokens = sum(answer.log_p_BLM[b, digit, token] for digit, token in enumerate(code))
            cosine = torch.cosine_similarity(answer.user_BD[b], vectors[item], dim=0)
            assert float(found["tokens"][b, item]) == pytest.approx(float(tokens), rel=1e-5)
            assert float(found["vectors"][b, item]) == pytest.approx(float(cosine) / 0.2, rel=1e-4)
            assert float(found["ids"][b, item]) == pytest.approx(
                float(states[b] @ ids.items.weight[item].detach()), rel=1e-4
            )


def test_texts_are_compared_with_the_newest_ones_read(past: Past) -> None:
    found = asked(begun(past, **{"score.texts": 1.0, "texts.decay": 0.5, "texts.newest": 2}))["texts"]
    texts = torch.from_numpy(centred(past.vectors))
    profile = texts[0] * 0.5 + texts[2]  # the second history ends with items 0 and 2
    torch.testing.assert_close(found[1], torch.cosine_similarity(profile[None], texts))


@pytest.mark.parametrize("form", ["log", "softmax"])
def test_an_item_gets_the_score_of_its_code(past: Past, form: str) -> None:
    method = begun(past, form=form)
    levels = asked(method)
    with torch.no_grad():
        scores = method.item_scores(ASKED)
    if form == "softmax":
        levels = {name: level.softmax(dim=-1) for name, level in levels.items()}
    torch.testing.assert_close(scores, sum(levels.values())[:, method.candidate_of_item])


def test_items_of_one_code_stand_in_order_of_popularity(past: Past) -> None:
    lists = begun(past).recommend(ASKED, ITEMS, exclude_seen=False).items
    place = popularity_order(past.popularity())
    for row in lists:
        for shared in ([2, 5, 7], [0, 9]):
            found = [item for item in row if item in shared]
            assert found == sorted(shared, key=lambda item: place[item])
            first = list(row).index(found[0])
            assert list(row[first : first + len(shared)]) == found


def test_vectors_are_centred_and_what_has_none_stays_without() -> None:
    found = centred(np.array([[3.0, 1.0], [0.0, 0.0], [1.0, 1.0], [2.0, -2.0]]))
    np.testing.assert_allclose(found[1], [0.0, 0.0])
    np.testing.assert_allclose(np.linalg.norm(found[[0, 2, 3]], axis=1), 1.0, rtol=1e-6)
    np.testing.assert_allclose(found[0], np.array([1.0, 1.0]) / np.sqrt(2), rtol=1e-6)  # the mean is (2, 0)


# ---- the loss of a batch -------------------------------------------------------------------------


def samples(past: Past, first_events: bool) -> list[tuple[list[int], int]]:
    rows = [past.events.row(user).tolist() for user in range(len(past.events))]
    return [(row[:place], row[place]) for row in rows for place in range(0 if first_events else 1, len(row))]


TRAINED: dict[str, dict[str, Any]] = {
    "the paper's": {},
    "partly committed codes": {"rho": 0.3, "time_embedding": True},
    "first events too": {"objective.first_events": True},
    "decoder-only": {"architecture": "decoder-only", "rho": 0.3},
    "padding seen": {"mask_memory": False, "rho": 0.3},
    "one level, smoothed": {"token_level": False, "smoothing": 0.2},
    "plain cross-entropy": {"contrast": False, "rho": 0.3},
    "with ids": {**IDS, "id_weight": 0.5, "objective.first_events": True},
    "with texts beside": {"item_texts": True},
}


@pytest.mark.parametrize("changes", TRAINED.values(), ids=TRAINED)
def test_a_batch_costs_what_its_samples_cost_in_whole_windows(past: Past, changes: dict[str, Any]) -> None:
    """Loss and gradients of all prefixes, computed in pieces of like length, against one plain pass."""
    method = begun(past, **changes)
    objective, codes, ids = method.settings.objective, method.network.codes, method.network.ids
    count, loss = method._task(past)
    prefixes = samples(past, objective.first_events)
    assert count == len(prefixes)
    torch.manual_seed(3)
    found, weight = loss(torch.arange(count))
    assert weight == count

    torch.manual_seed(3)
    histories, items = Histories.of([prefix for prefix, _ in prefixes]), torch.tensor([item for _, item in prefixes])
    target_B, items_BT, known_BT = method.candidate_of_item[items], *question_windows(histories, SLOTS, "cpu")
    state_BL = masked_BL = r_B = None
    if objective.rho < 1:
        r_B, _ = sample_times(count, objective.rho, torch.default_generator)
        targets_BL = method.table.codes_CL[target_B]
        state_BL, masked_BL = partial_state(targets_BL, r_B, SCHEDULERS["linear"], 0, torch.default_generator)
    answer = codes(method.table, method.candidate_of_item[items_BT], known_BT, state_BL, masked_BL, r_B)
    expected = dual_level_loss(answer, codes.code_vectors(method.table), method.table, target_B, objective, masked_BL)
    if ids is not None:
        state_BD = ids(ids.item_table(), items_BT[:, -3:], known_BT[:, -3:])[:, -1]
        expected = expected + id_level_loss(state_BD, ids.items.weight[:-1], items, objective)

    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    parameters = list(method.network.parameters())
    gradients = [torch.autograd.grad(part, parameters, allow_unused=True) for part in (found, expected)]
    for one, other in zip(*gradients, strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)


def test_an_item_beyond_the_training_part_is_ranked_by_its_code(past: Past) -> None:
    """Item 8 is never trained on; its code and its text still say where it stands."""
    rows = [row[row != 8] for row in (past.events.row(user) for user in range(len(past.events)))]
    histories = Histories.of(rows)
    method = begun(replace(past, events=Events(histories.items, histories.offsets)))
    places = method.recommend(ASKED, ITEMS, exclude_seen=False).items == 8
    assert places.any(axis=1).all()
    assert not places[:, -1].all()
