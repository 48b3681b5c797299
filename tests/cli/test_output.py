"""Results on stdout, everything else on stderr."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sprintrec.cli.output import emit, note, program, progress, table


def test_json_is_one_object_and_knows_numpy_and_paths(capsys: pytest.CaptureFixture[str]) -> None:
    emit({"n": np.int64(3), "x": np.arange(2), "path": Path("a") / "b", "title": "Amélie"}, as_json=True)
    out = capsys.readouterr().out
    assert json.loads(out) == {"n": 3, "x": [0, 1], "path": str(Path("a") / "b"), "title": "Amélie"}
    assert len(out.splitlines()) == 1


@pytest.mark.parametrize("value", [float("nan"), object()])
def test_what_json_cannot_say_is_an_error(value: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        emit({"value": value}, as_json=True)


def test_text_is_a_line_per_key_or_as_shown(capsys: pytest.CaptureFixture[str]) -> None:
    emit({"users": 2, "items": 3}, as_json=False)
    assert capsys.readouterr().out == "users: 2\nitems: 3\n"
    emit({"users": 2}, as_json=False, show=lambda: print("two users"))
    assert capsys.readouterr().out == "two users\n"


def test_a_table_keeps_words_whole_and_numbers_to_the_right(capsys: pytest.CaptureFixture[str]) -> None:
    table(("method", "ndcg@10", "[codes]"), [("sprint", 0.0648, True), ("popular", None, False)], title="[beauty]")
    lines = [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines[0] == "[beauty]"
    assert lines[1].split() == ["method", "ndcg@10", "[codes]"]
    assert lines[3].split() == ["sprint", "0.0648", "yes"]
    assert lines[1].index("ndcg@10") + len("ndcg@10") == lines[3].index("0.0648") + len("0.0648")
    assert lines[4] == "popular"


def test_an_empty_table_has_its_head(capsys: pytest.CaptureFixture[str]) -> None:
    table(("a", "b"), [])
    assert capsys.readouterr().out.split()[:2] == ["a", "b"]


def test_notes_and_progress_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    note("read 5 rows")
    with progress("encoding", 20) as advance:
        for _ in range(20):
            advance(1)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == ["read 5 rows", *(f"encoding: {done} of 20" for done in range(2, 21, 2))]


def test_progress_on_a_terminal_is_a_live_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with progress("encoding", 3) as advance:
        advance(3)
    out, err = capsys.readouterr()
    assert out == ""
    assert "encoding: " not in err


@pytest.mark.parametrize(
    ("called", "found", "typed"),
    [
        (".venv/bin/sprintrec", None, ".venv/bin/sprintrec"),
        (".venv/bin/sprintrec", "/usr/bin/sprintrec", "sprintrec"),
        ("pytest", None, "sprintrec"),
    ],
)
def test_what_to_type_can_be_typed(called: str, found: str | None, typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", [called])
    monkeypatch.setattr("shutil.which", lambda name: found)
    assert program() == typed
