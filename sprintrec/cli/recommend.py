"""``sprintrec recommend``: a saved model's answer to one history, or to a file of histories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sprintrec.cli.log_flags import with_log_flags
from sprintrec.cli.output import Json, emit, note, progress, table
from sprintrec.errors import Mistake
from sprintrec.tables import ReadOptions, read_log

if TYPE_CHECKING:
    from sprintrec.recommender import Asked, Recommender

ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="The model folder.")]
History = Annotated[
    str | None, typer.Option(metavar="ID,ID,...", help="One history, oldest first; empty for somebody new.")
]
File = Annotated[Path | None, typer.Option(help="Histories to answer: a log in any format that is read.")]
Out = Annotated[
    Path | None, typer.Option(help="Where the lists of a file go: .csv, .jsonl (both also .gz) or .parquet.")
]
Count = Annotated[int, typer.Option("-k", min=1, help="How many items are recommended.")]
KeepSeen = Annotated[bool, typer.Option("--keep-seen", help="Recommend items of the history too.")]
Device = Annotated[str, typer.Option(help="cpu, cuda, or auto.")]


@with_log_flags
def recommend(
    model: ModelPath,
    options: ReadOptions,
    history: History = None,
    file: File = None,
    out: Out = None,
    k: Count = 10,
    keep_seen: KeepSeen = False,
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """The best items for one history, or for a file of histories."""
    if (history is None) == (file is None):
        raise Mistake("give either --history ID,ID,... or --file HISTORIES")
    if (file is None) != (out is None):
        raise Mistake("--file and --out go together: histories are read from the one, lists written to the other")
    from sprintrec.recommender import Recommender

    recommender = Recommender.load(model, device)
    if file is not None and out is not None:
        result = _answer_file(recommender, file, out, options, k, not keep_seen)
        emit(result, as_json, lambda: print(f"{result['users']:,} lists are in {out}."))
    else:
        result = _answer(recommender, history or "", k, not keep_seen)
        emit(result, as_json, lambda: _show(result))


def _answer(recommender: Recommender, history: str, k: int, exclude_seen: bool) -> dict[str, Any]:
    """One answer, in the form that it has over HTTP."""
    ids = [part.strip() for part in history.split(",") if part.strip()]
    answer = recommender.recommend([ids], k, exclude_seen=exclude_seen)[0]
    if answer.unknown:
        note(f"Items that the model does not know, skipped: {', '.join(answer.unknown)}.")
    if answer.fallback:
        note("No item of the history is known, so these are popular items.")
    ranked = enumerate(zip(answer.items, answer.scores, strict=True), start=1)
    return {
        "items": [
            {"item_id": item, "score": score, "rank": rank, "title": recommender.title(item)}
            for rank, (item, score) in ranked
        ],
        "unknown": list(answer.unknown),
        "fallback": answer.fallback,
        "exclude_seen": exclude_seen,
        "model_version": recommender.model.version,
    }


def _show(result: Mapping[str, Any]) -> None:
    rows = [(item["rank"], item["item_id"], item["title"], item["score"]) for item in result["items"]]
    table(("rank", "item", "title", "score"), rows)


def _answer_file(
    recommender: Recommender, file: Path, out: Path, options: ReadOptions, k: int, exclude_seen: bool
) -> dict[str, Any]:
    from sprintrec.recommender import warnings_of
    from sprintrec.tables.lists import write_lists

    asked = recommender.asked(read_log(file, None, options))
    for sentence in warnings_of(asked):
        note(sentence)
    write_lists(out, _told(recommender, asked, k, exclude_seen))
    return {
        "out": str(out),
        "users": len(asked.users),
        "k": k,
        "exclude_seen": exclude_seen,
        "unknown_items": len(asked.unknown),
        "users_without_history": asked.without_history,
        "model_version": recommender.model.version,
    }


def _told(recommender: Recommender, asked: Asked, k: int, exclude_seen: bool) -> Iterator[Mapping[str, Any]]:
    with progress("Users answered", len(asked.users)) as advance:
        for users, columns in recommender.lists(asked, k, exclude_seen):
            yield columns
            advance(users)
