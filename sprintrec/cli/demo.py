"""``sprintrec demo``: a real log from an installed package to a measured model, baselines beside it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sprintrec.cli.output import Json, emit, note, program, table
from sprintrec.cli.watching import clock, watched

if TYPE_CHECKING:
    from sprintrec.build import Built

DATASET = "movielens-small"
RECIPES = ("demo", "popular", "demo-itemknn", "demo-chain", "demo-sasrec")
PROTOCOLS = ("last-out", "time")
METRICS = "metrics.json"
SHOWN_USERS, SHOWN_HISTORY, SHOWN_ITEMS = 3, 5, 5
NEXT = (
    "{program} recommend {out}/model --history 260,1196,1210",
    "{program} data check YOUR_EVENTS.csv",
    "{program} train YOUR_EVENTS.csv YOUR_ITEMS.csv --out YOUR_MODEL",
)
Out = Annotated[Path, typer.Option("--out", help="Folder to make; one that is there is replaced at the end.")]


def demo(out: Out = Path("runs/demo"), as_json: Json = False) -> None:
    """Train, measure and compare on a real log, with nothing to prepare."""
    import time

    from sprintrec.build import Plan, build, recipes_named, work_folder
    from sprintrec.datasets import find_dataset
    from sprintrec.experiment import best_device
    from sprintrec.machine import peak_memory_bytes
    from sprintrec.prepared import refuse_to_replace, replaced

    out = out.resolve() if out.name in ("", "..") else out
    refuse_to_replace(out, METRICS, "protocols")
    started = time.monotonic()
    log = find_dataset(DATASET).log()
    for sentence in log.notes:
        note(sentence)
    # Films are told apart by who watches them more than by their titles, so codes are made of both.
    plan = Plan(DATASET, recipes_named(RECIPES), PROTOCOLS, "text+cooccurrence", device=best_device("auto"))
    with work_folder(out) as work:
        with watched() as watcher:
            built = build(log, work, plan, watcher)
        result: dict[str, Any] = {
            "methods": _methods(built.rows(), PROTOCOLS[0]),
            "protocols": {protocol: _methods(built.rows(), protocol) for protocol in PROTOCOLS},
        }
        with replaced(out) as draft:
            built.recommender.save(draft / "model")
            (draft / "report.html").write_text(built.report(command="make demo"), encoding="utf-8")
            (draft / METRICS).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        seconds, memory = time.monotonic() - started, peak_memory_bytes()
        result |= {"out": str(out), "seconds": round(seconds, 1), "peak_memory_bytes": memory}
        emit(result, as_json, lambda: _show(built, out))
        shutil.rmtree(work)
    note(f"It took {clock(seconds)} and {memory / 1e9:.1f} GB of memory at most.")


def _methods(rows: Sequence[Mapping[str, Any]], protocol: str) -> dict[str, dict[str, Any]]:
    return {
        label(row): {level: row[level] for level in ("item", "item_seen_kept", "code")}
        for row in rows
        if row["protocol"] == protocol
    }


def label(row: Mapping[str, Any]) -> str:
    """A method by its name; the Markov chain, a second recipe of one, by its own."""
    return "chain" if row["recipe"] == "demo-chain" else str(row["method"])


def _show(built: Built, out: Path) -> None:
    for protocol in PROTOCOLS:
        rows = [row for row in built.rows() if row["protocol"] == protocol]
        lines = [
            (
                label(row),
                *(f"{row['item'][key]:.4f}" for key in ("recall@10", "ndcg@10")),
                "{:.4f} to {:.4f}".format(*row["intervals"]["item"]["ndcg@10"]),
                f"{row['item_seen_kept']['ndcg@10']:.4f}",
                clock(row["seconds"]["train"]),
            )
            for row in sorted(rows, key=lambda row: -row["item"]["ndcg@10"])
        ]
        questions = rows[0]["questions"]["test"]
        title = f"Protocol {protocol}: {questions} users asked, whole catalogue ranked, films already rated taken out"
        table(("method", "R@10", "N@10", "95 % of N@10", "N@10 seen kept", "training"), lines, title)
    print(built.verdict())
    _show_users(built)
    print(f"\nModel, report and figures are in {out}: open {out / 'report.html'}. What to type next:")
    for command in NEXT:
        print(f"  {command.format(program=program(), out=out)}")


def _show_users(built: Built) -> None:
    for case in built.answers(SHOWN_USERS):
        print(f"\nA user who last rated: {'; '.join(case.history[-SHOWN_HISTORY:])}")
        print(f"  is recommended:      {'; '.join(case.top[:SHOWN_ITEMS])}")
        print(f"  and rated next:      {case.target}")
