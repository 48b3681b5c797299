"""``sprintrec tune``: random trials on validation, poor ones given up early, the best as a recipe file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sprintrec.cli.log_flags import EventsPath, ItemsPath, with_log_flags
from sprintrec.cli.output import Json, emit, note, table
from sprintrec.cli.watching import watched
from sprintrec.tables import ReadOptions, name_of

PANEL = "Searching"
Out = Annotated[Path, typer.Option("--out", help="Folder for the prepared log, the trials and the tuned recipe.")]
RecipeName = Annotated[str, typer.Option("--recipe", help="The recipe to begin with.", rich_help_panel=PANEL)]
Trials = Annotated[
    int, typer.Option("--trials", help="How many trials there are to be in the end.", rich_help_panel=PANEL)
]
TimeLimit = Annotated[float | None, typer.Option(help="Minutes after which no trial begins.", rich_help_panel=PANEL)]
SpaceFile = Annotated[
    Path | None,
    typer.Option("--space", help="A TOML file of settings and where to look for each.", rich_help_panel=PANEL),
]
ProtocolName = Annotated[
    str, typer.Option("--protocol", help="How to hold out: last-out, or time.", rich_help_panel=PANEL)
]
Device = Annotated[str, typer.Option(help="cpu, cuda, or auto.", rich_help_panel=PANEL)]
Seed = Annotated[int, typer.Option(help="Where chance begins.", rich_help_panel=PANEL)]


@with_log_flags
def tune(
    events: EventsPath,
    out: Out,
    options: ReadOptions,
    items: ItemsPath = None,
    recipe: RecipeName = "default",
    trials: Trials = 20,
    time_limit: TimeLimit = None,
    space: SpaceFile = None,
    protocol: ProtocolName = "last-out",
    device: Device = "auto",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Search for better settings on validation. EVENTS may be a prepared folder. Stopped, it goes on where it was."""
    from sprintrec.build import Plan, prepared_log
    from sprintrec.experiment import Workbench, best_device
    from sprintrec.method import Run
    from sprintrec.prepared import Prepared
    from sprintrec.preparing import vectors_beside
    from sprintrec.recipe import find_recipe
    from sprintrec.tables import read_log
    from sprintrec.tuning import Search, Trial, as_toml, space_of

    chosen = find_recipe(recipe)
    searched = space_of(chosen.method, space)
    run = Run(best_device(device), seed)
    if (events / "meta.json").is_file():
        note(f"Searching on the prepared folder {events}.")
        prepared = Prepared.read(events)
    else:
        log = read_log(events, items, options)
        for sentence in log.notes:
            note(sentence)
        plan = Plan(name_of(events), [chosen], (protocol,), str(vectors_beside(events) or "auto"), seed)
        with watched() as watcher:
            prepared = prepared_log(log, out, plan, protocol, watcher)
    search = Search(Workbench(prepared), chosen, searched, out, run)
    if search.trials:
        note(f"{len(search.trials)} trials are there from before.")

    def tell(trial: Trial) -> None:
        end = "given up" if trial.given_up else "finished"
        what = ", ".join(f"{key} {value}" for key, value in trial.changes.items()) or "as the recipe stands"
        note(
            f"Trial {trial.number + 1} of {trials}: {trial.score:.4f}, {end} after {len(trial.scores)} epochs ({what})"
        )

    search.go(trials, None if time_limit is None else time_limit * 60, tell)
    best, file = search.best(), out / f"{chosen.name}-tuned.toml"
    file.write_text(as_toml(search.best_recipe()), encoding="utf-8")
    result: dict[str, Any] = {
        "recipe": str(file),
        "score": best.score,
        "score_before": search.trials[0].score,
        "changes": dict(best.changes),
        "trials": len(search.trials),
    }
    emit(result, as_json, lambda: _show(result, search.trials))


def _show(result: dict[str, Any], trials: list[Any]) -> None:
    ranked = sorted(trials, key=lambda trial: -trial.score)[:10]
    rows = [
        (
            trial.number + 1,
            trial.score,
            len(trial.scores),
            trial.given_up,
            ", ".join(f"{key}={value}" for key, value in trial.changes.items()) or "as the recipe stands",
        )
        for trial in ranked
    ]
    table(("trial", "validation score", "epochs", "given up", "settings"), rows, "The ten best trials")
    print(f"{result['recipe']} holds the best settings: sprintrec train ... --recipe {result['recipe']}")
