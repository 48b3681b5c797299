"""The page, read back: its figures are the rows', it is whole, safe and alone, whatever is missing."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from sprintrec.report import Background, Case, Cases, ReportInput, SavedRow, write_report
from sprintrec.report.document import VOID
from sprintrec.report.words import LEVEL_TITLES, METRICS_SHOWN

Made = Callable[..., SavedRow]
HOSTILE = '<script>alert("1")</script>'


class Page(HTMLParser):
    """Tables by caption, each a list of rows of (text, exact values); sections by title; all visible text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.tags: set[str] = set()
        self.tables: dict[str, list[list[tuple[str, list[float]]]]] = {}
        self.sections: list[str] = []
        self.text = ""
        self.caption = ""
        self.feed(html)
        self.close()
        assert self.open == [], "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in (*VOID, "wbr"):
            self.open.append(tag)
        if tag == "table":
            self.caption = ""
        elif tag == "thead":
            self.tables[self.caption] = []
        elif tag == "tr":
            self.tables[self.caption].append([])
        elif tag in ("th", "td"):
            self.tables[self.caption][-1].append(("", []))
        elif tag == "data":
            self.tables[self.caption][-1][-1][1].append(float(dict(attrs)["value"] or ""))
        elif tag == "h3":
            self.sections.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data
        if "caption" in self.open[-1:]:
            self.caption += data
        elif "table" in self.open and {"th", "td"} & set(self.open):
            text, values = self.tables[self.caption][-1][-1]
            self.tables[self.caption][-1][-1] = (text + data, values)
        elif self.open[-1:] == ["h3"]:
            self.sections[-1] += data

    def row(self, caption: str, name: str) -> list[tuple[str, list[float]]]:
        (row,) = [row for row in self.tables[caption] if row and row[0][0] == name]
        return row


def read(tmp_path: Path, runs: list[SavedRow], **about: Any) -> Page:
    return Page(write_report(runs, tmp_path / "report.html", ReportInput(**about)).read_text())


@pytest.fixture
def three(made: Made, hits: Any, code_table: dict[str, Any]) -> list[SavedRow]:
    return [
        made("popular", hits(60, 1)),
        made("sasrec", hits(120, 2), epochs=4),
        made("sprint", hits(110, 3), recipe="demo", codes=code_table, epochs=60),
    ]


def test_every_level_shows_the_rows_figures(three: list[SavedRow], tmp_path: Path) -> None:
    page = read(tmp_path, three)
    for level, title in LEVEL_TITLES.items():
        shown = [run for run in three if run.row[level]]
        assert len(page.tables[title]) == len(shown) + 1
        for run in shown:
            name = run.row["method"] + ("demo" if run.row["codes"] else "") + (" · 24 codes" if level == "code" else "")
            cells = page.row(title, name)[-len(METRICS_SHOWN) :]
            for metric, (text, values) in zip(METRICS_SHOWN, cells, strict=True):
                value = run.row[level][metric]
                low, high = run.row["intervals"][level][metric]
                assert values == [value]
                assert text == f"{value:.4f}{low:.4f}–{high:.4f}"


def test_distinct_codes_stand_beside_figures_per_code(three: list[SavedRow], tmp_path: Path) -> None:
    page = read(tmp_path, three)
    assert page.row(LEVEL_TITLES["code"], "sprintdemo · 24 codes")
    assert "paper: 24 codes for 30 items" in page.text
    assert [text for text, _ in page.row("Code tables", "paper")] == ["paper", "30", "24"]


def test_the_dot_plot_is_a_table_too(three: list[SavedRow], tmp_path: Path) -> None:
    page = read(tmp_path, three)
    rows = page.tables["N@10 on test, 400 users"][1:]
    assert [row[0][0] for row in rows] == ["sasrec", "sprintdemo", "popular"]
    expected = [three[2].row[level]["ndcg@10"] for level in ("item", "item_seen_kept", "code")]
    assert [value for _, values in rows[1] for value in values] == expected
    assert rows[0][-1] == ("–", [])


def test_the_verdict_opens_the_page(three: list[SavedRow], tmp_path: Path) -> None:
    page = read(tmp_path, three)
    assert page.text.index("No difference between sasrec and sprint") < page.text.index("Protocol")
    tested = page.tables["sasrec against the others"]
    assert [row[0][0] for row in tested[1:]] == ["sprintdemo", "popular"]
    better, equal, worse = (values[0] for _, values in tested[2][-3:])
    assert better + equal + worse == 400


