"""The part of the page that says how entries learned: validation and loss, epoch by epoch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sprintrec.report.board import Board, Entry, SavedRow
from sprintrec.report.document import NOTHING, Head, Markup, number, section, table, tag
from sprintrec.report.figures import Line, Point, axis_to, panel
from sprintrec.report.results import named_panel, panels
from sprintrec.report.words import figure, per_level

EPOCH_ROWS = 25  # of the table of a learning curve


def learning(board: Board) -> Iterator[Markup]:
    learners = [entry for entry in board.ranked(board.headline) if _validation(entry)]
    if not learners:
        return
    levels = list(dict.fromkeys(_stop_level(entry) for entry in learners))
    groups = [[entry for entry in learners if _stop_level(entry) == level] for level in levels]
    note = (
        "Validation after every epoch, by the score that training stops on; the dot is the epoch kept. "
        "A method in colour, the others of its kind in grey. Below, the loss of training."
    )
    small = [_learning_panels(group, level) for group, level in zip(groups, levels, strict=True)]
    yield section("Learning", note, *small, _loss_panels(learners), _curve_table(learners))


def _stop_level(entry: Entry) -> str:
    return entry.row["settings"].get("training", {}).get("stop_on", "item")


def _learning_panels(entries: Sequence[Entry], level: str) -> Markup:
    y = axis_to(max(value for entry in entries for line in _validation(entry) for _, value in line), 4)
    x_end = max(point[0] for entry in entries for line in _validation(entry) for point in line)

    def one(entry: Entry) -> Markup:
        lines = [Line(line, other is entry) for other in entries for line in _validation(other)]
        kept = [point for run in entry.runs if (point := _kept(run))]
        lines += [Line([point], True, dot=point) for point in kept]
        spoken = f"Validation N@10 of {entry.label} by epoch"
        if kept:
            spoken += f": {figure(kept[0][1])} in epoch {kept[0][0]:.0f}, which was kept"
        return named_panel(entry, panel(lines, y, _epochs(x_end), x_end, spoken))

    return panels(f"Validation N@10 {per_level(level)} by epoch", [one(entry) for entry in entries])


def _loss_panels(entries: Sequence[Entry]) -> Markup:
    def one(entry: Entry) -> Markup:
        losses = [[(record["epoch"] + 1, record["loss"]) for record in run.curve] for run in entry.runs if run.curve]
        y = axis_to(max(value for line in losses for _, value in line), 3)
        x_end = max(line[-1][0] for line in losses)
        spoken = f"Loss of {entry.label} by epoch: from {losses[0][0][1]:.2f} to {losses[0][-1][1]:.2f}"
        return named_panel(entry, panel([Line(line, True) for line in losses], y, _epochs(x_end), x_end, spoken))

    return panels("Loss of training by epoch", [one(entry) for entry in entries])


def _validation(entry: Entry) -> list[list[Point]]:
    """Validation N@10 by epoch, one line per seed."""
    return [line for run in entry.runs if (line := _points(run))]


def _points(run: SavedRow) -> list[Point]:
    """Epochs counted from 1, as people do; only those that were validated."""
    validated = [record for record in run.curve if "ndcg@10" in record.get("validation", {})]
    return [(record["epoch"] + 1, record["validation"]["ndcg@10"]) for record in validated]


def _kept(run: SavedRow) -> Point | None:
    """Where training stood in the epoch that was kept: best by the stopping score, not always by N@10."""
    best = run.row["seconds"]["best_epoch"]
    return next((point for point in _points(run) if best is not None and point[0] == best + 1), None)


def _epochs(end: float) -> list[tuple[float, str]]:
    return [(tick, f"{tick:.0f}") for tick in axis_to(end, 4).ticks if tick <= end]


def _curve_table(entries: Sequence[Entry]) -> Markup:
    runs = [(entry, run) for entry in entries for run in entry.runs if run.curve]
    last = max(len(run.curve) for _, run in runs)
    step = -(-last // EPOCH_ROWS)
    shown = sorted({*range(0, last, step), last - 1})
    above = [Head("")] + [Head(_run_name(entry, run.row["seed"]), span=2) for entry, run in runs]
    heads = [Head("Epoch", text=True), *(head for _ in runs for head in (Head("loss"), Head("N@10")))]
    rows = [[str(epoch + 1), *(cell for _, run in runs for cell in _epoch_cells(run.curve, epoch))] for epoch in shown]
    caption = "Learning curves" if step == 1 else f"Learning curves, every {step} epochs"
    return tag("details", tag("summary", "The curves as a table"), table(caption, [above, heads], rows))


def _run_name(entry: Entry, seed: int) -> str:
    return entry.label if entry.seeds == 1 else f"{entry.label}, seed {seed}"


def _epoch_cells(curve: Sequence[Mapping[str, Any]], epoch: int) -> Iterator[Markup]:
    if epoch >= len(curve):
        yield from (NOTHING, NOTHING)
        return
    loss, score = curve[epoch]["loss"], curve[epoch].get("validation", {}).get("ndcg@10")
    yield number(loss, figure(loss, 3))
    yield number(score, "" if score is None else figure(score))
