"""``sprintrec data``: look at a log before anything is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from sprintrec.cli.log_flags import EventsPath, ItemsPath, with_log_flags
from sprintrec.cli.output import Json, emit, table
from sprintrec.errors import Mistake
from sprintrec.tables import ReadOptions, name_of

app = typer.Typer(no_args_is_help=True, help="Fetch, check and describe data sets.")
SINGLE = (
    *("name", "users", "items", "events", "mean_length", "density", "repeats", "ties", "first_event", "last_event"),
    *("items_without_events", "items_without_text"),
)
SPREAD = ("events_per_user", "events_per_item")
Name = Annotated[str | None, typer.Option(help="What the log is called, instead of its file or folder.")]


@app.command()
@with_log_flags
def check(events: EventsPath, options: ReadOptions, items: ItemsPath = None, as_json: Json = False) -> None:
    """Say which file, row and column can't be read, and the fix. Exit code 1 if the log can't be used as it is."""
    from sprintrec.tables.checks import TooManyRejects
    from sprintrec.tables.reading import read_files

    result: dict[str, Any] = {"ok": True, "error": None, "notes": [], "rejects": []}
    try:
        reading = read_files(events, items, options)
        log = reading.log
        result |= {"users": len(log.events), "items": len(log.items), "events": len(log.events.items)}
        result |= {"notes": list(log.notes), "rejects": [some.as_json() for some in reading.rejects]}
    except TooManyRejects as error:
        result |= {"ok": False, "error": error.share, "rejects": [some.as_json() for some in error.all]}
    except Mistake as error:
        result |= {"ok": False, "error": str(error)}
    emit(result, as_json, lambda: _show_check(result))
    if not result["ok"]:
        raise typer.Exit(1)


@app.command()
@with_log_flags
def describe(
    events: EventsPath, options: ReadOptions, items: ItemsPath = None, name: Name = None, as_json: Json = False
) -> None:
    """Print how many users, items and events a log has, how they are spread, and what its items say."""
    from sprintrec.tables import read_log
    from sprintrec.tables.summary import describe as described
    from sprintrec.tables.summary import repeats_sentence

    result = described(read_log(events, items, options), name or name_of(events))
    result["advice"] = repeats_sentence(result["repeats"])
    emit(result, as_json, lambda: _show_description(result))


def _show_check(result: Mapping[str, Any]) -> None:
    for rejects in result["rejects"]:
        for example in rejects["examples"]:
            print("{file}, row {row}: {problem} ({fix})".format(**example))
        for reason, count in rejects["counts"].items():
            print(f"Of {rejects['total']:,} {rejects['kind']}: {count:,} where {reason}")
    for note in result["notes"]:
        print(note)
    if result["ok"]:
        print(f"Fine: {result['users']:,} users, {result['items']:,} items, {result['events']:,} events.")
    else:
        print(result["error"])


def _show_description(result: Mapping[str, Any]) -> None:
    single = [(key.replace("_", " "), _shown(result[key])) for key in SINGLE if result[key] is not None]
    table(("", ""), single)
    spread = [(key.replace("_", " "), *result[key].values()) for key in SPREAD]
    table(("", *result[SPREAD[0]]), spread)
    if result["fields"]:
        table(("field", "share of items"), list(result["fields"].items()))
    for note in filter(None, (*result["notes"], result["advice"])):
        print(note)


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
