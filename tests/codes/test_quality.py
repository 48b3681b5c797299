from __future__ import annotations

import json

import numpy as np
import pytest

from sprintrec.codes.quality import quality
from sprintrec.records import Codes

# Five items, two digits of four and two tokens; items 0, 2 and 3 share a code.
TABLE = Codes("made", np.array([[1, 0], [1, 1], [1, 0], [1, 0], [3, 1]]), (4, 2))


def test_a_table_worked_by_hand() -> None:
    report = quality(TABLE, titles=["a", "b", "c", "d", "e"])
    assert report["items"] == 5
    assert report["distinct"] == 3
    assert report["collision_rate"] == 0.6
    assert report["largest_bucket"] == {"items": 3, "code": [1, 0], "titles": ["a", "c", "d"]}
    assert report["dead_tokens"] == [2, 0]
    # shares 4/5, 1/5 and 3/5, 2/5
    assert report["entropy_bits"] == pytest.approx([0.721928, 0.970951], abs=1e-6)
    assert report["reconstruction_error"] is None
    assert "5 items have 3 distinct codes, 60.0% of them share theirs, up to 3 one code" in report["sentence"]
    assert "2 of 6 tokens are not used" in report["sentence"]
    json.dumps(report, allow_nan=False)


def test_reconstruction_error_by_hand() -> None:
    # Unit vectors on one axis each; tokens stand at half of them, so each point lies 0.5 off.
    tokenizer = {"levels": np.array([[[0.5, 0], [0, 0.5]]], np.float32)}
    vectors = np.array([[2, 0], [0, 3]], np.float32)
    report = quality(Codes("made", np.array([[0], [1]]), (2,), tokenizer), vectors)
    assert report["dimensions"] == 2
    # The mean of the points is (0.5, 0.5), from which both lie sqrt(0.5) off: 0.25 / 0.5.
    assert report["reconstruction_error"] == pytest.approx(0.5)
    assert "each of the 2 items has a code of its own" in report["sentence"]


def test_items_without_vector_are_counted() -> None:
    report = quality(TABLE, np.array([[1, 0], [0, 0], [0, 1], [0, 0], [1, 1]]))
    assert report["items_without_vector"] == 2
    assert "2 items have no vector" in report["sentence"]


def test_an_empty_catalogue_has_a_report() -> None:
    report = quality(Codes("made", np.zeros((0, 2), np.int32), (4, 4)))
    assert report["largest_bucket"]["items"] == 0
    json.dumps(report, allow_nan=False)


def test_fewer_tokens_than_asked_for_are_said() -> None:
    sentence = quality(Codes("opq2x256-unique", np.array([[0, 1], [1, 1]]), (8, 8)))["sentence"]
    assert "2 digits of 8 tokens (not 256: so few training items fill no more)" in sentence
