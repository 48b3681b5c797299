"""A log to a measured model and its report: the whole path, as ``train`` and ``demo`` walk it.

Everything is made in a work folder first. A run that was stopped leaves it, and the same command goes on
from there: the prepared log, finished rows and the checkpoint of the recipe under way are kept.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sprintrec.audit import audit, sentences
from sprintrec.errors import Mistake
from sprintrec.experiment import Result, Workbench
from sprintrec.method import Run
from sprintrec.prepared import Prepared, data_hash
from sprintrec.preparing import Advance, Say, prepare, titles
from sprintrec.recipe import Recipe, find_recipe
from sprintrec.recommender import Recommender
from sprintrec.records import Log, content_hash
from sprintrec.report import Background, Board, Case, ReportInput, SavedRow, boards, draw_cases, paired_tests, verdict
from sprintrec.report.board import HEADLINE_METRIC
from sprintrec.report.page import page
from sprintrec.rows import write_row

LOCK = "lock"


@dataclass(frozen=True)
class Plan:
    """What is to be made of a log. The first recipe under the first protocol becomes the model."""

    name: str
    recipes: Sequence[Recipe]
    protocols: Sequence[str] = ("last-out",)
    texts: str = "auto"
    seed: int = 0
    device: str = "cpu"
    precision: str = "float32"
    time_limit: float | None = None  # seconds of training per recipe


@dataclass(frozen=True)
class Watcher:
    """Who is told what goes on. The defaults tell nobody."""

    say: Say = lambda sentence: None
    advance: Advance = lambda what, done, total: None
    on_epoch: Callable[[str, Mapping[str, Any]], None] = lambda recipe, record: None
    on_step: Callable[[str, int, int, float], None] = lambda recipe, step, steps, seconds: None


@dataclass(frozen=True)
class Built:
    """What came of a plan: every result, and what the report needs beside the rows."""

    benches: Mapping[str, Workbench]  # by protocol
    results: Sequence[Result]
    backgrounds: Mapping[tuple[str, str], Background] = field(default_factory=dict)

    @property
    def recommender(self) -> Recommender:
        """The first result, as something that can be asked and saved."""
        return Recommender.of(next(iter(self.benches.values())), self.results[0])

    def rows(self) -> list[Mapping[str, Any]]:
        return [result.row for result in self.results]

    def report(self, command: str, cases: bool = True) -> str:
        """The report as one HTML page; without ``cases`` no user's history is in it."""
        told = self.backgrounds
        if not cases:
            told = {place: replace(background, cases=None) for place, background in told.items()}
        return page(self._boards(told), ReportInput(command=command, backgrounds=told))

    def verdict(self) -> str:
        """What the first protocol's figures allow to say of the methods, in words."""
        board = self._boards(self.backgrounds)[0]
        return str(verdict(board, paired_tests(board, board.headline, HEADLINE_METRIC)))

    def answers(self, count: int) -> list[Case]:
        """The first questions of the test part and what the model answers, in titles."""
        bench, result = next(iter(self.benches.values())), self.results[0]
        asked, names = bench.split.test, titles(bench.prepared.items())
        return [
            Case(
                history=[names[item] for item in asked.histories.row(row)],
                target=names[asked.targets[row]],
                rank=int(result.measured.ranks["item"][row]),
                top=[names[item] for item in result.measured.shown.items[row] if item >= 0],
            )
            for row in range(min(count, len(asked)))
        ]

    def _boards(self, backgrounds: Mapping[tuple[str, str], Background]) -> list[Board]:
        saved = [SavedRow(result.row, result.measured.ranks, result.curve) for result in self.results]
        return boards(saved, backgrounds)


def build(log: Log, work: Path, plan: Plan, watcher: Watcher | None = None) -> Built:
    """Prepare the log under every protocol, then fit and measure every recipe on each."""
    watcher = watcher or Watcher()
    benches = {protocol: Workbench(prepared_log(log, work, plan, protocol, watcher)) for protocol in plan.protocols}
    results = [_result(bench, recipe, work, plan, watcher) for bench in benches.values() for recipe in plan.recipes]
    first = {result.row["protocol"]: result for result in reversed(results)}
    backgrounds = {
        (plan.name, protocol): _background(log, bench, first[protocol]) for protocol, bench in benches.items()
    }
    return Built(benches, results, backgrounds)


