"""Rows put in order: what may stand side by side, under which name, and what seeds add up to."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sprintrec.errors import Mistake
from sprintrec.report import Background, SavedRow, boards, read_saved
from sprintrec.rows import write_row

Made = Callable[..., SavedRow]


def test_one_board_per_data_set_and_protocol(made: Made) -> None:
    runs = [made("popular"), made("popular", protocol="time"), made("ease"), made("ease", dataset="toys")]
    found = boards(runs)
    assert [(board.dataset, board.protocol, len(board.entries)) for board in found] == [
        ("beauty", "last-out", 2),
        ("beauty", "time", 1),
        ("toys", "last-out", 1),
    ]


def test_a_method_of_one_recipe_needs_no_recipe_in_its_name(made: Made) -> None:
    runs = [made("popular", recipe="default"), made("sprint", recipe="demo"), made("sprint", recipe="sprint+rho=0.5")]
    assert [entry.label for entry in boards(runs)[0].entries] == ["popular", "sprint (demo)", "sprint+rho=0.5"]


def test_seeds_of_a_recipe_are_one_entry(made: Made, hits: Callable[..., np.ndarray]) -> None:
    runs = [made("sprint", hits(count, seed), seed=seed) for seed, count in enumerate((80, 100, 120))]
    (entry,) = boards(runs[::-1])[0].entries
    assert [run.row["seed"] for run in entry.runs] == [0, 1, 2]
    found = entry.figure("item", "recall@10")
    assert found.mean == pytest.approx(0.25)
    assert found.deviation == pytest.approx(0.05)
    lows = [run.row["intervals"]["item"]["recall@10"][0] for run in runs]
    assert found.interval is not None
    assert found.interval[0] == pytest.approx(np.mean(lows))
    per_user = entry.per_user("item", "recall@10")
    assert per_user is not None
    assert per_user == pytest.approx(np.mean([run.ranks["item"] <= 10 for run in runs], axis=0))


def test_a_figure_without_an_interval(made: Made) -> None:
    (entry,) = boards([made()])[0].entries
    assert entry.figure("item", "recall@1000").interval is None
    assert entry.figure("item", "recall@10").deviation is None


def test_without_one_seeds_ranks_there_is_nothing_per_user(made: Made) -> None:
    (entry,) = boards([made(seed=0), made(seed=1, keep_ranks=False)])[0].entries
    assert entry.per_user("item", "ndcg@10") is None


def test_the_best_comes_first_and_only_what_was_measured(made: Made, hits: Any, code_table: dict[str, Any]) -> None:
    runs = [made("popular", hits(50)), made("sprint", hits(90), codes=code_table), made("ease", hits(50))]
    board = boards(runs)[0]
    assert [entry.label for entry in board.ranked("item", "recall@10")] == ["sprint", "ease", "popular"]
    assert [entry.label for entry in board.ranked("code")] == ["sprint"]


@pytest.mark.parametrize(("share", "level"), [(None, "item"), (0.01, "item"), (0.011, "item_seen_kept")])
def test_repeats_decide_which_level_comes_first(made: Made, share: float | None, level: str) -> None:
    background = {("beauty", "last-out"): Background(repeat_share=share)}
    assert boards([made()], background)[0].headline == level


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ({}, "recipe 'popular', seed 0, on beauty .last-out. is there twice"),
        ({"method": "ease", "data_hash": "another"}, "come from different logs .0123456789abcdef, another."),
    ],
)
def test_what_cannot_be_compared_is_refused(made: Made, other: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Mistake, match=sentence):
        boards([made(), made(**other)])


def test_seeds_on_different_code_tables_are_refused(made: Made, code_table: dict[str, Any]) -> None:
    runs = [made(codes=code_table), made(seed=1, codes={**code_table, "hash": "other"})]
    with pytest.raises(Mistake, match="recipe 'popular', come from different code tables"):
        boards(runs)


def test_no_rows_are_no_report() -> None:
    with pytest.raises(Mistake, match="no result rows"):
        boards([])


@pytest.mark.parametrize("place", ["", "beauty", "beauty/sprint"])
def test_rows_are_found_from_each_of_their_folders(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    run = made("sprint", epochs=2)
    write_row(tmp_path / "runs", run.row, run.ranks, run.curve)
    (tmp_path / "runs" / "demo" / "model").mkdir(parents=True)
    (tmp_path / "runs" / "demo" / "model" / "config.json").write_text("{}")
    (found,) = read_saved(tmp_path / "runs" / place)
    assert found.row == json.loads(json.dumps(run.row))
    assert found.curve == run.curve
    assert found.ranks["item"].tolist() == run.ranks["item"].tolist()
    monkeypatch.chdir(tmp_path / "runs" / place)
    assert len(read_saved(".")) == 1


def test_a_row_may_lack_its_ranks(made: Made, tmp_path: Path) -> None:
    run = made()
    write_row(tmp_path, run.row, run.ranks)
    next(tmp_path.rglob("*.ranks.npz")).unlink()
    (found,) = read_saved(tmp_path)
    assert (found.ranks, found.curve) == ({}, [])


def test_a_folder_without_rows_says_what_to_name(tmp_path: Path) -> None:
    with pytest.raises(Mistake, match="holds no result rows: name a folder"):
        read_saved(tmp_path / "nowhere")
