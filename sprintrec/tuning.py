"""Search for better settings on validation: random trials, poor ones given up early, all of them kept.

The first trial is the recipe as it stands. A trial is given up when, at some epoch, its validation score
lies below the median that earlier trials had there. Trials are lines in ``trials/`` below the output
folder; a search that was stopped goes on behind those it finds. Test is never looked at.
"""

from __future__ import annotations

import json
import math
import random
import statistics
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sprintrec.errors import Mistake
from sprintrec.experiment import Workbench
from sprintrec.method import Run
from sprintrec.recipe import FOLDER, Recipe, with_changes
from sprintrec.records import content_hash
from sprintrec.rows import trials_path, write_trial
from sprintrec.settings import changed, to_mapping

SPACES = FOLDER / "spaces"
GRACE_TRIALS, GRACE_EPOCHS = 3, 2  # before these nothing is given up

Space = Mapping[str, Sequence[Any] | Mapping[str, Any]]


@dataclass(frozen=True)
class Trial:
    """Settings tried, and the validation scores epoch after epoch; ``score`` is the best of them."""

    number: int
    changes: Mapping[str, Any]
    scores: Sequence[float] = ()
    given_up: bool = False
    seconds: float = 0.0

    @property
    def score(self) -> float:
        return max(self.scores, default=-math.inf)


class GivenUp(Exception):
    """This trial is not worth finishing."""


@dataclass
class Search:
    """One search on one prepared folder."""

    bench: Workbench
    recipe: Recipe
    space: Space
    out: Path
    run: Run
    trials: list[Trial] = field(default_factory=list)

    def __post_init__(self) -> None:
        for key in self.space:
            changed(self.recipe.settings, {key: drawn(self.space[key], random.Random(0))})  # a wrong key is a Mistake
        self.trials = [trial for trial, what in _kept(self._path()) if what == self._what()]

    def go(self, count: int, seconds: float | None = None, told: Callable[[Trial], None] = lambda trial: None) -> None:
        """Try until there are ``count`` trials, or the time is over."""
        started = time.monotonic()
        while len(self.trials) < count and (seconds is None or time.monotonic() - started < seconds):
            trial = self._try(len(self.trials))
            self.trials.append(trial)
            self._keep(trial)
            told(trial)

    def best(self) -> Trial:
        if not self.trials:
            raise Mistake("nothing was tried yet: allow at least one trial")
        return max(self.trials, key=lambda trial: trial.score)

    def best_recipe(self) -> Recipe:
        return self._recipe(self.best().changes)

    def _try(self, number: int) -> Trial:
        chance = random.Random(f"{self.run.seed}-{number}")
        changes = {} if number == 0 else {key: drawn(values, chance) for key, values in self.space.items()}
        scores: list[float] = []
        started, given_up = time.monotonic(), False

        def watch(record: Mapping[str, Any]) -> None:
            scores.append(record["validation"]["score"])
            if self._is_poor(scores):
                raise GivenUp
            self.run.on_epoch(record)

        run = Run(**{**vars(self.run), "on_epoch": watch, "checkpoints": None})
        try:
            method = self.bench.fitted(self._recipe(changes), run)
            if not scores:  # a method that learns in one go has no epochs to tell of
                scores.append(self.bench.validation(self.recipe)(method)["score"])
        except GivenUp:
            given_up = True
        return Trial(number, changes, scores, given_up, round(time.monotonic() - started, 1))

    def _is_poor(self, scores: Sequence[float]) -> bool:
        epoch = len(scores)
        reached = [max(trial.scores[:epoch]) for trial in self.trials if len(trial.scores) >= epoch]
        if epoch < GRACE_EPOCHS or len(reached) < GRACE_TRIALS:
            return False
        return max(scores) < statistics.median(reached)

    def _recipe(self, changes: Mapping[str, Any]) -> Recipe:
        return with_changes(self.recipe, changes) if changes else self.recipe

    def _path(self) -> Path:
        return trials_path(self.out, self.bench.prepared.name, self.recipe.method)

    def _keep(self, trial: Trial) -> None:
        write_trial(
            self.out,
            {
                "dataset": self.bench.prepared.name,
                "method": self.recipe.method,
                "search": self._what(),
                "trial": trial.number,
                "changes": dict(trial.changes),
                "scores": list(trial.scores),
                "given_up": trial.given_up,
                "seconds": trial.seconds,
            },
        )

    def _what(self) -> dict[str, Any]:
        """What two searches must have in common for one to go on with the other's trials."""
        asked = json.dumps([to_mapping(self.recipe.settings), self.recipe.codes, self.space], sort_keys=True)
        log = self.bench.prepared.meta["data_hash"]
        return {"recipe": self.recipe.name, "seed": self.run.seed, "data_hash": log, "asked": content_hash(asked)}


def space_of(method: str, path: Path | None = None) -> Space:
    """Where to search for a method: a TOML file, by default the one that comes with the method."""
    found = path or SPACES / f"{method}.toml"
    if not found.is_file():
        raise Mistake(f"there is no search space for '{method}': give one with --space FILE")
    try:
        return tomllib.loads(found.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise Mistake(f"{found} is no valid TOML: {error}") from error


def drawn(values: Sequence[Any] | Mapping[str, Any], chance: random.Random) -> Any:
    """One value of a list of choices, or of a range, there with two digits that people can read."""
    if not isinstance(values, Mapping):
        return chance.choice(list(values))
    low, high = values["low"], values["high"]
    by_factors = values.get("log", False)
    value = math.exp(chance.uniform(math.log(low), math.log(high))) if by_factors else chance.uniform(low, high)
    return float(f"{value:.2g}") if isinstance(low, float) else round(value)


def as_toml(recipe: Recipe) -> str:
    """A recipe as the TOML file that gives it back."""
    plain = {key: value for key, value in to_mapping(recipe.settings).items() if value is not None}
    lines = [f"# {recipe.name}", f"method = {json.dumps(recipe.method)}"]
    lines += [f"codes = {json.dumps(recipe.codes)}"] if recipe.codes else []
    lines += [f"{key} = {json.dumps(value)}" for key, value in plain.items() if not isinstance(value, dict)]
    for group, values in plain.items():
        if isinstance(values, dict):
            lines += ["", f"[{group}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
    return "\n".join(lines) + "\n"


def _kept(path: Path) -> list[tuple[Trial, Mapping[str, Any]]]:
    """Finished trials and the searches they belong to; a last line that was cut short is no trial."""
    if not path.is_file():
        return []
    whole = path.read_text(encoding="utf-8").rpartition("\n")[0]
    lines = [json.loads(line) for line in whole.splitlines()]
    return [
        (Trial(line["trial"], line["changes"], line["scores"], line["given_up"], line["seconds"]), line["search"])
        for line in lines
        if "search" in line
    ]