@contextmanager
def work_folder(out: Path) -> Iterator[Path]:
    """The folder beside ``out`` where work is kept until it is done; a second run into it is refused."""
    work = out.with_name(f"{out.name}.work")
    if work.exists() and not (work / LOCK).is_file():
        raise Mistake(f"{work} is needed for the work on {out} and is not ours: move it, or give another --out")
    work.mkdir(parents=True, exist_ok=True)
    with open(work / LOCK, "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Mistake(f"another run is writing {out}: wait for it, or give another --out") from error
        yield work


def prepared_log(log: Log, work: Path, plan: Plan, protocol: str, watcher: Watcher) -> Prepared:
    """The prepared folder of an earlier, stopped run where it holds the same log, else a new one."""
    folder = work / f"prepared-{protocol}"
    codes = sorted({recipe.codes for recipe in plan.recipes if recipe.codes})
    wanted: dict[str, Any] = {
        "texts": texts_fingerprint(log, plan.texts),
        "codes": codes,
        "log": data_hash(log, protocol),
    }
    wanted |= {"name": plan.name, "protocol": protocol, "seed": plan.seed}
    order = work / f"prepared-{protocol}.json"
    if order.is_file() and json.loads(order.read_text(encoding="utf-8")) == wanted and folder.is_dir():
        watcher.say(f"The log as an earlier run prepared it ({folder}) is used again.")
        return Prepared.read(folder)
    order.unlink(missing_ok=True)
    watcher.say(f"Preparing the log for the protocol {protocol}.")
    made = prepare(log, folder, plan.name, protocol, plan.texts, codes, plan.seed, watcher.say, watcher.advance)
    order.write_text(json.dumps(wanted), encoding="utf-8")
    return made


def _result(bench: Workbench, recipe: Recipe, work: Path, plan: Plan, watcher: Watcher) -> Result:
    protocol = bench.prepared.meta["protocol"]
    run = Run(
        device=plan.device,
        seed=plan.seed,
        precision=plan.precision,
        checkpoints=work / "checkpoints" / f"{protocol}-{recipe.name}-{plan.seed}",
        time_limit=plan.time_limit,
        on_epoch=lambda record: watcher.on_epoch(recipe.name, record),
        on_step=lambda step, steps, seconds: watcher.on_step(recipe.name, step, steps, seconds),
    )
    watcher.say(f"Training {recipe.method} (recipe {recipe.name}, protocol {protocol}).")
    result = bench.run(recipe, run)
    write_row(work / "rows", result.row, result.measured.ranks, result.curve)
    return result


def _background(log: Log, bench: Workbench, result: Result) -> Background:
    """What a report tells beside the figures: notes, audit, codes, ten good and ten bad cases."""
    made, split = bench.prepared, bench.split
    found = audit(log.events, split, {"codes": "training items", "text encoder": "nothing"})
    names = titles(made.items())
    return Background(
        notes=log.notes,
        repeat_share=found.repeat_share,
        audit=sentences(found),
        codes=[made.quality(name) for name in made.code_names()],
        cases=draw_cases(result.row["method"], result.measured.ranks["item"], split.test, result.measured.shown, names),
    )


def texts_fingerprint(log: Log, source: str) -> str:
    """What item vectors are made of: the items' fields and, where vectors come from a file, its contents."""
    fields = json.dumps([dict(fields) for fields in log.items.fields], ensure_ascii=False, default=str)
    return content_hash(source, fields, Path(source).read_bytes() if Path(source).is_file() else b"")


def recipes_named(names: Sequence[str], changes: Mapping[str, Any] | None = None) -> list[Recipe]:
    """Recipes by name; changes apply to the first, the one that becomes the model."""
    return [find_recipe(name, changes if place == 0 else None) for place, name in enumerate(names)]
