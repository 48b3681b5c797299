"""Rows as CSV, one line per figure, and as LaTeX tables for a paper."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

from sprintrec.report.board import LEVELS, Board, Entry, SavedRow, boards
from sprintrec.report.words import LEVEL_TITLES, METRIC_NAMES, distinct_codes

CSV_COLUMNS = (
    *("dataset", "protocol", "method", "recipe", "seed", "level", "metric", "value", "low", "high"),
    *("users", "codes", "distinct_codes", "data_hash"),
)
LATEX_METRICS = tuple(f"{name}@{cut}" for cut in (5, 10, 20) for name in ("recall", "ndcg"))
LATEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "−": "$-$",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def to_csv(rows: Iterable[SavedRow]) -> str:
    """Every figure of every row at full precision, with its interval where there is one."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(CSV_COLUMNS)
    for saved in rows:
        lines.writerows(_csv_lines(saved))
    return text.getvalue()


def _csv_lines(saved: SavedRow) -> Iterator[list[object]]:
    row = saved.row
    table = row["codes"] or {}
    before = [row[key] for key in ("dataset", "protocol", "method", "recipe", "seed")]
    after = [row["questions"]["test"], table.get("name"), table.get("distinct"), row["data_hash"]]
    for level in LEVELS:
        for metric, value in (row[level] or {}).items():
            low, high = row.get("intervals", {}).get(level, {}).get(metric, (None, None))
            yield [*before, level, metric, value, low, high, *after]


def to_latex(rows: Iterable[SavedRow]) -> str:
    """A booktabs table per data set, protocol and level; the best of a column is bold."""
    tables = [_latex_table(board, level) for board in boards(rows) for level in LEVELS if board.ranked(level)]
    return "% needs \\usepackage{booktabs}\n" + "\n".join(tables)


def _latex_table(board: Board, level: str) -> str:
    entries = board.ranked(level)
    best = {metric: max(entry.figure(level, metric).mean for entry in entries) for metric in LATEX_METRICS}
    heads = " & ".join(["Method", *(METRIC_NAMES[metric] for metric in LATEX_METRICS)])
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex_escaped(_caption(board, level))}}}",
        r"\begin{tabular}{l" + "r" * len(LATEX_METRICS) + "}",
        r"\toprule",
        rf"{heads} \\",
        r"\midrule",
        *(rf"{_latex_line(entry, level, best)} \\" for entry in entries),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _caption(board: Board, level: str) -> str:
    said = f"{board.place}, {board.users:,} users. {LEVEL_TITLES[level]}."
    if level != "code":
        return said
    tables = {entry.row["codes"]["name"]: distinct_codes(entry.row["codes"]) for entry in board.ranked(level)}
    return said + "".join(f" {name}: {count}." for name, count in tables.items())


def _latex_line(entry: Entry, level: str, best: dict[str, float]) -> str:
    cells = [latex_escaped(entry.label)]
    for metric in LATEX_METRICS:
        found = entry.figure(level, metric)
        shown = f"{found.mean:.4f}" if found.mean < best[metric] else rf"\textbf{{{found.mean:.4f}}}"
        cells.append(shown if found.deviation is None else rf"{shown} {{\scriptsize $\pm$ {found.deviation:.4f}}}")
    return " & ".join(cells)


def latex_escaped(text: str) -> str:
    return "".join(LATEX_SPECIAL.get(sign, sign) for sign in text)
