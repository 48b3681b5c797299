"""The Python face: a log in, a trained model that is asked, measured, saved and loaded with ids as strings.

    model = Recommender.fit(events, items)
    model.recommend([["apple", "pear"]], k=5)
    model.save("model")
    model = Recommender.load("model")

Tables are taken from pandas, polars or Arrow, and given back in kind.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from sprintrec import settings as setting_files
from sprintrec.errors import Mistake
from sprintrec.measuring import measure_model, renumbered, row_by_id, rows_of
from sprintrec.method import Method, Run, find_method
from sprintrec.model_folder import ModelFolder, read_model, write_model
from sprintrec.recipe import find_recipe
from sprintrec.records import Events, HeldOut, Histories, Log, Past
from sprintrec.tables import ReadOptions, from_frames, name_of, read_log

if TYPE_CHECKING:
    from sprintrec.experiment import Result, Workbench

POPULAR = "popular"
BLOCK = 4096  # histories of a log answered at once
EXAMPLES = 200
SHOWN_UNKNOWN = 5
FLAGS = ("uses_codes", "uses_vectors", "ranks_cold_items", "trained_by_gradient")


@dataclass(frozen=True)
class Recommendation:
    """The answer to one history: items with their scores, best first."""

    items: Sequence[str]
    scores: Sequence[float]
    unknown: Sequence[str] = ()  # items of the history that the model does not know; they were skipped
    fallback: str | None = None  # "popular" where no item of the history is known


@dataclass(frozen=True)
class Asked:
    """The histories of a log as the model knows them."""

    users: Sequence[str]
    histories: Histories
    unknown: Sequence[str]

    @property
    def without_history(self) -> int:
        return int((self.histories.lengths == 0).sum())


class Recommender:
    """A fitted method and the folder that it is saved as."""

    def __init__(self, method: Method, model: ModelFolder) -> None:
        self.method, self.model = method, model
        self._row_of = row_by_id(model.items.ids)
        self._ids = np.array(model.items.ids, object)

    @classmethod
    def fit(
        cls,
        events: Any,
        items: Any = None,
        *,
        recipe: str = "default",
        settings: Mapping[str, Any] | None = None,
        protocol: str = "last-out",
        texts: str = "auto",
        device: str = "auto",
        seed: int = 0,
        time_limit: float | None = None,
        options: ReadOptions | None = None,
        folder: str | Path | None = None,
        say: Callable[[str], None] = lambda sentence: None,
    ) -> Recommender:
        """Train and measure a recipe on a log: tables, or paths of files.

        ``settings`` changes single settings of the recipe, ``time_limit`` is in seconds of training, ``folder``
        keeps the prepared log, ``say`` is told what goes on (``print``, say).
        """
        from sprintrec.experiment import Workbench, best_device
        from sprintrec.preparing import prepare, vectors_beside

        chosen, device = find_recipe(recipe, settings), best_device(device)
        log = log_of(events, items, options)
        for note in log.notes:
            say(note)
        name = "log"
        if isinstance(events, (str, Path)):
            name = name_of(Path(events))
            texts = str(vectors_beside(Path(events)) or texts) if texts == "auto" else texts
        codes = [chosen.codes] if chosen.codes else []
        with _kept_or_temporary(folder) as place:
            made = prepare(log, place, name, protocol, texts, codes, seed, say)
            bench = Workbench(made)
            run = Run(device, seed, time_limit=time_limit, on_epoch=lambda record: say(_told(record)))
            return cls.of(bench, bench.run(chosen, run))

    @classmethod
    def of(cls, bench: Workbench, result: Result) -> Recommender:
        """What a run left behind, as something that can be asked and saved."""
        method, row, prepared = result.method, result.row, bench.prepared
        past = prepared.past(bench.split, row["codes"]["name"] if method.uses_codes else None, method.uses_vectors)
        config = {
            **{key: row[key] for key in ("dataset", "method", "recipe", "seed", "protocol", "settings")},
            "flags": {flag: getattr(method, flag) for flag in FLAGS},
            "parameters": row["parameters"],
            "codes": row["codes"] if method.uses_codes else None,
            "texts": row["texts"] if method.uses_codes or method.uses_vectors else None,
            "data_hash": row["data_hash"],
            "counts": {
                **{key: prepared.meta[key] for key in ("users", "items", "events")},
                "training_events": len(past.events.items),
            },
        }
        items = prepared.items()
        model = ModelFolder(
            config=config,
            state=method.state(),
            items=items,
            popularity=past.popularity(),
            metrics=row,
            codes=past.codes,
            # A copy: the prepared folder may be gone before the model is saved.
            vectors=None if past.vectors is None else np.array(past.vectors, np.float16),
            examples=examples_of(bench.split.test, items.ids),
        )
        return cls(method, model)

    @classmethod
    def load(cls, path: str | Path, device: str = "cpu") -> Recommender:
        """A saved model; a folder that was altered or holds a pickle is refused."""
        if device != "cpu":
            from sprintrec.experiment import best_device

            device = best_device(device)
        model = read_model(path)
        try:
            return cls(restored(model, device), model)
        except (Mistake, LookupError, ValueError, TypeError, RuntimeError) as error:
            written_by, method = model.config.get("written_by"), model.config.get("method")
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise Mistake(
                f"{path} was written by {written_by}, and its method '{method}' can't be taken up here ({reason}): "
                "train it again, or install the sprintrec that wrote it"
            ) from error

    def save(self, path: str | Path, *, examples: bool = True, beside: Mapping[str, str] | None = None) -> str:
        """Publish the model folder in one step and give its version; ``beside`` adds texts, a report say."""
        model = self.model if examples else replace(self.model, examples=())
        return write_model(path, model, beside).version

    @property
    def metrics(self) -> Mapping[str, Any]:
        """The result row: how the model was measured when it was fitted."""
        return self.model.metrics

    def evaluate(
        self,
        events: Any = None,
        items: Any = None,
        *,
        protocol: str | None = None,
        options: ReadOptions | None = None,
    ) -> Mapping[str, Any]:
        """The figures on the held-out part of a log; without one, those of the log it was fitted on."""
        if events is None:
            return self.metrics
        return self.measured_on(log_of(events, items, options), protocol)

    def measured_on(self, log: Log, protocol: str | None = None) -> Mapping[str, Any]:
        """The figures on a log that was read already."""
        return measure_model(self.model, self.method, log, protocol or self.model.config["protocol"])

    def title(self, item: str) -> str:
        """What people call an item of the catalogue, where its title is known."""
        return str(self.model.items.fields[self._row_of[item]].get("title", ""))

    def recommend(
        self, histories: Any, k: int = 10, exclude_seen: bool = True, *, options: ReadOptions | None = None
    ) -> Any:
        """The best k items for every history, without those in the history unless told otherwise.

        A list of lists of item ids, oldest first, gives a list of Recommendation. A table with a user and an
        item column, read as a log is (``options``), gives one of the same kind: user_id, item_id, score, rank.
        """
        if is_table(histories):
            from sprintrec.tables.frames import of_the_same_kind

            asked = self.asked(from_frames(histories, None, options))
            for sentence in warnings_of(asked):
                warnings.warn(sentence, stacklevel=2)
            blocks = [columns for _, columns in self.lists(asked, k, exclude_seen)]
            columns = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
            return of_the_same_kind(histories, {name: column.tolist() for name, column in columns.items()})
        return self._recommendations(checked(histories), k, exclude_seen)

    def asked(self, log: Log) -> Asked:
        """A log's histories in this model's rows."""
        rows = rows_of(log.items.ids, self._row_of)
        unknown = [log.items.ids[row] for row in np.flatnonzero(rows < 0).tolist()]
        return Asked(log.users, renumbered(log.events, rows), unknown)

    def lists(
        self, asked: Asked, k: int = 10, exclude_seen: bool = True
    ) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        """Recommendations for all users, some users at a time: how many these are, and the columns of their table."""
        users = np.array(asked.users, object)
        for start in range(0, len(users), BLOCK):
            rankings = self.method.recommend(asked.histories.slice(start, start + BLOCK), k, exclude_seen)
            row, place = np.nonzero(rankings.items >= 0)
            assert rankings.scores is not None
            yield (
                len(rankings),
                {
                    "user_id": users[start + row],
                    "item_id": self._ids[rankings.items[row, place]],
                    "score": rankings.scores[row, place],
                    "rank": place + 1,
                },
            )

    def _recommendations(self, histories: Sequence[Sequence[str]], k: int, exclude_seen: bool) -> list[Recommendation]:
        known = [[self._row_of[item] for item in history if item in self._row_of] for history in histories]
        rankings = self.method.recommend(Histories.of(known), k, exclude_seen)
        assert rankings.scores is not None
        answers = []
        for history, rows, items, scores in zip(histories, known, rankings.items, rankings.scores, strict=True):
            shown = items >= 0
            unknown = [item for item in history if item not in self._row_of]
            fallback = None if rows else POPULAR
            answers.append(Recommendation(self._ids[items[shown]].tolist(), scores[shown].tolist(), unknown, fallback))
        return answers


def restored(model: ModelFolder, device: str = "cpu") -> Method:
    """The method of a saved model, as it was when it was saved."""
    method_class = find_method(model.config["method"])
    method = method_class(setting_files.read(method_class.Settings, model.config["settings"]))
    eventless = Events(np.zeros(0, np.int32), np.zeros(1, np.int64))
    past = Past(eventless, len(model.items), model.codes, model.vectors)
    if method.trained_by_gradient:
        from sprintrec.gradient_method import GradientMethod

        assert isinstance(method, GradientMethod)
        method.restore(model.state, past, device)
    else:
        method.restore(model.state, past)
    return method


def log_of(events: Any, items: Any = None, options: ReadOptions | None = None) -> Log:
    """The log of two tables, or of two paths."""
    if isinstance(events, (str, Path)):
        if items is not None and not isinstance(items, (str, Path)):
            raise Mistake("events are a path and items a table: give both as paths, or both as tables")
        return read_log(Path(events), None if items is None else Path(items), options)
    if isinstance(items, (str, Path)):
        raise Mistake("events are a table and items a path: give both as tables, or both as paths")
    return from_frames(events, items, options)


def is_table(histories: Any) -> bool:
    return hasattr(type(histories), "columns") or hasattr(histories, "__arrow_c_stream__")


def checked(histories: Any) -> list[list[str]]:
    """A list of lists of item ids as text, or a Mistake that says what was given instead."""
    rows = [histories] if isinstance(histories, str) else list(histories)
    if any(isinstance(row, str) or not isinstance(row, Iterable) for row in rows):
        raise Mistake("recommend takes a list of histories, each a list of item ids: write [[...]] for a single one")
    if any(isinstance(item, (list, tuple, float)) or item is None for row in rows for item in row):
        raise Mistake("a history is a list of item ids, each a text or a whole number")
    return [[str(item) for item in row] for row in rows]


def warnings_of(asked: Asked) -> Iterator[str]:
    """What an answer to a log's histories left out or fell back to, in sentences."""
    if asked.unknown:
        shown = ", ".join(asked.unknown[:SHOWN_UNKNOWN]) + (", ..." if len(asked.unknown) > SHOWN_UNKNOWN else "")
        yield f"Items that the model does not know, skipped: {len(asked.unknown):,} ({shown})."
    if asked.without_history:
        yield f"Users without any item that the model knows, who get popular items: {asked.without_history:,}."


def examples_of(asked: HeldOut, ids: Sequence[str], count: int = EXAMPLES) -> list[dict[str, Any]]:
    """Some questions with their answers, drawn evenly, as item ids; nothing tells whose they are."""
    drawn = np.random.default_rng(0).permutation(len(asked))[:count]
    return [
        {"history": [ids[item] for item in asked.histories.row(row)], "next": ids[asked.targets[row]]} for row in drawn
    ]


@contextmanager
def _kept_or_temporary(folder: str | Path | None) -> Iterator[Path]:
    if folder is not None:
        yield Path(folder)
        return
    with TemporaryDirectory(prefix="sprintrec-") as place:
        yield Path(place) / "prepared"


def _told(record: Mapping[str, Any]) -> str:
    score = record.get("validation", {}).get("score")
    shown = "" if score is None else f", validation score {score:.4f}"
    return f"Epoch {record['epoch'] + 1} of at most {record['epochs']}: loss {record['loss']:.4f}{shown}."
