"""The model card says what a model is and how good, in Markdown, and nothing that is not so."""

from __future__ import annotations

from typing import Any

import pytest

from sprintrec.card import card

CONFIG = {
    "dataset": "beauty",
    "method": "sprint",
    "recipe": "default+width=64",
    "protocol": "last-out",
    "flags": {"ranks_cold_items": True},
    "parameters": 1_234_567,
    "codes": {"name": "opq4x256-unique", "items": 12_101, "distinct": 12_101},
    "texts": {"encoder": "minilm"},
    "data_hash": "0123456789abcdef",
    "counts": {"users": 22_363, "items": 12_101, "events": 198_502, "training_events": 153_776},
}
FIGURES = {f"{metric}@{cut}": 0.05 for metric in ("recall", "ndcg") for cut in (5, 10, 20)}
RANGES = {key: [0.04, 0.06] for key in FIGURES}
ROW = {
    "questions": {"test": 22_363},
    **dict.fromkeys(("item", "item_seen_kept", "code"), FIGURES),
    "intervals": dict.fromkeys(("item", "item_seen_kept", "code"), RANGES),
}


def test_it_says_what_the_model_is_and_was_made_from() -> None:
    text = card(CONFIG, ROW, 200)
    assert text.startswith("# beauty: sprint\n")
    for said in (
        "22,363 users, 12,101 items, 198,502 events",
        "trained on | 153,776",
        "1,234,567",
        "sprint, default+width=64",
        "opq4x256-unique, 12,101 distinct for 12,101 items",
        "minilm",
        "last-out: of every user the last event",
        "other users' later events are trained on",
        "0123456789abcdef",
        "Recommender.load(FOLDER)",
        "200 histories without user ids",
        "are ranked by their codes",
    ):
        assert said in text


def test_every_figure_has_its_interval() -> None:
    lines = [line for line in card(CONFIG, ROW, 0).splitlines() if line.startswith(("| recall", "| ndcg"))]
    assert len(lines) == 6
    assert all(line.count("0.0500 (0.0400 to 0.0600)") == 3 for line in lines)


def test_what_a_method_does_not_have_is_not_told() -> None:
    text = card({**CONFIG, "codes": None, "texts": None}, {**ROW, "code": None}, 0)
    assert "code" not in text.replace("no code from it", "").replace("ranked by their codes", "")
    assert "item vectors" not in text
    assert "no history is in it" in text


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"protocol": "time"}, "after the second is asked once"),
        ({"texts": {"encoder": None}}, "not from a text encoder"),
    ],
)
def test_other_models_are_described_as_they_are(changed: dict[str, Any], said: str) -> None:
    assert said in card({**CONFIG, **changed}, ROW, 0)


def test_tables_are_markdown() -> None:
    lines = card(CONFIG, ROW, 0).splitlines()
    for place, line in enumerate(lines):
        if set(line) == {"|", "-"}:
            assert lines[place - 1].count("|") == line.count("|") == lines[place + 1].count("|")
