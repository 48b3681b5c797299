"""The encoder of item ids: what a state may depend on, and what padding must not change."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from sprintrec.encoder import Encoder, EncoderSettings
from sprintrec.records import Histories
from sprintrec.windows import question_windows

ITEMS, SLOTS = 9, 6
PLAIN = EncoderSettings(width=8, layers=2, heads=2, inner=2, dropout=0.3, history=SLOTS)
FILTERED = replace(PLAIN, filter_mix=0.7, filter_kept=2)
SHORT = [[3], [1, 4], [5, 0, 8, 2]]


def encoder(settings: EncoderSettings = PLAIN, text_width: int = 0) -> Encoder:
    torch.manual_seed(0)
    network = Encoder(ITEMS, settings, text_width).double().eval()
    for parameter in network.parameters():  # far from the tiny starting weights, so that a leak shows
        torch.nn.init.normal_(parameter, std=0.5)
    return network


def states(network: Encoder, rows: list[list[int]], slots: int = SLOTS) -> Tensor:
    items_BT, known_BT = question_windows(Histories.of(rows), slots, "cpu")
    return network(network.item_table(), items_BT, known_BT)


def test_a_later_item_changes_no_earlier_state() -> None:
    one, other = states(encoder(), [[3, 1, 4, 1, 5, 2]]), states(encoder(), [[3, 1, 4, 8, 0, 7]])
    torch.testing.assert_close(one[:, :3], other[:, :3], rtol=0, atol=0)
    assert not torch.isclose(one[:, 3:], other[:, 3:]).all(dim=-1).any()


def test_a_filter_sees_the_whole_window() -> None:
    """Why BSARec may learn from the last place alone."""
    one, other = states(encoder(FILTERED), [[3, 1, 4, 1, 5, 2]]), states(encoder(FILTERED), [[3, 1, 4, 8, 0, 7]])
    assert not torch.isclose(one[:, :3], other[:, :3]).all(dim=-1).any()


def test_more_padding_gives_the_same_states() -> None:
    """A narrower window keeps the newest positions, so what is known stands where it stood."""
    network = encoder()
    full, narrow = states(network, SHORT), states(network, SHORT, slots=4)
    for row, items in enumerate(SHORT):
        torch.testing.assert_close(full[row, -len(items) :], narrow[row, -len(items) :])


def test_items_in_padded_slots_are_never_read() -> None:
    network = encoder(FILTERED)
    items_BT, known_BT = question_windows(Histories.of(SHORT), SLOTS, "cpu")
    table_ID = network.item_table()
    noise_BT = torch.where(known_BT, items_BT, 7)
    torch.testing.assert_close(
        network(table_ID, noise_BT, known_BT), network(table_ID, items_BT, known_BT), rtol=0, atol=0
    )


def test_an_empty_history_has_finite_states_and_gradients() -> None:
    network = encoder(FILTERED)
    found = states(network, [[]])
    found.sum().backward()
    assert torch.isfinite(found).all()
    assert all(torch.isfinite(p.grad).all() for p in network.parameters() if p.grad is not None)


def test_the_newest_item_is_read_at_the_last_position() -> None:
    network = encoder()
    before = states(network, [[2]])[:, -1]
    with torch.no_grad():
        network.positions.weight[:-1] += 1.0
    torch.testing.assert_close(states(network, [[2]])[:, -1], before)
    with torch.no_grad():
        network.positions.weight[-1, 0] += 1.0
    assert not torch.allclose(states(network, [[2]])[:, -1], before)


def test_padding_is_a_zero_row_that_never_learns() -> None:
    network = encoder()
    table_ID = network.item_table()
    assert table_ID.shape == (ITEMS + 1, PLAIN.width)
    assert not table_ID[-1].any()
    table_ID.sum().backward()
    assert not network.items.weight.grad[-1].any()
    assert network.items.weight.grad[:-1].all()


def test_texts_are_added_to_items_but_not_to_padding() -> None:
    network, texts_IV = encoder(text_width=3), torch.randn(ITEMS, 3, dtype=torch.float64)
    assert network.text is not None
    expected = network.items.weight[:-1] + texts_IV @ network.text.weight.T
    torch.testing.assert_close(network.item_table(texts_IV)[:-1], expected)
    assert not network.item_table(texts_IV)[-1].any()


@pytest.mark.parametrize("settings", [PLAIN, FILTERED], ids=["plain", "filtered"])
def test_parameters_are_those_of_the_form(settings: EncoderSettings) -> None:
    width, inner = settings.width, settings.inner * settings.width
    attention = 4 * width**2 + width
    norms = 2 * 2 * width + (3 * width if settings.filter_mix else 0)
    block = attention + 2 * width * inner + inner + width + norms
    expected = (ITEMS + 1 + SLOTS) * width + 2 * width + settings.layers * block
    assert sum(p.numel() for p in encoder(settings).parameters()) == expected


@pytest.mark.parametrize("mix", [0.0, 0.7])
@pytest.mark.parametrize("newest", [1, 3])
def test_asking_for_the_newest_slots_alone_gives_the_same_states(mix: float, newest: int) -> None:
    torch.manual_seed(0)
    settings = EncoderSettings(width=8, layers=2, heads=2, history=7, filter_mix=mix)
    encoder = Encoder(9, settings).double().eval()
    items_BT = torch.randint(9, (5, 7))
    known_BT = torch.arange(7)[None, :] >= torch.tensor([0, 2, 5, 6, 7])[:, None]
    table_ID = encoder.item_table()
    states = encoder(table_ID, items_BT, known_BT)
    found = encoder(table_ID, items_BT, known_BT, newest=newest)
    torch.testing.assert_close(found, states[:, -newest:], rtol=1e-12, atol=1e-12)
