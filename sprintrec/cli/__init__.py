"""The command line. A verb is one file of this folder, named like the verb and imported only when it is called.

The file holds a function of the verb's name or, where the verb has verbs of its own (``data fetch``), a
``typer.Typer`` called ``app``. A verb listed below exists as soon as its file does. Verbs parse, call and
print; how their errors end is decided here: a ``Mistake`` is one sentence and exit code 2, ``WorkFailed``
and a refusing operating system are one sentence and 1, an interrupt is 130.
"""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from sprintrec import __version__
from sprintrec.cli.extras import what_to_type
from sprintrec.errors import Mistake, WorkFailed, nearest

VERBS = {
    "Your own log": {
        "demo": "Train, measure and compare on a real log, with nothing to prepare.",
        "train": "From an event log to a measured model: check, prepare, codes, train, evaluate.",
        "tune": "Search for better settings on validation.",
        "evaluate": "Measure a model, or the lists of any other system.",
        "recommend": "The best items for one history, or for a file of histories.",
        "items": "Add, hide or remove items of a model without training it again.",
        "serve": "Answer over HTTP, with a page to try the model on.",
        "export": "Write a model as ONNX.",
        "doctor": "Say what this machine has, what is missing and what to type.",
    },
    "Research": {
        "data": "Fetch, check and describe data sets.",
        "prepare": "Turn a log into a prepared folder.",
        "codes": "Make the semantic IDs of a prepared folder.",
        "compare": "Compare saved rows, with intervals and paired tests.",
        "methods": "List every method and what it can do.",
        "bench": "Measure speed and memory.",
        "reproduce": "Run a published result again and set both side by side.",
    },
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        called = next((word for word in arguments if not word.startswith("-")), None)
        if called is not None and called not in existing_verbs():
            raise Mistake(f"unknown verb '{called}': {nearest(called, existing_verbs())}")
        application = build(called)
        code = application(list(arguments) or ["--help"], prog_name="sprintrec", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except typer.TyperException as error:
        place = f"sprintrec {called} --help" if called else "sprintrec --help"
        return _failed(f"{error.format_message().rstrip('.')} ('{place}' lists what there is)", error.exit_code)
    except Mistake as error:
        return _failed(str(error), 2)
    except WorkFailed as error:
        return _failed(str(error), 1)
    except ModuleNotFoundError as error:
        advice = what_to_type(error.name or "")
        return _failed(f"{error.name} is not installed: type {advice}", 1) if advice else _unexpected()
    except OSError as error:
        return _failed(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}", 1)
    except MemoryError as error:
        return _failed(f"the memory of this machine does not suffice {error}".rstrip(), 1)
    except KeyboardInterrupt:
        return 130
    except Exception:
        return _unexpected()


def existing_verbs() -> list[str]:
    folder = Path(__file__).parent
    return [verb for verbs in VERBS.values() for verb in verbs if (folder / f"{verb}.py").is_file()]


def build(called: str | None) -> typer.Typer:
    """The application with one verb loaded; the others are there by name, for the overview alone."""
    application = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    application.callback()(_root)
    present = existing_verbs()
    for panel, verbs in VERBS.items():
        for verb, line in verbs.items():
            if verb == called and verb in present:
                _load(application, verb)
            elif verb in present:
                application.command(verb, help=line, rich_help_panel=panel)(_not_loaded)
    return application


def _print_version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)]


def _root(version: Version = False) -> None:
    """Train, measure and serve SPRINT, a single-step generative recommender."""


def _load(application: typer.Typer, verb: str) -> None:
    module = importlib.import_module(f"sprintrec.cli.{verb}")
    if hasattr(module, "app"):
        application.add_typer(module.app, name=verb)
    else:
        application.command(verb)(getattr(module, verb))


def _not_loaded() -> None:
    raise AssertionError("only the verb that was called is loaded")


def _failed(sentence: str, code: int) -> int:
    print(sentence, file=sys.stderr)
    return code


def _unexpected() -> int:
    traceback.print_exc()
    return _failed("This is a fault of sprintrec itself: please report it with the lines above.", 1)
