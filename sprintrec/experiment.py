"""Recipes and a prepared folder to result rows: fit, evaluate, save; one call, many recipes and seeds.

    python -m sprintrec.experiment PREPARED --recipe R [--recipe R2] --seeds 5 --out RUNS
    torchrun --nproc-per-node 4 -m sprintrec.experiment ...      the same on four GPUs

Imports numpy, torch, safetensors and the standard library only, so a prepared folder trains and is
measured on any machine that has these. Choices are made with ``--no-test``: such a run never looks at
the test part and leaves a line in ``trials/`` instead of a row.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from sprintrec import __version__, machine
from sprintrec.audit import repeat_share
from sprintrec.errors import Mistake, WorkFailed
from sprintrec.evaluation import Measured, beyond_accuracy, evaluate, slices, stopping_score
from sprintrec.method import Method, Run, Scores
from sprintrec.prepared import Prepared
from sprintrec.processes import Processes, joined, own_gpu
from sprintrec.recipe import Recipe, find_recipe, recipe_names
from sprintrec.records import Codes, Past, Split
from sprintrec.rows import write_row, write_trial
from sprintrec.settings import parsed, to_mapping
from sprintrec.significance import rank_intervals

CUT = "+cut"  # of a recipe's name, where a time limit ended the training


@dataclass(frozen=True)
class Result:
    """One fitted and measured method."""

    method: Method
    row: dict[str, Any]
    measured: Measured
    curve: Sequence[Mapping[str, Any]]


class Workbench:
    """A prepared folder, opened once for many runs."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self.split: Split = prepared.split()
        self.repeats = repeat_share(prepared.events)
        self._codes: dict[str, Codes] = {}

    def codes(self, name: str | None) -> Codes | None:
        if name is None:
            return None
        if name not in self._codes:
            self._codes[name] = self.prepared.codes(name)
        return self._codes[name]

    def fitted(self, recipe: Recipe, run: Run) -> Method:
        """The recipe's method, fitted on the training part and stopped on validation."""
        method = recipe.new_method()
        if method.uses_codes and recipe.codes is None:
            known = ", ".join(self.prepared.code_names()) or "none yet, 'sprintrec codes' makes them"
            raise Mistake(
                f"recipe '{recipe.name}' names no code table: add --set codes=NAME ({self.prepared.folder} has {known})"
            )
        return method.fit(self.past(method, recipe), self.validation(recipe), run)

    def past(self, method: Method, recipe: Recipe) -> Past:
        return self.prepared.past(self.split, recipe.codes if method.uses_codes else None, method.uses_vectors)

    def run(self, recipe: Recipe, run: Run, test: bool = True) -> Result:
        """Fit, and measure: on test, or on validation alone."""
        codes = self.codes(recipe.codes)
        curve: list[Mapping[str, Any]] = []

        def keep(record: Mapping[str, Any]) -> None:
            curve.append(record)
            run.on_epoch(record)

        started = time.monotonic()
        method = self.fitted(recipe, _with(run, on_epoch=keep))
        # A run that was gone on with counts the seconds of all its parts.
        seconds = curve[-1]["seconds"] if curve else time.monotonic() - started
        code_level = codes if method.uses_codes else None
        validation = evaluate(method, self.split.validation, code_level)
        measured = evaluate(method, self.split.test, code_level) if test else validation
        # What the clock cut short is another result than the recipe's, and is named so.
        cut = not getattr(getattr(method, "progress", None), "finished", True)
        row: dict[str, Any] = {
            **self._identity(recipe, run, codes),
            "recipe": f"{recipe.name}{CUT}" if cut else recipe.name,
            "run": {"precision": run.precision, "time_limit": run.time_limit, "cut": cut},
            "validation": validation.summaries(),
            "seconds": {
                "train": round(seconds, 3),
                "epochs": len(curve),
                "best_epoch": curve[-1]["best_epoch"] if curve else None,
                "evaluate": round(measured.seconds, 3),
            },
            "parameters": method.parameter_count(),
            "machine": machine_description(run.device),
            "version": __version__,
        }
        if test:
            past, asked, vectors = self.past(method, recipe), self.split.test, self.prepared.vectors()
            intervals = {level: rank_intervals(ranks, (5, 10, 20)) for level, ranks in measured.ranks.items()}
            row |= {
                **measured.summaries(),
                "intervals": intervals,
                "beyond": beyond_accuracy(measured, asked, past, vectors),
                "slices": slices(measured.ranks["item"], asked, past),
            }
        return Result(method, row, measured, curve)

    def validation(self, recipe: Recipe) -> Callable[[Method], Scores]:
        codes = self.codes(recipe.codes)
        training = getattr(recipe.settings, "training", None)
        stop_on = training.stop_on if training is not None else "item"
        if stop_on == "code" and codes is None:
            raise Mistake(f"recipe '{recipe.name}' stops on the code level without a code table: add --set codes=NAME")
        return lambda method: stopping_score(method, self.split.validation, stop_on, codes)

    def _identity(self, recipe: Recipe, run: Run, codes: Codes | None) -> dict[str, Any]:
        meta = self.prepared.meta
        table = None
        if codes is not None:
            distinct = len(codes.distinct()[0])
            table = {"name": codes.name, "items": len(codes.table), "distinct": distinct, "hash": codes.hash}
        return {
            "dataset": meta["name"],
            "method": recipe.method,
            "recipe": recipe.name,
            "seed": run.seed,
            "protocol": meta["protocol"],
            "questions": {"validation": len(self.split.validation), "test": len(self.split.test)},
            "codes": table,
            "texts": meta.get("texts"),
            "data_hash": meta["data_hash"],
            "repeats": round(self.repeats, 6),
            "settings": to_mapping(recipe.settings),
        }


