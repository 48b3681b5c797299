"""``sprintrec codes``: make code tables of a prepared folder, take over one made elsewhere, or list what is there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sprintrec.cli.output import Json, emit, table

Folder = Annotated[Path, typer.Argument(metavar="PREPARED", help="A prepared folder.")]
Make = Annotated[
    str,
    typer.Option("--make", help="Code tables to make, with commas: kind, digits x tokens, -unique: opq4x256-unique."),
]
Given = Annotated[
    Path | None, typer.Option("--given", help="A table made elsewhere: lines of item, tab, tokens with blanks.")
]
Name = Annotated[str | None, typer.Option(help="What the given table is called, instead of its file.")]
Seed = Annotated[int, typer.Option(help="Where chance begins.")]


def codes(
    folder: Folder, make: Make = "", given: Given = None, name: Name = None, seed: Seed = 0, as_json: Json = False
) -> None:
    """Make the semantic IDs of a prepared folder; without --make and --given, list its tables."""
    from sprintrec.cli.watching import Screen
    from sprintrec.codes import names_of_tables
    from sprintrec.codes.given import read_table
    from sprintrec.codes.quality import quality
    from sprintrec.prepared import Prepared, write_codes
    from sprintrec.preparing import add_codes, titles

    names = names_of_tables(make)
    found = Prepared.read(folder)
    screen = Screen()
    if given is not None:
        items = found.items()
        taken = read_table(given, items.ids, name)
        write_codes(found, taken, quality(taken, found.vectors(), titles(items)))
    add_codes(found, names, seed, screen.say, screen.advance)
    reports = [found.quality(each) for each in found.code_names()]
    emit({"folder": str(folder), "codes": reports}, as_json, lambda: _show(reports))


def _show(reports: list[dict[str, Any]]) -> None:
    columns = ("code table", "digits x tokens", "distinct", "share theirs", "largest", "unused tokens", "vector lost")
    rows = [
        (
            report["name"],
            f"{report['digits']} x {max(report['tokens'])}",
            report["distinct"],
            f"{report['collision_rate']:.1%}",
            report["largest_bucket"]["items"],
            sum(report["dead_tokens"]),
            report["reconstruction_error"],
        )
        for report in reports
        if report
    ]
    table(columns, rows)
