"""Rows under a bare recipe name are of the recipe as it stands; the others can be told, and are renamed whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sprintrec.recipe import find_recipe
from sprintrec.retire import main, outdated, retire
from sprintrec.rows import read_curve, read_ranks, read_rows, write_row
from sprintrec.settings import to_mapping

RESULTS = Path(__file__).parents[1] / "results"


def row(**changes: Any) -> dict[str, Any]:
    recipe = find_recipe("itemknn")
    plain = {
        "dataset": "tiny",
        "method": "itemknn",
        "recipe": "itemknn",
        "seed": 0,
        "protocol": "last-out",
        "codes": None,
        "settings": to_mapping(recipe.settings),
        "item": {"ndcg@10": 0.5},
    }
    return {**plain, **changes}


def test_every_committed_row_is_of_its_recipe() -> None:
    found = read_rows(RESULTS)
    assert found
    assert [(row["dataset"], row["recipe"]) for row in found if outdated(row)] == []


def test_what_makes_a_row_outdated() -> None:
    assert not outdated(row())
    assert outdated(row(settings={**row()["settings"], "history": 7}))
    assert outdated(row(codes={"name": "opq4x256"}))
    assert outdated(row(settings={**row()["settings"], "gone": 7}))
    without_a_later_one = {key: value for key, value in row()["settings"].items() if key != "recency"}
    assert not outdated(row(settings=without_a_later_one))
    assert outdated(row(recipe="itemknm"))
    assert not outdated(row(recipe="itemknn+history=7", settings={**row()["settings"], "history": 7}))
    assert outdated(row(recipe="itemknn+history=7", settings={**row()["settings"], "history": 8}))


def test_an_outdated_row_is_renamed_whole(tmp_path: Path) -> None:
    ranks, curve = {"item": np.array([1, 5], np.uint16)}, [{"epoch": 0}]
    write_row(tmp_path, row(), ranks, curve)
    write_row(tmp_path, row(seed=1, settings={**row()["settings"], "history": 7}), ranks, curve)
    assert len(list(retire(tmp_path))) == 1
    names = sorted(found["recipe"] for found in read_rows(tmp_path))
    assert names[0] == "itemknn"
    assert names[1].startswith("itemknn@")
    for found in read_rows(tmp_path):
        assert read_ranks(tmp_path, found)["item"].tolist() == [1, 5]
        assert read_curve(tmp_path, found) == curve
    assert list(retire(tmp_path)) == [], "a second time there is nothing to do"


def test_the_command(tmp_path: Path) -> None:
    assert main([]) == 2
    assert main([str(tmp_path)]) == 0
