"""SPRINT's network against the paper's formulas written plainly, and what must not change its answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from sprintrec.blocks import key_bias
from sprintrec.network import Answer, CodeTable, NetworkSettings, SprintNetwork, text_profile
from sprintrec.records import Histories
from sprintrec.windows import question_windows

SIZES = (3, 5, 2)
CODES = torch.tensor([[0, 4, 1], [2, 0, 0], [2, 3, 1], [1, 1, 0], [0, 2, 1], [2, 4, 0], [1, 0, 1]])
SLOTS = 4
SMALL = NetworkSettings(width=8, inner=12, heads=2, encoder_layers=1, decoder_layers=2, history=SLOTS)
DECODER_ONLY = replace(SMALL, architecture="decoder-only")
FORMS = pytest.mark.parametrize("settings", [SMALL, DECODER_ONLY], ids=["encoder-decoder", "decoder-only"])


def table(dense: bool = False) -> CodeTable:
    return CodeTable(CODES, SIZES, dense).double()


def network(settings: NetworkSettings = SMALL, **more: Any) -> SprintNetwork:
    """In double precision, without dropout, its weights far from the tiny starting ones."""
    torch.manual_seed(0)
    made = SprintNetwork(SIZES, settings, **more).double().eval()
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return made


def asked(rows: list[list[int]], slots: int = SLOTS) -> tuple[Tensor, Tensor]:
    return question_windows(Histories.of(rows), slots, "cpu")


def answer(made: SprintNetwork, rows: list[list[int]], slots: int = SLOTS, **state: Tensor) -> Answer:
    return made(table(), *asked(rows, slots), **state)


def assert_same(one: Answer, other: Answer) -> None:
    torch.testing.assert_close(one.log_p_BLM.exp(), other.log_p_BLM.exp())
    torch.testing.assert_close(one.user_BD, other.user_BD)


# ---- the form of the paper -----------------------------------------------------------------------


def count(settings: NetworkSettings) -> int:
    return sum(p.numel() for p in SprintNetwork((256,) * 4, settings).parameters())


def test_the_papers_recipe_has_five_million_parameters() -> None:
    """4 digits of 256 tokens, width 256, inner 1024, 4 heads, 1 + 4 layers, 20 slots."""
    width, inner, digits = 256, 1024, 4
    tokens, queries, positions = digits * 256 * width, digits * width, 20 * width
    shared_mlp = (digits * width + 1) * width + (width + 1) * width
    self_attention = 3 * width * width + (width + 1) * width  # query, key, value without bias; output with
    feed_forward = (width + 1) * inner + (inner + 1) * width
    encoder = self_attention + feed_forward + 2 * width  # a norm before each part
    cross_attention = width * width + (width + 1) * width  # query and output: the memory is key and value itself
    decoder = encoder + cross_attention + width
    final_norms = 2 * width
    total = tokens + queries + positions + shared_mlp + encoder + 4 * decoder + final_norms
    assert total == 5_065_728
    assert count(NetworkSettings()) == total


def test_the_published_count_holds_projections_that_do_no_work() -> None:
    """5.59 M = 5.07 M + a key and value projection in each of 4 decoder layers, allocated and never used.

    It also fixes the reading of "MLP": with one more for the user or the codes it would be 5.92 M.
    """
    dead = 4 * 2 * 256 * 256
    assert dead == 4 * 131_072
    assert count(NetworkSettings(project_memory=True)) == count(NetworkSettings()) + dead == 5_590_016
    assert round((5_590_016 + 328_192) / 1e6, 2) == 5.92


def mlp_of_cat(made: SprintNetwork, parts: Tensor) -> Tensor:
    """MLP(Cat(parts)): two layers with ReLU between, over the last two dimensions."""
    return made.fuse_out(F.relu(made.fuse_in(parts.flatten(-2))))


def embedded(made: SprintNetwork) -> Tensor:
    """e_{c^1} .. e_{c^L} of every candidate, (C, L, D)."""
    return torch.stack(
        [torch.stack([made.tokens_LMD[digit, token] for digit, token in enumerate(code)]) for code in CODES]
    )


@pytest.mark.parametrize("dense", [False, True], ids=["gathered", "dense"])
def test_a_code_vector_is_the_mlp_of_its_tokens(dense: bool) -> None:
    made = network()
    expected = mlp_of_cat(made, embedded(made))
    rows = torch.tensor([[4, 0], [6, 4]])
    torch.testing.assert_close(made.code_vectors(table(dense)), expected)
    torch.testing.assert_close(made.code_vectors(table(dense), rows), expected[rows])


@FORMS
@pytest.mark.parametrize("rows", [[[5], [0, 3, 6]], [[1, 2, 3, 4, 5, 6]], [[2], [4, 4], [1, 5, 0], [6], [3]]])
def test_one_pass_equals_the_paper_written_plainly(settings: NetworkSettings, rows: list[list[int]]) -> None:
    """Also where fusing the catalogue once is cheaper than fusing every slot, and where it is not."""
    made, (rows_BT, known_BT) = network(settings), asked(rows)
    items_CD, bias = mlp_of_cat(made, embedded(made)), key_bias(known_BT)
    x = (items_CD[rows_BT] + made.positions_TD) * known_BT[..., None]
    h = made.queries_LD.expand(len(rows), -1, -1)
    if settings.architecture == "encoder-decoder":
        for block in made.encoder:
            x = block(x, bias)
        for block in made.decoder:
            h = block(h, torch.zeros(()), made.encoder_norm(x), bias)
    else:
        joint, bias = torch.cat([x, h], dim=1), key_bias(F.pad(known_BT, (0, len(SIZES)), value=True))
        for block in made.decoder:
            joint = block(joint, bias)
        h = joint[:, SLOTS:]
    h, found = made.decoder_norm(h), answer(made, rows)
    torch.testing.assert_close(found.user_BD, mlp_of_cat(made, h))
    for digit, size in enumerate(SIZES):
        expected = (h[:, digit] @ made.tokens_LMD[digit, :size].T).softmax(dim=-1)
        torch.testing.assert_close(found.log_p_BLM[:, digit, :size].exp(), expected)


def test_decoder_only_has_neither_encoder_nor_cross_attention() -> None:
    parts = {name.split(".")[0] for name, _ in network(DECODER_ONLY).named_parameters()}
    assert parts == {"tokens_LMD", "queries_LD", "positions_TD", "fuse_in", "fuse_out", "decoder", "decoder_norm"}
    assert not any("cross" in name for name, _ in network(DECODER_ONLY).named_parameters())


def test_tokens_a_digit_does_not_have_get_no_probability() -> None:
    p_BLM = answer(network(), [[0, 3, 6], []]).log_p_BLM.exp()
    for digit, size in enumerate(SIZES):
        assert not p_BLM[:, digit, size:].any()
        torch.testing.assert_close(p_BLM[:, digit].sum(dim=-1), torch.ones(2, dtype=torch.float64))


# ---- the table of codes --------------------------------------------------------------------------


def test_both_forms_of_the_table_agree_in_values_and_gradients() -> None:
    torch.manual_seed(1)
    tables_LMD = torch.randn(3, 5, 4, dtype=torch.float64, requires_grad=True)
    log_p_BLM = torch.randn(2, 3, 5, dtype=torch.float64, requires_grad=True)
    for sum_, given in ((CodeTable.sum_rows, tables_LMD), (CodeTable.score, log_p_BLM)):
        dense, gathered = (sum_(table(form), given) for form in (True, False))
        torch.testing.assert_close(dense, gathered)
        weights = torch.randn_like(dense)
        grads = [torch.autograd.grad((out * weights).sum(), given)[0] for out in (dense, gathered)]
        torch.testing.assert_close(*grads)


@pytest.mark.parametrize("dense", [False, True], ids=["gathered", "dense"])
def test_sums_over_digits_are_sums_over_digits(dense: bool) -> None:
    torch.manual_seed(1)
    log_p_BLM, tables_LMD = torch.randn(2, 3, 5).double(), torch.randn(3, 5, 4).double()
    scores, sums = table(dense).score(log_p_BLM), table(dense).sum_rows(tables_LMD)
    for c, code in enumerate(CODES.tolist()):
        torch.testing.assert_close(scores[:, c], sum(log_p_BLM[:, digit, token] for digit, token in enumerate(code)))
        torch.testing.assert_close(sums[c], sum(tables_LMD[digit, token] for digit, token in enumerate(code)))


# ---- padding and batches -------------------------------------------------------------------------


@FORMS
def test_more_padding_changes_nothing(settings: NetworkSettings) -> None:
    made, rows = network(settings), [[5], [0, 3]]
    assert_same(answer(made, rows), answer(made, rows, slots=2))


@FORMS
def test_what_lies_in_padded_slots_is_never_read(settings: NetworkSettings) -> None:
    made, (rows_BT, known_BT) = network(settings), asked([[5], [0, 3], []])
    assert_same(made(table(), rows_BT.masked_fill(~known_BT, 6), known_BT), made(table(), rows_BT, known_BT))


def test_unmasked_padding_is_seen_by_cross_attention() -> None:
    """The published form: every slot of padding draws some attention."""
    made = network(replace(SMALL, mask_memory=False))
    assert not torch.allclose(answer(made, [[0, 3]]).user_BD, answer(made, [[0, 3]], slots=2).user_BD)


@FORMS
def test_a_batch_is_answered_like_single_histories(settings: NetworkSettings) -> None:
    made, rows = network(settings), [[5], [0, 3, 6], [1, 2, 3, 4, 5], [4, 4]]
    together = answer(made, rows)
    for place, row in enumerate(rows):
        assert_same(Answer(together.log_p_BLM[[place]], together.user_BD[[place]]), answer(made, [row]))


@FORMS
def test_an_empty_history_has_finite_answers_and_gradients(settings: NetworkSettings) -> None:
    made = network(settings)
    found = answer(made, [[]])
    (found.user_BD.sum() + found.log_p_BLM.exp().square().sum()).backward()
    assert torch.isfinite(found.user_BD).all()
    assert all(torch.isfinite(p.grad).all() for p in made.parameters() if p.grad is not None)


def test_the_order_of_a_history_counts() -> None:
    made = network()
    assert not torch.allclose(answer(made, [[0, 3]]).user_BD, answer(made, [[3, 0]]).user_BD)


# ---- who learns from what ------------------------------------------------------------------------


@pytest.mark.parametrize("moves", [False, True])
def test_code_vectors_move_the_tokens_only_where_asked_to(moves: bool) -> None:
    made = network(replace(SMALL, learn_codes_by_vector=moves))
    made.code_vectors(table()).sum().backward()
    assert (made.tokens_LMD.grad is not None and bool(made.tokens_LMD.grad.any())) == moves
    for layer in (made.fuse_in, made.fuse_out):
        assert layer.weight.grad is not None
        assert layer.weight.grad.any()


def test_the_user_vector_moves_the_tokens_through_the_history() -> None:
    made = network()
    answer(made, [[0, 3, 6]]).user_BD.sum().backward()
    read = {(digit, token) for row in (0, 3, 6) for digit, token in enumerate(CODES[row].tolist())}
    moved = made.tokens_LMD.grad.any(dim=-1).nonzero().tolist()
    assert {tuple(place) for place in moved} == read


# ---- partly committed codes ----------------------------------------------------------------------


def committed(masked: list[bool], state: list[int]) -> dict[str, Tensor]:
    return {"state_BL": torch.tensor([state]), "masked_BL": torch.tensor([masked])}


@FORMS
def test_nothing_committed_is_the_all_mask_start(settings: NetworkSettings) -> None:
    made = network(settings)
    assert_same(answer(made, [[0, 3]], **committed([True] * 3, [2, 1, 1])), answer(made, [[0, 3]]))


@FORMS
def test_a_committed_digit_stands_in_for_its_mask(settings: NetworkSettings) -> None:
    made = network(settings)
    found = answer(made, [[0, 3]], **committed([True, False, True], [2, 4, 1]))
    with torch.no_grad():
        made.queries_LD[1] = made.tokens_LMD[1, 4]
    assert_same(found, answer(made, [[0, 3]]))


def test_a_committed_token_tells_about_the_other_digits() -> None:
    made = network()
    one, other = (answer(made, [[0, 3]], **committed([True, False, True], [0, token, 0])) for token in (1, 4))
    assert not torch.allclose(one.log_p_BLM[:, 0], other.log_p_BLM[:, 0])


def test_time_is_told_only_where_asked_to() -> None:
    late_B = torch.tensor([0.6], dtype=torch.float64)
    deaf, told = network(), network(replace(SMALL, time_embedding=True))
    assert_same(answer(deaf, [[0, 3]], r_B=late_B), answer(deaf, [[0, 3]]))
    assert_same(answer(told, [[0, 3]], r_B=0 * late_B), answer(told, [[0, 3]]))
    assert not torch.allclose(answer(told, [[0, 3]], r_B=late_B).user_BD, answer(told, [[0, 3]]).user_BD)


# ---- what an item has beside its code ------------------------------------------------------------


def test_items_bring_their_text_and_their_own_vector() -> None:
    texts_IV = torch.randn(len(CODES), 6, dtype=torch.float64)
    made = network(replace(SMALL, item_vectors=True), item_count=len(CODES), texts_IV=texts_IV)
    expected = mlp_of_cat(made, embedded(made)) + texts_IV @ made.text.weight.T + made.item_ID
    rows = torch.tensor([[4, 0], [6, 4]])
    torch.testing.assert_close(made.code_vectors(table()), expected)
    torch.testing.assert_close(made.code_vectors(table(), rows), expected[rows])


def test_an_item_never_trained_has_no_vector_of_its_own() -> None:
    made = SprintNetwork(SIZES, replace(SMALL, item_vectors=True), len(CODES))
    assert made.item_ID is not None
    assert not made.item_ID.any()


def test_some_items_lose_their_own_vector_in_a_training_step() -> None:
    made = network(replace(SMALL, item_vectors=True, item_dropout=0.5, dropout=0.0), item_count=len(CODES)).train()
    bare = mlp_of_cat(made, embedded(made))
    kept = [~torch.isclose(made.code_vectors(table()), bare).all(dim=-1) for _ in range(60)]
    share = torch.stack(kept).double().mean(dim=0)
    assert ((share > 0.2) & (share < 0.8)).all()


def test_a_text_profile_counts_older_items_less() -> None:
    """The three newest of [4, 0, 6, 2], at weights 1, 0.5 and 0.25 from the newest back; padding counts nothing."""
    texts_IV = torch.randn(len(CODES), 6, dtype=torch.float64)
    found = text_profile(texts_IV, *asked([[4, 0, 6, 2], [3]]), 0.5, 3)
    torch.testing.assert_close(found[0], texts_IV[2] + 0.5 * texts_IV[6] + 0.25 * texts_IV[0])
    torch.testing.assert_close(found[1], texts_IV[3])