def test_slices_have_counts_and_intervals(three: list[SavedRow], tmp_path: Path) -> None:
    page = read(tmp_path, three)
    head, *_ = page.tables["By history length"]
    assert [text for text, _ in head] == ["Method", "3 to 4300 users", "20+100 users"]
    assert page.row("By history length", "popular")[2] == ("0.50000.4038–0.5962N 0.3750", [0.5])


def test_an_entry_that_was_cut_otherwise_is_left_out(three: list[SavedRow], made: Made, tmp_path: Path) -> None:
    other = {"history length": {"3+": three[0].row["slices"]["history length"]["20+"]}}
    page = read(tmp_path, [*three, made("ease", slices=other), made("ease", seed=1)])
    assert len(page.tables["By history length"]) == 1 + 3


def test_seeds_cut_in_two_ways_have_no_slices(made: Made, tmp_path: Path) -> None:
    page = read(tmp_path, [made(), made(seed=1, slices={"history length": {}})])
    assert "By history length" not in page.tables


def test_learning_curves_have_a_panel_and_a_table(three: list[SavedRow], tmp_path: Path) -> None:
    page = read(tmp_path, three)
    labels = [value for key, value in page.attributes if key == "aria-label"]
    assert "Validation N@10 of sprint by epoch: 0.6000 in epoch 60, which was kept" in labels
    assert "Loss of sasrec by epoch: from 9.00 to 6.00" in labels
    _, heads, *rows = page.tables["Learning curves, every 3 epochs"]
    assert len(heads) == 5
    assert [row[0][0] for row in rows[:2]] == ["1", "4"]
    assert [values for _, values in rows[1][1:]] == [[6.0], [0.04], [6.0], [0.04]]
    assert [values for _, values in rows[-1][1:]] == [[], [], [-50.0], [0.6]]
    assert rows[-1][0][0] == "60"


def test_the_epoch_kept_is_the_rows_not_the_highest(made: Made, tmp_path: Path) -> None:
    run = made("sasrec", epochs=3)
    run = SavedRow({**run.row, "seconds": {**run.row["seconds"], "best_epoch": 1}}, run.ranks, run.curve)
    labels = [value for key, value in read(tmp_path, [run]).attributes if key == "aria-label"]
    assert "Validation N@10 of sasrec by epoch: 0.0200 in epoch 2, which was kept" in labels


def test_published_figures_stand_beneath_ours(three: list[SavedRow], made: Made, tmp_path: Path) -> None:
    page = read(tmp_path, [*three, made("bsarec")])
    row = page.row("Ours and published", "sasrec")
    ours = three[1].row["item"]["ndcg@10"]
    heads = [text for text, _ in page.tables["Ours and published"][0]]
    assert row[heads.index("N@10")] == (f"{ours:.4f}0.0318 · +{100 * ours / 0.0318 - 100:.0f} %", [ours])
    assert row[1][0] == "per item"
    assert row[heads.index("N@20")] == ("–", [])
    assert page.row("Ours and published", "sprintdemo")[1][0] == "per code"


def test_seeds_are_told_apart(made: Made, hits: Any, tmp_path: Path) -> None:
    runs = [made("sprint", hits(100 + 20 * seed), seed=seed, epochs=2) for seed in (0, 1)]
    page = read(tmp_path, runs)
    _, mean, deviation, extent, *_ = page.row("Spread over seeds", "sprint2 seeds")
    values = [run.row["item"]["ndcg@10"] for run in runs]
    assert mean[1] == [pytest.approx(sum(values) / 2)]
    assert deviation[1] == [pytest.approx(abs(values[0] - values[1]) / 2**0.5)]
    assert extent[0] == f"{min(values):.4f}–{max(values):.4f}"
    assert page.row("Per seed, on average", "sprint2 seeds")[2] == ("1 min 1 s", [61.4])


def test_the_background_is_told(three: list[SavedRow], tmp_path: Path) -> None:
    case = Case([f"Stone {place}" for place in range(8)], "Stone 9", 2, ["Stone 1", "Stone 9"])
    bad = Case(["Stone 1"], "Stone 2", 1001, ["Stone 3"])
    quality = {
        "name": "paper",
        "items": 30,
        "distinct": 24,
        "collision_rate": 0.4,
        "dead_tokens": [0, 3],
        "reconstruction_error": None,
        "entropy_bits": [2.5, 1.25],
        "largest_bucket": {"items": 4, "code": [1, 2], "titles": ["Twin", "Other twin"]},
    }
    background = Background(
        notes=["The k-core leaves 400 users."],
        repeat_share=0.004,
        audit=["No event is both in training and in test.", "BROKEN SPLIT: all is lost."],
        codes=[quality],
        cases=Cases("sasrec", [case], [bad]),
    )
    page = read(tmp_path, three, command="make demo", backgrounds={("beauty", "last-out"): background})
    for said in (
        "The k-core leaves 400 users.",
        "0.4 % of events repeat",
        "BROKEN SPLIT: all is lost.",
        "4 items share the code 1 2",
        "Other twin",
        "After 3 others took Stone 3 → Stone 4",
        "place 2",
        "not among the first 1,000",
        "make demo",
        "the last 20 items for sasrec and sprint; no such limit is set for popular",
    ):
        assert said.lower() in page.text.replace("\N{NO-BREAK SPACE}", " ").lower()
    cells = [text for text, _ in page.row("Code tables", "paper")]
    assert cells == ["paper", "30", "24", "40.0 %", "4 items", "0, 3", "2.50, 1.25"]
    assert ("class", "hit") in page.attributes
    assert ("class", "warning") in page.attributes


