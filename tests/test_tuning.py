"""The search for settings: reproducible, resumable, poor trials given up, and its best recipe can be read again."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from sprintrec.errors import Mistake
from sprintrec.experiment import Workbench
from sprintrec.method import Run
from sprintrec.prepared import Prepared
from sprintrec.recipe import find_recipe
from sprintrec.tuning import Search, Trial, as_toml, drawn, space_of

SPACE = {"history": [1, 5, 20], "shrinkage": {"low": 0.1, "high": 100.0, "log": True}}


def search_in(prepared: Prepared, out: Path, seed: int = 0) -> Search:
    return Search(Workbench(prepared), find_recipe("itemknn"), SPACE, out, Run(seed=seed))


def test_first_trial_is_the_recipe_as_it_stands(tiny_prepared: Prepared, tmp_path: Path) -> None:
    search = search_in(tiny_prepared, tmp_path)
    search.go(3)
    assert [bool(trial.changes) for trial in search.trials] == [False, True, True]
    assert all(set(trial.changes) == set(SPACE) for trial in search.trials[1:])
    assert search.best().score == max(trial.score for trial in search.trials)


def test_same_seed_tries_the_same_and_another_does_not(tiny_prepared: Prepared, tmp_path: Path) -> None:
    tried = []
    for place, seed in (("a", 0), ("b", 0), ("c", 1)):
        search = search_in(tiny_prepared, tmp_path / place, seed)
        search.go(4)
        tried.append([(trial.changes, trial.scores) for trial in search.trials])
    assert tried[0] == tried[1] != tried[2]


def test_a_stopped_search_goes_on(tiny_prepared: Prepared, tmp_path: Path) -> None:
    whole, parts = search_in(tiny_prepared, tmp_path / "whole"), tmp_path / "parts"
    whole.go(5)
    search_in(tiny_prepared, parts).go(2)
    resumed = search_in(tiny_prepared, parts)
    assert len(resumed.trials) == 2
    resumed.go(5)
    assert [trial.changes for trial in resumed.trials] == [trial.changes for trial in whole.trials]
    lines = (parts / "trials" / f"{tiny_prepared.name}-itemknn.jsonl").read_text().splitlines()
    assert [json.loads(line)["trial"] for line in lines] == [0, 1, 2, 3, 4]


def test_poor_trials_are_given_up_by_the_median(tiny_prepared: Prepared, tmp_path: Path) -> None:
    search = search_in(tiny_prepared, tmp_path)
    search.trials = [Trial(number, {}, (0.1, 0.2, score)) for number, score in enumerate((0.3, 0.4, 0.5))]
    assert search._is_poor([0.1, 0.2, 0.39])
    assert not search._is_poor([0.1, 0.2, 0.41])
    assert not search._is_poor([0.0]), "one epoch is too early"
    search.trials = search.trials[:2]
    assert not search._is_poor([0.0, 0.0, 0.0]), "two trials are too few"


def test_given_up_trials_train_no_further(tiny_prepared: Prepared, tmp_path: Path) -> None:
    changes = {"epochs": 6, "encoder.width": 8, "encoder.layers": 1, "encoder.history": 5}
    search = Search(Workbench(tiny_prepared), find_recipe("sasrec", changes), {"smoothing": [0.0]}, tmp_path, Run())
    search.trials = [Trial(number, {}, (2.0,) * 6) for number in range(3)]
    search.go(4)
    assert search.trials[3].given_up
    assert len(search.trials[3].scores) == 2


def test_the_best_recipe_reads_back(tiny_prepared: Prepared, tmp_path: Path) -> None:
    search = search_in(tiny_prepared, tmp_path)
    search.go(4)
    file = tmp_path / "tuned.toml"
    for recipe in (search.best_recipe(), find_recipe("default"), find_recipe("bsarec")):
        file.write_text(as_toml(recipe))
        again = find_recipe(str(file))
        assert (again.method, again.settings, again.codes) == (recipe.method, recipe.settings, recipe.codes)


@pytest.mark.parametrize("method", ["sprint", "sasrec", "bsarec", "itemknn"])
def test_every_space_fits_its_method(method: str, tiny_prepared: Prepared, tmp_path: Path) -> None:
    assert Search(Workbench(tiny_prepared), find_recipe(method), space_of(method), tmp_path, Run()).trials == []


def test_draws_stay_inside_and_read_well() -> None:
    chance = random.Random(0)
    values = [drawn(SPACE["shrinkage"], chance) for _ in range(200)]
    assert all(0.1 <= value <= 100.0 for value in values)
    assert all(len(f"{value:g}".strip("0.").replace(".", "")) <= 2 for value in values)
    assert sum(value < 3.2 for value in values) in range(70, 130), "by factors: half lies below the geometric middle"
    assert {drawn({"low": 1, "high": 3}, chance) for _ in range(50)} == {1, 2, 3}


def test_wrong_spaces_are_refused(tiny_prepared: Prepared, tmp_path: Path) -> None:
    with pytest.raises(Mistake, match="did you mean 'history'"):
        Search(Workbench(tiny_prepared), find_recipe("itemknn"), {"histroy": [1]}, tmp_path, Run())
    with pytest.raises(Mistake, match="--space"):
        space_of("popular")
