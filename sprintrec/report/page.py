"""The page: one HTML file that needs nothing else, neither network nor script, and no running model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files

from sprintrec.report import behaviour, conditions, learning, results
from sprintrec.report.about import ReportInput
from sprintrec.report.board import HEADLINE_METRIC, Board
from sprintrec.report.document import Markup, tag
from sprintrec.report.verdict import PairedTest, Verdict, paired_tests, verdict
from sprintrec.report.words import joined

# Nothing may be loaded from anywhere, whatever a title or a note says.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(found: Sequence[Board], about: ReportInput) -> str:
    title = about.title or f"Evaluation: {joined(list(dict.fromkeys(board.dataset for board in found)))}"
    style = (files("sprintrec.report") / "page.css").read_text(encoding="utf-8")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("title", title),
        tag("style", Markup(style)),
    )
    judged = [_judged(board) for board in found]
    contents = [_contents(judged)] if len(judged) > 1 else []
    shown = [tag("article", *_article(one, about), class_="board", id=_anchor(one)) for one in judged]
    body = tag("body", tag("main", tag("h1", title), *contents, *shown))
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


@dataclass(frozen=True)
class Judged:
    board: Board
    tests: Sequence[PairedTest]
    verdict: Verdict


def _judged(board: Board) -> Judged:
    tests = paired_tests(board, board.headline, HEADLINE_METRIC)
    return Judged(board, tests, verdict(board, tests))


def _contents(judged: Sequence[Judged]) -> Markup:
    """All verdicts at a glance, where there is more than one."""
    lines = [
        tag("li", tag("a", one.board.place, href=f"#{_anchor(one)}"), f": {one.verdict.sentence}") for one in judged
    ]
    return tag("ul", *lines, class_="summary")


def _article(one: Judged, about: ReportInput) -> Iterator[Markup]:
    board, said = one.board, one.verdict
    lines = [tag("p", said.sentence, class_="verdict"), tag("p", _held(said.detail), class_="detail")]
    yield tag("header", tag("h2", board.place), *lines, class_="opening")
    yield from conditions.protocol(board)
    yield from results.results(board)
    yield from results.differences(board, one.tests)
    yield from results.seeds(board)
    yield from results.in_print(board)
    yield from behaviour.slices(board)
    yield from learning.learning(board)
    yield from behaviour.beyond_accuracy(board)
    yield from behaviour.codes(board)
    yield from behaviour.cases(board)
    yield from conditions.leaks(board)
    yield from conditions.cost(board)
    yield from conditions.surroundings(board, about.command)


def _anchor(one: Judged) -> str:
    return re.sub(r"[^\w.-]", "_", f"{one.board.dataset}-{one.board.protocol}")


def _held(text: str) -> str:
    """What belongs together stays on one line: "p = 0.31" and "95 %"."""
    return re.sub(r"(?<=p) (?=[<=])|(?<=[<=]) (?=\d)|(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", text)
