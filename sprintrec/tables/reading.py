"""The whole way from files or tables to a log, with what was refused on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sprintrec.errors import Mistake
from sprintrec.records import Log
from sprintrec.tables.arrange import arranged
from sprintrec.tables.catalogue import Catalogue, read_catalogue
from sprintrec.tables.checks import Rejects, enforce, write_rejects
from sprintrec.tables.files import PART
from sprintrec.tables.formats import format_called, format_of_events, format_of_items
from sprintrec.tables.frames import events_table, items_list
from sprintrec.tables.intake import gather
from sprintrec.tables.options import ReadOptions
from sprintrec.tables.table import ItemList, Table

MOST_NAMED = 5


@dataclass(frozen=True)
class Reading:
    """A log and what was refused while reading it."""

    log: Log
    rejects: Sequence[Rejects]


def read_files(events: Path, items: Path | None, options: ReadOptions) -> Reading:
    """A reading of a file or folder of events and an item list."""
    if options.rejects is not None and options.rejects.resolve() in {events.resolve(), items and items.resolve()}:
        raise Mistake(f"--rejects {options.rejects} is what is read: name another file, or it would be lost")
    name = options.format or format_of_events(events)
    format_ = format_called(name)
    tables = format_.events(events, options)
    notes = [f"{events.name} is read as {name}.", *_parts_note(events, tables)]
    if items is not None:
        return _read(tables, format_called(format_of_items(items)).items(items, options), options, notes)
    beside = format_.items_beside(events)
    if beside is None:
        return _read(tables, None, options, notes)
    notes.append(f"Items are taken from {beside.name} beside it.")
    return _read(tables, format_.items(beside, options), options, notes)


def read_frames(events: Any, items: Any, options: ReadOptions) -> Reading:
    """A reading of tables in memory."""
    return _read([events_table(events)], None if items is None else items_list(items), options, [])


def _read(tables: Sequence[Table], listed: ItemList | None, options: ReadOptions, notes: Sequence[str]) -> Reading:
    intake = gather(tables, options)
    wanted = set(intake.item_ids) if options.used_items_only else None
    catalogue = Catalogue() if listed is None else read_catalogue(listed, options, wanted)
    rejects = [intake.rejects, catalogue.rejects]
    if options.rejects is not None:
        write_rejects(options.rejects, [reject for some in rejects for reject in some.rows])
    enforce(rejects, options)
    refused = [some.sentence() for some in rejects if some.refused]
    log = arranged(intake, catalogue, options, [*notes, *refused])
    return Reading(log, rejects)


def _parts_note(events: Path, tables: Sequence[Table]) -> list[str]:
    """Which files make up the log, where that is not plain from the path."""
    if len(tables) > 1:
        names = [table.source for table in tables]
        listed = ", ".join(names) if len(names) <= MOST_NAMED else f"{names[0]} to {names[-1]}"
        return [f"{len(names)} files are one log: {listed}."]
    if PART.fullmatch(events.name):
        return [f"{events.name} is one part of a log that was split; the other parts do not lie beside it."]
    return []