def machine_description(device: str) -> dict[str, Any]:
    described: dict[str, Any] = {
        "processor": machine.processor(),
        "cores": machine.cores(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "device": device,
        "processes": Processes.here().count,
    }
    if device.startswith("cuda"):
        described["device"] = torch.cuda.get_device_name(device)
    return described


def best_device(asked: str) -> str:
    """``auto`` is the GPU where there is one; of several processes each takes its own."""
    there = torch.cuda.device_count()
    if asked == "cpu" or (asked == "auto" and not there):
        return "cpu"
    if not re.fullmatch(r"auto|cuda(:\d+)?", asked):
        raise Mistake(f"unknown device '{asked}': known are cpu, cuda, cuda:1 and so on, and auto")
    if not there:
        raise Mistake("there is no GPU that torch can use: leave out --device, or say --device cpu")
    device = asked if ":" in asked else own_gpu()
    if int(device.partition(":")[2]) >= there:
        raise Mistake(f"there is no GPU '{device}': torch sees {there}, counted from cuda:0")
    return device


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        with joined() as processes:
            run_all(options, processes)
    except Mistake as mistake:
        print(f"error: {mistake}", file=sys.stderr)
        return 2
    except (WorkFailed, OSError) as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        goes_on = "the same command goes on" if options.resume else "with --resume a run can be gone on with"
        print(f"interrupted; finished runs are kept, and {goes_on}", file=sys.stderr)
        return 130
    return 0


def run_all(options: argparse.Namespace, processes: Processes) -> None:
    bench, device, out = Workbench(Prepared.read(options.prepared)), best_device(options.device), Path(options.out)
    if device.startswith("cuda"):
        # Training tolerates the 10-bit mantissa of the tensor cores; scoring asks for full precision again.
        torch.backends.cuda.matmul.allow_tf32 = True
    changes = dict(change(text) for text in options.set)
    recipes = [find_recipe(name, changes) for name in options.recipe]
    for recipe in recipes:
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            label = f"{bench.prepared.name} {recipe.name} seed {seed}"
            run = Run(
                device=device,
                seed=seed,
                precision=options.precision,
                checkpoints=_run_folder(out, bench, recipe, seed) if options.resume else None,
                time_limit=options.time_limit,
            )
            if not processes.is_first:
                bench.fitted(recipe, run)  # the first measures, tells and writes
                continue
            told = _with(run, on_epoch=lambda record, label=label: _say(label, record))
            result = bench.run(recipe, told, test=not options.no_test)
            path = _keep(out, result, options.no_test)
            print(json.dumps({"row": str(path), **_headline(result.row)}), flush=True)


def _keep(out: Path, result: Result, is_trial: bool) -> Path:
    if is_trial:
        return write_trial(out, result.row)
    return write_row(out, result.row, result.measured.ranks, result.curve)


def _headline(row: Mapping[str, Any]) -> dict[str, Any]:
    part = row if "item" in row else row["validation"]
    short: dict[str, Any] = {key: row[key] for key in ("dataset", "recipe", "seed")}
    short["on"] = "test" if "item" in row else "validation"
    for level in ("item", "item_seen_kept", "code"):
        if part[level] is not None:
            short[level] = [round(part[level][f"{name}@10"], 4) for name in ("recall", "ndcg")]
    return {**short, "seconds": row["seconds"]}


def _say(label: str, record: Mapping[str, Any]) -> None:
    scores = record.get("validation", {})
    told = " ".join(f"{name} {value:.4f}" for name, value in scores.items())
    seconds = f"{record['seconds']:.1f} s, best epoch {record['best_epoch']}"
    print(f"{label}: epoch {record['epoch']} loss {record['loss']:.4f} {told} ({seconds})", file=sys.stderr, flush=True)


def _run_folder(out: Path, bench: Workbench, recipe: Recipe, seed: int) -> Path:
    name = re.sub(r"[^\w.=+,-]", "_", f"{bench.prepared.name}-{recipe.name}-{seed}")
    return out / "checkpoints" / name


def change(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise Mistake(f"--set wants NAME=VALUE, not '{text}'")
    return key.strip(), parsed(value.strip())


def _with(run: Run, **values: Any) -> Run:
    return Run(**{**vars(run), **values})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sprintrec.experiment",
        description="Recipes and a prepared folder to result rows.",
        epilog=f"Recipes: {', '.join(recipe_names())}.",
    )
    add = parser.add_argument
    add("prepared", help="the prepared folder")
    add("--recipe", action="append", required=True, help="a recipe, a TOML file or a method; give it again for more")
    add("--seeds", type=int, default=1, help="how many seeds, counted from --first-seed (default 1)")
    add("--first-seed", type=int, default=0, help="the first seed (default 0)")
    add("--out", default="runs", help="folder for rows, ranks and curves (default runs)")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="change a setting, and with it the name")
    add("--no-test", action="store_true", help="measure on validation only and keep a trial, not a row")
    add("--device", default="auto", help="cpu, cuda, cuda:1, or auto (default)")
    add("--precision", default="float32", choices=("float32", "bfloat16"), help="arithmetic of training")
    add("--time-limit", type=float, help="seconds of training per run; the best so far is kept")
    add("--resume", action="store_true", help="keep checkpoints below --out and go on from them")
    return parser


if __name__ == "__main__":
    sys.exit(main())
