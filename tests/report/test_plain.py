"""CSV and LaTeX: every figure comes back, and nothing breaks a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sprintrec.report import SavedRow, to_csv, to_latex
from sprintrec.report.plain import latex_escaped

Made = Callable[..., SavedRow]


def test_csv_gives_every_figure_back(made: Made, code_table: dict[str, Any]) -> None:
    runs = [made("sasrec"), made("sprint", recipe='odd, "recipe"', codes=code_table, seed=3)]
    lines = list(csv.DictReader(io.StringIO(to_csv(runs))))
    for run in runs:
        mine = [line for line in lines if line["recipe"] == run.row["recipe"]]
        assert {line["seed"] for line in mine} == {str(run.row["seed"])}
        for level in ("item", "item_seen_kept", "code"):
            figures = {line["metric"]: float(line["value"]) for line in mine if line["level"] == level}
            assert figures == (run.row[level] or {})
    (one,) = [
        line for line in lines if line["method"] == "sprint" and line["level"] == "code" and line["metric"] == "mrr@5"
    ]
    assert (float(one["low"]), float(one["high"])) == runs[1].row["intervals"]["code"]["mrr@5"]
    assert (one["users"], one["codes"], one["distinct_codes"]) == ("400", "paper", "24")
    (deep,) = [
        line for line in lines if line["method"] == "sasrec" and line["level"] == "item" and line["metric"] == "mrr@100"
    ]
    assert (deep["low"], deep["codes"]) == ("", "")


def test_latex_escapes_what_it_must() -> None:
    assert latex_escaped(r"a_b & 50% #1 {x} $y$ ~ ^ \z") == (
        r"a\_b \& 50\% \#1 \{x\} \$y\$ \textasciitilde{} \textasciicircum{} \textbackslash{}z"
    )


def test_latex_tables(made: Made, hits: Any, code_table: dict[str, Any]) -> None:
    runs = [
        made("sasrec", hits(120)),
        *(
            made("sprint", hits(80 + 8 * seed, seed), recipe="sprint+k_v=1", seed=seed, codes=code_table)
            for seed in (0, 1)
        ),
    ]
    text = to_latex(runs)
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 3
    item = text.split(r"\end{table}")[0]
    assert r"\caption{beauty, leave-last-out, 400 users. Per item, seen items excluded.}" in item
    assert r"Method & R@5 & N@5 & R@10 & N@10 & R@20 & N@20 \\" in item
    assert r"\textbf{0.3000}" in item
    (line,) = [line for line in item.splitlines() if line.startswith("sprint")]
    assert line.split(" & ")[3] == r"0.2100 {\scriptsize $\pm$ 0.0141}"
    assert "paper: 24 codes for 30 items." in text


@pytest.mark.parametrize("method", ["50%_off", "a&b"])
def test_labels_are_escaped(made: Made, method: str) -> None:
    assert latex_escaped(method) in to_latex([made(method)])
    assert f"\n{method}" not in to_latex([made(method)])


def test_lines_of_a_table_have_the_same_number_of_cells(made: Made) -> None:
    lines = [
        line for line in to_latex([made("a"), made("b", np.full(400, 7, np.uint16))]).splitlines() if " & " in line
    ]
    assert {line.count(" & ") for line in lines} == {6}
