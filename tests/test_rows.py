"""Rows on disk: what is written comes back, and what is no row is passed over."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sprintrec.errors import Mistake
from sprintrec.rows import read_curve, read_ranks, read_rows, row_path, write_row, write_trial

ROW = {
    "dataset": "beauty",
    "method": "ease",
    "recipe": "ease",
    "protocol": "last-out",
    "seed": 0,
    "item": {"ndcg@10": 0.1},
}
CURVE = [{"epoch": 0, "loss": 1.5}, {"epoch": 1, "loss": 1.25}]


def test_a_row_comes_back_with_its_ranks_and_curve(tmp_path: Path) -> None:
    path = write_row(tmp_path, ROW, {"item": np.array([1, 1001])}, CURVE)
    assert path == row_path(tmp_path, ROW) == tmp_path / "beauty" / "ease" / "ease.last-out.0.json"
    assert read_rows(tmp_path) == [ROW]
    assert read_ranks(tmp_path, ROW)["item"].tolist() == [1, 1001]
    assert read_curve(tmp_path, ROW) == CURVE
    assert not list(tmp_path.rglob("*.draft"))


def test_a_method_without_epochs_has_no_curve(tmp_path: Path) -> None:
    write_row(tmp_path, ROW, {"item": np.array([1])})
    assert read_curve(tmp_path, ROW) == []


def test_rows_are_found_by_what_they_say(tmp_path: Path) -> None:
    rows = [{**ROW, "seed": seed, "dataset": dataset} for dataset in ("[toys]", "beauty") for seed in (0, 1)]
    for row in rows:
        write_row(tmp_path, row, {"item": np.array([1])})
    assert read_rows(tmp_path) == rows
    assert read_rows(tmp_path, dataset="[toys]") == rows[:2]
    assert read_rows(tmp_path, seed=1, method="ease") == [rows[1], rows[3]]
    assert read_rows(tmp_path, method="popular") == []


def test_what_is_no_row_is_passed_over(tmp_path: Path) -> None:
    write_row(tmp_path, ROW, {"item": np.array([1])})
    write_trial(tmp_path, ROW)
    (tmp_path / "demo" / "model").mkdir(parents=True)
    (tmp_path / "demo" / "model" / "config.json").write_text(json.dumps({"method": "ease"}))
    (tmp_path / "demo" / "model" / "list.json").write_text("[]")
    assert read_rows(tmp_path) == [ROW]


def test_a_damaged_row_is_named(tmp_path: Path) -> None:
    write_row(tmp_path, ROW, {"item": np.array([1])}).write_text("{")
    with pytest.raises(Mistake, match=r"ease\.last-out\.0\.json is no result row"):
        read_rows(tmp_path)


def test_ranks_that_were_not_kept_are_named(tmp_path: Path) -> None:
    with pytest.raises(Mistake, match=r"ranks\.npz is missing"):
        read_ranks(tmp_path, ROW)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_no_number_is_refused_and_the_row_before_kept(tmp_path: Path, number: float) -> None:
    write_row(tmp_path, ROW, {"item": np.array([7])}, CURVE)
    with pytest.raises(ValueError, match="JSON compliant"):
        write_row(tmp_path, {**ROW, "item": {"ndcg@10": number}}, {"item": np.array([8])})
    assert read_rows(tmp_path) == [ROW]
    assert read_ranks(tmp_path, ROW)["item"].tolist() == [7]


def test_a_row_made_again_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    write_row(tmp_path, ROW, {"item": np.array([7])}, CURVE)
    again = {**ROW, "item": {"ndcg@10": 0.2}}
    write_row(tmp_path, again, {"item": np.array([8])}, CURVE[:1])
    assert read_rows(tmp_path) == [again]
    assert read_ranks(tmp_path, again)["item"].tolist() == [8]
    assert read_curve(tmp_path, again) == CURVE[:1]


def test_a_row_that_could_not_be_finished_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks and curve come first, so whoever finds a row finds all of it."""

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"):
        write_row(tmp_path, ROW, {"item": np.array([7])})
    assert read_rows(tmp_path) == []
