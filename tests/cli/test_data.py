"""``data check`` and ``data describe`` on small logs, clean and dirty."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sprintrec.cli import main

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    folder = tmp_path / "amazon2014_tiny"
    folder.mkdir()
    (folder / "sequences.tsv").write_text("ann\t1 2 1\nbob\t2\n")
    (folder / "items.jsonl").write_text('{"item": "1", "title": "Tea"}\n{"item": "2"}\n')
    return folder


@pytest.fixture
def dirty(tmp_path: Path) -> Path:
    rows = [f"u{n % 7},i{n % 5},{n}" for n in range(1, 101)] + ["u1,i1,soon"] * 12 + [",i1,5"]
    (tmp_path / "dirty.csv").write_text("\n".join(["user,item,time", *rows]))
    return tmp_path / "dirty.csv"


def test_describe_for_programs(clean: Path, capsys: Capture) -> None:
    assert main(["data", "describe", str(clean), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["name"], figures["users"], figures["items"], figures["events"]) == ("tiny", 2, 2, 4)
    assert figures["repeats"] == 0.25
    assert figures["headline"] == "item_seen_kept"
    assert "headline item_seen_kept" in figures["advice"]


def test_describe_for_people(clean: Path, capsys: Capture) -> None:
    assert main(["data", "describe", str(clean), "--name", "mine"]) == 0
    shown = capsys.readouterr().out
    for text in ("mine", "events per user", "title", "sequences.tsv: user from 'user'", "headline item_seen_kept"):
        assert text in shown


def test_describe_says_a_mistake_in_one_sentence(dirty: Path, capsys: Capture) -> None:
    assert main(["data", "describe", str(dirty)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(
        "13 of 113 rows can't be read: 11.5%, where --allow-bad allows 1.0%. First: dirty.csv"
    )
    assert captured.err.count("\n") == 1


def test_check_of_a_clean_log(clean: Path, capsys: Capture) -> None:
    assert main(["data", "check", str(clean)]) == 0
    assert capsys.readouterr().out.endswith("Fine: 2 users, 2 items, 4 events.\n")
    assert main(["data", "check", str(clean), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["ok"]
    assert result["events"] == 4
    assert [some["refused"] for some in result["rejects"]] == [0, 0]


def test_check_of_a_dirty_log_names_row_column_and_fix(dirty: Path, capsys: Capture) -> None:
    assert main(["data", "check", str(dirty)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("dirty.csv, row 102: column 'time' is no time stamp: 'soon' (give seconds or")
    assert sum("is no time stamp: 'soon'" in line and line.startswith("dirty.csv, row") for line in lines) == 10
    assert "dirty.csv, row 114: column 'user' is blank (fill it in or delete the row)" in lines
    assert "Of 113 rows: 12 where column 'time' is no time stamp" in lines
    assert "Of 113 rows: 1 where column 'user' is blank" in lines
    assert lines[-1] == "13 of 113 rows can't be read: 11.5%, where --allow-bad allows 1.0%"


def test_check_of_few_bad_rows_that_are_allowed(dirty: Path, capsys: Capture) -> None:
    assert main(["data", "check", str(dirty), "--allow-bad", "0.2"]) == 0
    shown = capsys.readouterr().out
    assert "dirty.csv, row 114: column 'user' is blank" in shown
    assert shown.endswith("Fine: 7 users, 5 items, 100 events.\n")


def test_check_of_what_is_no_log(tmp_path: Path, capsys: Capture) -> None:
    assert main(["data", "check", str(tmp_path / "none.csv"), "--json"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert not result["ok"]
    assert result["error"].startswith("there is no file ")


def test_wrong_use_is_no_failed_check(clean: Path, capsys: Capture) -> None:
    assert main(["data", "check", str(clean), "--format", "cvs"]) == 2
    assert "did you mean 'csv'" in capsys.readouterr().err
