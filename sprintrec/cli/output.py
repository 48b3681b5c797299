"""What verbs print: the result on stdout, as text or as one JSON object; everything else on stderr."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]

PIPE_WIDTH = 200  # columns of a table where no terminal says how wide it is


def emit(result: Mapping[str, Any], as_json: bool, show: Callable[[], None] | None = None) -> None:
    """Print a result: as JSON, by ``show`` for people, or else one line per key."""
    if as_json:
        print(json.dumps(result, ensure_ascii=False, allow_nan=False, default=_plain))
    elif show is not None:
        show()
    else:
        for key, value in result.items():
            print(f"{key}: {value}")


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], title: str | None = None) -> None:
    """Print a table on stdout; a column of numbers stands to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(title=None if title is None else Text(title), title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for place, column in enumerate(columns):
        numbers = all(_is_number_or_empty(row[place]) for row in rows)
        grid.add_column(Text(column), justify="right" if numbers else "left")
    for row in rows:
        grid.add_row(*(Text(_cell(value)) for value in row))
    Console(width=None if sys.stdout.isatty() else PIPE_WIDTH).print(grid)


def program() -> str:
    """What to type for this program: its name, or where it was called from if the name alone is not found."""
    called = sys.argv[0]
    return called if Path(called).name == "sprintrec" and shutil.which("sprintrec") is None else "sprintrec"


def note(line: str) -> None:
    """Tell people something that is not the result."""
    print(line, file=sys.stderr, flush=True)


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yields ``advance(steps)``: a live bar on a terminal, elsewhere a plain line at every tenth."""
    if not sys.stderr.isatty():
        yield _plain_progress(what, total)
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda steps: bar.advance(task, steps)


def _plain_progress(what: str, total: int) -> Callable[[int], None]:
    done = 0

    def advance(steps: int) -> None:
        nonlocal done
        tenths_before = 10 * done // max(total, 1)
        done += steps
        if 10 * done // max(total, 1) > tenths_before:
            note(f"{what}: {done} of {total}")

    return advance


def _is_number_or_empty(value: object) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    """What JSON does not know by itself: paths, and numbers and arrays of numpy."""
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"no JSON for {value!r}")
