"""``sprintrec evaluate``: a saved model, or another system's lists, measured on a log's held-out part."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sprintrec.cli.log_flags import with_log_flags
from sprintrec.cli.output import Json, emit, note, table
from sprintrec.errors import Mistake
from sprintrec.tables import ReadOptions, name_of, read_log

if TYPE_CHECKING:
    from sprintrec.records import Log

CUTS = (5, 10, 20)
READINGS = {"item": "item", "item_seen_kept": "item, seen kept", "code": "code"}

ModelPath = Annotated[Path | None, typer.Argument(metavar="MODEL", help="The model folder; or --lists.")]
Data = Annotated[Path, typer.Option(metavar="LOG", help="The log whose held-out events are asked for.")]
ItemList = Annotated[Path | None, typer.Option(metavar="ITEMS", help="The item list of the log, where it has one.")]
Lists = Annotated[
    Path | None,
    typer.Option(help="Lists of another system: user, TAB, items best first; or a table of user, item and rank."),
]
ProtocolName = Annotated[
    str | None, typer.Option("--protocol", help="How to hold out: last-out, or time. Otherwise the model's own.")
]
Device = Annotated[str, typer.Option(help="cpu, cuda, or auto.")]


@with_log_flags
def evaluate(
    data: Data,
    options: ReadOptions,
    model: ModelPath = None,
    lists: Lists = None,
    items: ItemList = None,
    protocol: ProtocolName = None,
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Measure a model, or the lists of any other system."""
    if (model is None) == (lists is None):
        raise Mistake("give either a model folder, or --lists with the lists of another system")
    log = read_log(data, items, options)
    measured = _of_lists(lists, log, protocol) if model is None else _of_model(model, log, protocol, device)
    result = {"dataset": name_of(data), **measured}
    for sentence in result["notes"]:
        note(sentence)
    emit(result, as_json, lambda: _show(result))


def _of_model(model: Path, log: Log, protocol: str | None, device: str) -> dict[str, Any]:
    from sprintrec.recommender import Recommender

    recommender = Recommender.load(model, device)
    measured = recommender.measured_on(log, protocol)
    return {"model": str(model), "model_version": recommender.model.version, **measured}


def _of_lists(lists: Path | None, log: Log, protocol: str | None) -> dict[str, Any]:
    from sprintrec.measuring import measure_lists
    from sprintrec.tables.lists import read_lists

    assert lists is not None
    return {"lists": str(lists), **measure_lists(read_lists(lists), log, protocol or "last-out")}


def _show(result: Mapping[str, Any]) -> None:
    measured = [reading for reading in READINGS if result.get(reading)]
    keys = [key for cut in CUTS for key in (f"recall@{cut}", f"ndcg@{cut}") if key in result[measured[0]]]
    rows = [(READINGS[reading], *(result[reading][key] for key in keys)) for reading in measured]
    print(f"{result['questions']:,} held-out events of {result['dataset']}, {result['protocol']}, full ranking:")
    table(("", *keys), rows)