def test_many_repeats_bring_seen_kept_to_the_front(three: list[SavedRow], tmp_path: Path) -> None:
    page = read(tmp_path, three, backgrounds={("beauty", "last-out"): Background(repeat_share=0.25)})
    captions = [caption for caption in page.tables if caption.startswith("Per ")]
    assert captions[0] == LEVEL_TITLES["item_seen_kept"]
    assert "25.0 % of events repeat an item of the user's own past, more than 1.0 %" in page.text
    assert "per item with seen items kept" in page.text[: page.text.index("Protocol")]


@pytest.mark.parametrize("kept", [True, False])
def test_one_method_alone(made: Made, tmp_path: Path, kept: bool) -> None:
    page = read(tmp_path, [made(keep_ranks=kept, beyond={}, slices={})])
    assert page.sections == ["Protocol", "Results", "Cost", "Made by"]
    assert "It stands alone" in page.text


def test_rows_without_ranks_have_no_tests(made: Made, tmp_path: Path) -> None:
    page = read(tmp_path, [made("a", keep_ranks=False), made("b", keep_ranks=False)])
    assert "Differences" not in page.sections
    assert "no paired test can say" in page.text


def test_a_method_that_never_hits(made: Made, hits: Any, tmp_path: Path) -> None:
    page = read(tmp_path, [made("a", hits(0)), made("sasrec", hits(0))])
    assert page.row(LEVEL_TITLES["item"], "a")[1][1] == [0.0]
    assert "−100 %" in page.row("Ours and published", "sasrec")[2][0]


def test_several_boards_are_listed_first(made: Made, tmp_path: Path) -> None:
    page = read(tmp_path, [made(), made(protocol="time"), made(dataset="toys & co")])
    targets = {value for key, value in page.attributes if key == "href"}
    assert targets == {"#beauty-last-out", "#beauty-time", "#toys___co-last-out"}
    assert {target[1:] for target in targets if target} <= {value for key, value in page.attributes if key == "id"}
    assert "Nobody's later events are trained on" in page.text


def test_hostile_titles_do_nothing(three: list[SavedRow], made: Made, tmp_path: Path) -> None:
    case = Case([HOSTILE] * 3, HOSTILE, 1, [HOSTILE])
    bucket = {
        "largest_bucket": {"items": 2, "code": [1], "titles": [HOSTILE]},
        "name": HOSTILE,
        "items": 2,
        "distinct": 1,
    }
    background = Background([HOSTILE], 0.0, [HOSTILE], [bucket], Cases(HOSTILE, [case], [case]))
    runs = [
        *three,
        made(HOSTILE, recipe=HOSTILE, slices={HOSTILE: {"1+": three[0].row["slices"]["history length"]["20+"]}}),
    ]
    page = read(tmp_path, runs, title=HOSTILE, command=HOSTILE, backgrounds={("beauty", "last-out"): background})
    assert "script" not in page.tags
    assert page.text.count(HOSTILE) > 15


def test_the_page_is_alone_in_the_world(three: list[SavedRow], tmp_path: Path) -> None:
    case = Case(["a"], "b", 1, ["c"])
    about = {("beauty", "last-out"): Background(cases=Cases("sasrec", [case], [case]))}
    page = read(tmp_path, three, backgrounds=about)
    html = (tmp_path / "report.html").read_text()
    assert not re.search(r"https?:|//[a-z]|url\(|@import|<link|<img|<iframe|javascript:| on[a-z]+=", html)
    assert {key for key, _ in page.attributes}.isdisjoint({"src", "srcset", "style"})
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in page.attributes


def test_the_same_rows_make_the_same_page(three: list[SavedRow], tmp_path: Path) -> None:
    pages = [write_report(three, tmp_path / name).read_bytes() for name in ("a.html", "b/c.html")]
    assert pages[0] == pages[1]
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["a.html"]
