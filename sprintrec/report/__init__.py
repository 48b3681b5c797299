"""Saved rows to tables, figures and one HTML page; also CSV and LaTeX. Reads rows, never a running model.

rows = read_saved("runs")
write_report(rows, "report.html", ReportInput(command="make demo"))
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from sprintrec.report.about import Background, Case, Cases, ReportInput, draw_cases
from sprintrec.report.board import Board, SavedRow, boards, read_saved
from sprintrec.report.page import page
from sprintrec.report.plain import to_csv, to_latex
from sprintrec.report.verdict import Verdict, paired_tests, verdict

__all__ = [
    "Background",
    "Board",
    "Case",
    "Cases",
    "ReportInput",
    "SavedRow",
    "Verdict",
    "boards",
    "draw_cases",
    "paired_tests",
    "read_saved",
    "to_csv",
    "to_latex",
    "verdict",
    "write_report",
]


def write_report(rows: Iterable[SavedRow], out: str | Path, about: ReportInput | None = None) -> Path:
    """Write the page, whole or not at all. The same rows make the same page."""
    about, out = about or ReportInput(), Path(out)
    text = page(boards(rows, about.backgrounds), about)
    out.parent.mkdir(parents=True, exist_ok=True)
    draft = out.with_name(f".{out.name}.draft")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, out)
    return out
