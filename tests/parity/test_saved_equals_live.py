"""What was saved and loaded answers as what was fitted, to the last bit: for every method there is."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sprintrec.experiment import Workbench
from sprintrec.method import Run, find_method, method_names
from sprintrec.model_folder import read_model
from sprintrec.prepared import Prepared
from sprintrec.recipe import Recipe
from sprintrec.recommender import Recommender
from sprintrec.records import Histories
from sprintrec.settings import changed

SMALL = tomllib.loads((Path(__file__).parents[1] / "contract" / "tiny.toml").read_text(encoding="utf-8"))
EVENTS = 359  # of the tiny log
ODD = [[], [29], [5, 5, 6, 5], list(range(28)), list(range(30))]


EVERY_PATH = {"ids.layers": 1, "ids.width": 16, "ids.heads": 1, "network.item_texts": True, "score.texts": 1.0}


def recipe_of(name: str, changes: Mapping[str, Any]) -> Recipe:
    """A method with the contract tests' settings and, where it trains, two epochs: enough to move every weight."""
    method = find_method(name)
    settings = changed(method.Settings(), {**SMALL.get(name, {}), **changes})
    settings = changed(settings, {"training.epochs": 2}) if method.trained_by_gradient else settings
    return Recipe(name, name, settings, "tiny" if method.uses_codes else None)


@pytest.fixture(params=[*((name, {}) for name in method_names()), ("sprint", EVERY_PATH)], ids=str)
def live(request: pytest.FixtureRequest, tiny_prepared: Prepared) -> Recommender:
    bench = Workbench(tiny_prepared)
    return Recommender.of(bench, bench.run(recipe_of(*request.param), Run()))


def test_saved_equals_live(live: Recommender, tiny_prepared: Prepared, tmp_path: Path) -> None:
    live.save(tmp_path / "model")
    saved = Recommender.load(tmp_path / "model")
    asked = tiny_prepared.split().test.histories
    histories = Histories.of([asked.row(row) for row in range(len(asked))] + ODD)
    for exclude_seen in (True, False):
        before, after = (one.method.recommend(histories, 30, exclude_seen) for one in (live, saved))
        np.testing.assert_array_equal(after.items, before.items)
        np.testing.assert_array_equal(after.scores, before.scores)


def test_a_loaded_model_can_be_saved_again(live: Recommender, tmp_path: Path) -> None:
    first = live.save(tmp_path / "first")
    assert Recommender.load(tmp_path / "first").save(tmp_path / "second") == first


def test_the_folder_says_what_is_in_it(live: Recommender, tmp_path: Path) -> None:
    live.save(tmp_path / "model")
    found, method = read_model(tmp_path / "model"), live.method
    assert (found.config["method"], found.config["protocol"]) == (method.name(), "last-out")
    assert found.config["flags"]["uses_codes"] == method.uses_codes == (found.codes is not None)
    assert found.config["flags"]["uses_vectors"] == method.uses_vectors == (found.vectors is not None)
    assert found.config["counts"] == {"users": 40, "items": 30, "events": EVENTS, "training_events": EVENTS - 2 * 40}
    assert found.metrics["item"] == live.metrics["item"]
