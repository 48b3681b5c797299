"""The doctor says what is there, what is missing and what is broken, with what to type."""

from __future__ import annotations

import importlib
import json
import subprocess
from types import ModuleType

import pytest

from sprintrec import machine
from sprintrec.cli import doctor, main
from sprintrec.cli.extras import LIBRARIES


@pytest.fixture(autouse=True)
def _few_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """One library that is there and one that nobody has, instead of seconds of imports."""
    for name in set(LIBRARIES) - {"safetensors"}:
        monkeypatch.delitem(LIBRARIES, name)
    monkeypatch.setitem(LIBRARIES, "safetensors", ("safetensors", "train"))
    monkeypatch.setitem(LIBRARIES, "antigravity_", ("antigravity", "serve"))


def checks(capsys: pytest.CaptureFixture[str], code: int = 0) -> dict[str, dict[str, str]]:
    assert main(["doctor", "--json"]) == code
    return {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}


def test_present_and_missing(capsys: pytest.CaptureFixture[str]) -> None:
    found = checks(capsys)
    assert found["safetensors"]["state"] == "ok"
    assert found["antigravity"]["state"] == "missing"
    assert found["antigravity"]["advice"] == "pip install 'sprintrec[serve]'"
    assert int(found["cores"]["found"].split()[0]) >= 1


def test_a_library_that_fails_is_broken_and_the_exit_code_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(name: str) -> ModuleType:
        raise OSError("libsomething.so: cannot open\nsecond line") if name == "safetensors" else AssertionError

    monkeypatch.setattr(doctor.importlib, "import_module", fails)
    found = doctor._library("safetensors")
    assert found.state == "broken"
    assert found.found.endswith("OSError: libsomething.so: cannot open")
    assert "--force-reinstall" in found.advice


def test_an_old_python_is_broken(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "OLDEST_PYTHON", (99, 1))
    assert checks(capsys, code=1)["python"]["advice"] == "install Python 99.1 or newer"


def test_people_get_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    assert "pip install 'sprintrec[serve]'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("cuda", "usable", "state", "advice"),
    [(None, False, "missing", "torch is a CPU build"), ("13.0", False, "missing", "driver"), ("13.0", True, "ok", "")],
)
def test_a_gpu_beside_torch(
    cuda: str | None,
    usable: bool,
    state: str,
    advice: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch = importlib.import_module("torch")
    monkeypatch.setattr(machine, "graphics_cards", lambda: ["NVIDIA H200"])
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: usable)
    found = checks(capsys)["GPU"]
    assert (found["state"], found["found"]) == (state, "NVIDIA H200")
    assert advice in found["advice"]


def test_the_cards_are_what_the_driver_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = subprocess.CompletedProcess([], 0, stdout="NVIDIA H200\nNVIDIA L4\n", stderr="")
    monkeypatch.setattr(machine.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(machine.subprocess, "run", lambda *args, **kwargs: answer)
    assert machine.graphics_cards() == ["NVIDIA H200", "NVIDIA L4"]
    answer.returncode = 9
    assert machine.graphics_cards() == []
    monkeypatch.setattr(machine.shutil, "which", lambda name: None)
    assert machine.graphics_cards() == []
