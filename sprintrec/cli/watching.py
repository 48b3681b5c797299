"""What a person sees of a long run: each decision as a line, bars for long steps, one line per epoch."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sprintrec.cli.output import note
from sprintrec.machine import peak_memory_bytes

if TYPE_CHECKING:
    from sprintrec.build import Watcher

FORETOLD_AT = 20  # steps after which time and memory can be told
PLAIN_EVERY = 10.0  # seconds between two plain progress lines


class Screen:
    """Lines on stderr: on a terminal the last one is live, elsewhere progress comes every ten seconds."""

    def __init__(self, time_limit: float | None = None) -> None:
        self.limit = time_limit if time_limit is not None else float("inf")
        self.live = sys.stderr.isatty()
        self.told_at = 0.0
        self.width = 0

    def say(self, sentence: str) -> None:
        self._clear()
        note(sentence)

    def advance(self, what: str, done: int, total: int) -> None:
        if done >= total:
            self._clear()
        else:
            self._passing(f"{what}: {done:,} of {total:,}")

    def on_step(self, recipe: str, step: int, steps: int, seconds: float) -> None:
        if step == FORETOLD_AT:
            memory = f", about {peak_memory_bytes() / 1e9:.1f} GB of memory"
            longest = min(seconds / step * steps, self.limit)
            self.say(f"{recipe}: at most {clock(longest)} of training, often much less{memory}.")
        self._passing(f"{recipe}: step {step:,} of at most {steps:,}, {clock(seconds)} so far")

    def on_epoch(self, recipe: str, record: Mapping[str, Any]) -> None:
        scores = record.get("validation", {})
        parts = [f"{recipe}: epoch {record['epoch'] + 1} of at most {record['epochs']}", f"loss {record['loss']:.3f}"]
        parts += [f"validation N@10 {scores['ndcg@10']:.4f}"] if "ndcg@10" in scores else []
        left = record["seconds"] / (record["epoch"] + 1) * (record["epochs"] - record["epoch"] - 1)
        left = max(0.0, min(left, self.limit - record["seconds"]))
        best = (
            "the best so far" if record["best_epoch"] == record["epoch"] else f"best: epoch {record['best_epoch'] + 1}"
        )
        self.say(", ".join([*parts, best, f"{clock(record['seconds'])}, at most {clock(left)} left"]))

    def _passing(self, line: str) -> None:
        """A line that the next one replaces; where nothing can be replaced, one every ten seconds."""
        now = time.monotonic()
        if self.live:
            if now - self.told_at > 0.1:
                self.told_at = now
                sys.stderr.write(f"\r{line:<{self.width}}")
                sys.stderr.flush()
                self.width = max(self.width, len(line))
        elif now - self.told_at > PLAIN_EVERY:
            self.told_at = now
            note(line)

    def _clear(self) -> None:
        if self.live and self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            self.width = 0


@contextmanager
def watched(time_limit: float | None = None) -> Iterator[Watcher]:
    """A watcher that tells the person at the terminal; ``time_limit`` in seconds bounds what it foretells."""
    from sprintrec.build import Watcher

    screen = Screen(time_limit)
    yield Watcher(screen.say, screen.advance, screen.on_epoch, screen.on_step)


def clock(seconds: float) -> str:
    """Seconds as people say them: 45 s, 3 min 20 s, 2 h 05 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
