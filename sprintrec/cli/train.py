"""``sprintrec train``: an event log in, a measured model folder and its report out."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sprintrec.cli.log_flags import EventsPath, ItemsPath, with_log_flags
from sprintrec.cli.output import Json, emit, note, program, table
from sprintrec.cli.watching import watched
from sprintrec.tables import ReadOptions, name_of

if TYPE_CHECKING:
    from sprintrec.recipe import Recipe

PANEL = "Training"
Out = Annotated[Path, typer.Option("--out", help="The model folder to make; one that is there is replaced at the end.")]
RecipeName = Annotated[str, typer.Option("--recipe", help="A recipe, a TOML file, or a method.", rich_help_panel=PANEL)]
Against = Annotated[
    str, typer.Option(help="Recipes to train for comparison, with commas; empty for none.", rich_help_panel=PANEL)
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Change a setting of the recipe.", rich_help_panel=PANEL),
]
ProtocolName = Annotated[
    str, typer.Option("--protocol", help="How to hold out: last-out, or time.", rich_help_panel=PANEL)
]
Texts = Annotated[
    str,
    typer.Option(
        help="Item vectors: auto, minilm, sentence-transformers:NAME, cooccurrence, text+cooccurrence, or a file.",
        rich_help_panel=PANEL,
    ),
]
Device = Annotated[str, typer.Option(help="cpu, cuda, or auto.", rich_help_panel=PANEL)]
Seed = Annotated[int, typer.Option(help="Where chance begins.", rich_help_panel=PANEL)]
TimeLimit = Annotated[
    float | None,
    typer.Option(min=0, help="Minutes of training per recipe; the best so far is kept.", rich_help_panel=PANEL),
]
Examples = Annotated[
    bool, typer.Option("--examples/--no-examples", help="Keep up to 200 histories, without user ids, in the model.")
]
Name = Annotated[str | None, typer.Option(help="What the log is called, instead of its file or folder.")]


@with_log_flags
def train(
    events: EventsPath,
    out: Out,
    options: ReadOptions,
    items: ItemsPath = None,
    recipe: RecipeName = "default",
    against: Against = "popular,itemknn",
    changes: Changes = None,
    protocol: ProtocolName = "last-out",
    texts: Texts = "auto",
    device: Device = "auto",
    seed: Seed = 0,
    time_limit: TimeLimit = None,
    name: Name = None,
    examples: Examples = True,
    as_json: Json = False,
) -> None:
    """From an event log to a measured model: check, prepare, codes, train, evaluate."""
    from sprintrec.build import Plan, build, work_folder
    from sprintrec.experiment import best_device
    from sprintrec.model_folder import CONFIG, MARK
    from sprintrec.prepared import refuse_to_replace
    from sprintrec.preparing import vectors_beside
    from sprintrec.tables import read_log
    from sprintrec.tables.summary import repeated_share, repeats_sentence

    out = out.resolve() if out.name in ("", "..") else out
    refuse_to_replace(out, CONFIG, MARK)
    recipes = _recipes(recipe, against, changes or [])
    log = read_log(events, items, options)
    for sentence in (*log.notes, repeats_sentence(repeated_share(log.events))):
        if sentence:
            note(sentence)
    beside = vectors_beside(events) if texts == "auto" else None
    plan = Plan(
        name=name or name_of(events),
        recipes=recipes,
        protocols=(protocol,),
        texts=str(beside or texts),
        seed=seed,
        device=best_device(device),
        time_limit=None if time_limit is None else time_limit * 60,
    )
    with work_folder(out) as work, watched(plan.time_limit) as watcher:
        try:
            built = build(log, work, plan, watcher)
            page = built.report(command=shlex.join(["sprintrec", *sys.argv[1:]]), cases=examples)
            version = built.recommender.save(out, examples=examples, beside={"report.html": page})
        except KeyboardInterrupt:
            note(f"Stopped. What was done is kept in {work}; the same command goes on from there.")
            raise
        shutil.rmtree(work)
    result: dict[str, Any] = {
        "model": str(out),
        "version": version,
        "report": str(out / "report.html"),
        "verdict": built.verdict(),
        "rows": built.rows(),
    }
    emit(result, as_json, lambda: _show(result))


def _recipes(recipe: str, against: str, changes: list[str]) -> list[Recipe]:
    """The recipe with its changes, and those to compare it with; refused here if no code table can be made for one."""
    from sprintrec.build import recipes_named
    from sprintrec.codes import names_of_tables
    from sprintrec.experiment import change

    names = dict.fromkeys([recipe, *filter(None, against.split(","))])
    recipes = recipes_named(list(names), dict(change(text) for text in changes))
    for wanted in recipes:
        if wanted.codes:
            names_of_tables(wanted.codes)
    return recipes


def _show(result: dict[str, Any]) -> None:
    rows = [
        (
            row["recipe"],
            *(row["item"][f"{metric}@10"] for metric in ("recall", "ndcg")),
            *(row["item_seen_kept"][f"{metric}@10"] for metric in ("recall", "ndcg")),
        )
        for row in result["rows"]
    ]
    table(("recipe", "R@10", "N@10", "R@10 seen kept", "N@10 seen kept"), rows, "On held-out events, per item")
    print(result["verdict"])
    print(f"The model is {result['model']} (version {result['version']}), its report {result['report']}.")
    print(f"Ask it:  {program()} recommend {result['model']} --history ITEM,ITEM")
