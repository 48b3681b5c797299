"""``sprintrec compare``: saved rows side by side, with intervals and paired tests; also as a page, CSV or LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sprintrec.cli.output import Json, emit, note, table
from sprintrec.errors import Mistake, nearest

if TYPE_CHECKING:
    from sprintrec.report import Board, SavedRow
    from sprintrec.report.board import Entry
    from sprintrec.report.verdict import PairedTest

Runs = Annotated[
    list[Path],
    typer.Argument(metavar="RUNS", help="Folders of result rows: all of them, one data set's, one method's."),
]
Protocol = Annotated[str | None, typer.Option(help="Only rows of this protocol, as in last-out or time.")]
Level = Annotated[str, typer.Option(help="What is counted: item, item_seen_kept or code.")]
Metric = Annotated[str, typer.Option(help="The metric compared, as in ndcg@10, recall@5 or mrr@20.")]
Against = Annotated[
    str | None, typer.Option(help="The method or recipe all others are tested against; the best one if left out.")
]
Html = Annotated[Path | None, typer.Option(help="Write the whole report as one HTML page.")]
Csv = Annotated[Path | None, typer.Option(help="Write every figure of every row as CSV.")]
Latex = Annotated[Path | None, typer.Option(help="Write tables for a paper.")]


def compare(
    runs: Runs,
    protocol: Protocol = None,
    level: Level = "item",
    metric: Metric = "ndcg@10",
    against: Against = None,
    html: Html = None,
    csv: Csv = None,
    latex: Latex = None,
    as_json: Json = False,
) -> None:
    """Compare saved rows, with intervals and paired tests over users, corrected after Holm."""
    from sprintrec.report import boards, read_saved, to_csv, to_latex, write_report

    _check(level, metric)
    saved = _of_protocol(read_saved(*runs), protocol)
    found = [board for board in boards(saved) if board.ranked(level, metric)]
    if not found:
        raise Mistake(f"none of these rows has figures for --level {level}: it takes a method with codes")
    compared = [_compared(board, level, metric, against) for board in found]
    written = {
        **_written(html, lambda path: write_report(saved, path)),
        **_written(csv, lambda path: path.write_text(to_csv(saved), encoding="utf-8")),
        **_written(latex, lambda path: path.write_text(to_latex(saved), encoding="utf-8")),
    }
    emit({"comparisons": compared, "written": list(written)}, as_json, lambda: _show(compared, metric))
    for path in written:
        note(f"written: {path}")


def _check(level: str, metric: str) -> None:
    from sprintrec.report.board import LEVELS
    from sprintrec.report.words import METRIC_NAMES

    for word, known in ((level, LEVELS), (metric, METRIC_NAMES)):
        if word not in known:
            raise Mistake(f"unknown {'level' if known is LEVELS else 'metric'} '{word}': {nearest(word, known)}")


def _of_protocol(saved: Sequence[SavedRow], protocol: str | None) -> list[SavedRow]:
    known = {run.row["protocol"] for run in saved}
    if protocol is not None and protocol not in known:
        raise Mistake(f"no row has protocol '{protocol}': {nearest(protocol, known)}")
    return [run for run in saved if protocol in (None, run.row["protocol"])]


def _compared(board: Board, level: str, metric: str, against: str | None) -> dict[str, Any]:
    from sprintrec.report import paired_tests, verdict

    best = paired_tests(board, level, metric)
    reference = _named(board.ranked(level, metric), against)
    tests = paired_tests(board, level, metric, reference) if against else best
    by_label = {test.other.label: test for test in tests}
    return {
        "dataset": board.dataset,
        "protocol": board.protocol,
        "level": level,
        "metric": metric,
        "users": board.users,
        "against": reference.label,
        "methods": [_line(entry, level, metric, by_label.get(entry.label)) for entry in board.ranked(level, metric)],
        "verdict": str(verdict(board, best, level, metric)),
    }


def _named(ranked: Sequence[Entry], name: str | None) -> Entry:
    """The entry of a name: its label, its recipe, or its method where that has one recipe; without one the best."""
    if name is None:
        return ranked[0]
    for kind in (lambda entry: entry.label, lambda entry: entry.row["recipe"], lambda entry: entry.row["method"]):
        found = [entry for entry in ranked if kind(entry) == name]
        if len(found) == 1:
            return found[0]
    raise Mistake(f"--against '{name}' names no single method here: {nearest(name, [entry.label for entry in ranked])}")


def _line(entry: Entry, level: str, metric: str, test: PairedTest | None) -> dict[str, Any]:
    figure = entry.figure(level, metric)
    line: dict[str, Any] = {
        "label": entry.label,
        "method": entry.row["method"],
        "recipe": entry.row["recipe"],
        "seeds": entry.seeds,
        "value": figure.mean,
        "interval": figure.interval,
        "deviation": figure.deviation,
        "test": None,
    }
    if test is not None:
        found = test.comparison
        line["test"] = {
            "difference": found.difference.mean,
            "interval": (found.difference.low, found.difference.high),
            "p": test.p,
            "p_uncorrected": found.p_permutation,
            "p_t": found.p_t,
            "wins": found.wins,
            "ties": found.ties,
            "losses": found.losses,
        }
    return line


def _written(path: Path | None, write: Callable[[Path], object]) -> dict[Path, object]:
    if path is None:
        return {}
    path.parent.mkdir(parents=True, exist_ok=True)
    return {path: write(path)}


def _show(compared: Sequence[dict[str, Any]], metric: str) -> None:
    from sprintrec.report.words import METRIC_NAMES, per_level

    name = METRIC_NAMES[metric]
    for one in compared:
        title = f"{one['dataset']} ({one['protocol']}), {one['users']:,} users, {name} {per_level(one['level'])}"
        tested = (f"{one['against']} minus it", "95 % interval", "p, corrected", "wins", "ties", "losses")
        columns = ("method", "seeds", name, "95 % interval", *tested)
        table(columns, [_cells(line) for line in one["methods"]], title)
        print(f"{one['verdict']}\n")


def _cells(line: dict[str, Any]) -> list[object]:
    from sprintrec.report.words import range_of

    before = [line["label"], line["seeds"], line["value"], range_of(line["interval"]) if line["interval"] else None]
    test = line["test"]
    if test is None:
        return [*before, *[None] * 6]
    return [
        *before,
        test["difference"],
        range_of(test["interval"]),
        test["p"],
        test["wins"],
        test["ties"],
        test["losses"],
    ]
