"""How the command line ends: exit codes, one sentence per error, and what the overview shows."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest
import typer

import sprintrec.cli
from sprintrec import __version__
from sprintrec.cli import VERBS, existing_verbs, main
from sprintrec.errors import Mistake, WorkFailed


def ending(error: BaseException) -> Callable[[], None]:
    """A verb that ends with an error."""

    def methods() -> None:
        raise error

    return methods


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (Mistake("row 3 has no item"), 2, "row 3 has no item\n"),
        (WorkFailed("the loss is no number"), 1, "the loss is no number\n"),
        (OSError(28, "No space left on device", "runs/model"), 1, "No space left on device: runs/model\n"),
        (OSError("timed out"), 1, "timed out\n"),
        (ModuleNotFoundError("", name="polars"), 1, "polars is not installed: type pip install 'sprintrec[train]'\n"),
        (MemoryError(), 1, "the memory of this machine does not suffice\n"),
        (typer.Exit(1), 1, ""),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_an_error_is_one_sentence_and_a_code(
    error: BaseException, code: int, sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sprintrec.cli.methods.methods", ending(error))
    assert main(["methods"]) == code
    assert capsys.readouterr() == ("", sentence)


@pytest.mark.parametrize("error", [ValueError("surprise"), ModuleNotFoundError("no antigravity", name="antigravity")])
def test_a_fault_of_ours_keeps_its_traceback(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sprintrec.cli.methods.methods", ending(error))
    assert main(["methods"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Traceback")
    assert str(error) in lines[-2]
    assert "please report" in lines[-1]


@pytest.mark.parametrize(
    ("words", "nearest"),
    [(["metods"], "did you mean 'methods'?"), (["methods", "--jsn"], "--json"), (["--versio"], "--version")],
)
def test_an_unknown_word_names_the_nearest(words: list[str], nearest: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert nearest in err
    assert len(err.splitlines()) == 1


def test_the_overview_shows_the_verbs_in_two_groups(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    for group, verbs in VERBS.items():
        assert group in shown
        lines = [line.strip("│ ").split()[0] for line in shown.splitlines() if line.startswith("│ ")]
        present = [verb for verb in verbs if verb in existing_verbs()]
        assert [word for word in lines if word in verbs] == present


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"{__version__}\n"


def test_only_the_called_verb_is_imported() -> None:
    code = "import sys, sprintrec.cli as cli; cli.main(['methods', '--help']); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split()
    assert "sprintrec.cli.methods" in loaded
    assert "sprintrec.cli.doctor" not in loaded


def test_every_file_beside_a_verb_is_known() -> None:
    folder = os.path.dirname(sprintrec.cli.__file__)
    files = {name.removesuffix(".py") for name in os.listdir(folder) if name.endswith(".py")}
    assert files - set(existing_verbs()) <= {"__init__", "extras", "log_flags", "output", "watching"}


def test_python_m_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "sprintrec", "metods"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean 'methods'?" in done.stderr


def test_a_closed_pipe_is_no_fault() -> None:
    command = f"{sys.executable} -m sprintrec methods --json | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert "Traceback" not in done.stderr
