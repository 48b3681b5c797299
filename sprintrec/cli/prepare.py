"""``sprintrec prepare``: a log in, a prepared folder out, with item vectors and code tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sprintrec.cli.log_flags import EventsPath, ItemsPath, with_log_flags
from sprintrec.cli.output import Json, emit, note
from sprintrec.tables import ReadOptions, name_of

Out = Annotated[Path, typer.Option("--out", help="The folder to write; a prepared folder in its place is replaced.")]
ProtocolName = Annotated[str, typer.Option("--protocol", help="How to hold out: last-out, or time.")]
Texts = Annotated[
    str,
    typer.Option(
        help="Item vectors: auto, minilm, sentence-transformers:NAME, cooccurrence, text+cooccurrence, or a file."
    ),
]
CodeNames = Annotated[
    str, typer.Option("--codes", help="Code tables, with commas: kind, digits x tokens, -unique; empty for none.")
]
Name = Annotated[str | None, typer.Option(help="What the log is called, instead of its file or folder.")]
Seed = Annotated[int, typer.Option(help="Where chance begins.")]


@with_log_flags
def prepare(
    events: EventsPath,
    out: Out,
    options: ReadOptions,
    items: ItemsPath = None,
    protocol: ProtocolName = "last-out",
    texts: Texts = "auto",
    codes: CodeNames = "opq4x256-unique",
    name: Name = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Turn a log into a prepared folder: all that training and measuring need."""
    from sprintrec.cli.watching import Screen
    from sprintrec.codes import names_of_tables
    from sprintrec.preparing import prepare as prepared_from
    from sprintrec.preparing import vectors_beside
    from sprintrec.tables import read_log

    names = names_of_tables(codes)
    log = read_log(events, items, options)
    for sentence in log.notes:
        note(sentence)
    beside = vectors_beside(events) if texts == "auto" else None
    screen = Screen()
    made = prepared_from(
        log, out, name or name_of(events), protocol, str(beside or texts), names, seed, screen.say, screen.advance
    )
    told = ("name", "protocol", "users", "items", "events", "data_hash", "texts")
    result: dict[str, Any] = {"folder": str(out), **{key: made.meta[key] for key in told}}
    result["codes"] = [made.quality(table) for table in names]
    emit(result, as_json, lambda: print(f"{out} is prepared: {log_sentence(result)}."))


def log_sentence(result: dict[str, Any]) -> str:
    counts = ", ".join(f"{result[kind]:,} {kind}" for kind in ("users", "items", "events"))
    tables = ", ".join(quality["name"] for quality in result["codes"]) or "none"
    return f"{result['name']}, {counts}, protocol {result['protocol']}, code tables {tables}"
