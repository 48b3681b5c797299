"""Histories on a device, cut on demand to their newest items: the same code for training and asking.

A window is left-padded: the newest item always sits in the last slot, whatever the history's length,
because that is the position the answer depends on most. Nothing of size (samples x slots) is ever
stored; a window is a view at a position of the flat log.

B batch, T slots.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from sprintrec.records import Events, Histories

PIECES = 8  # of a batch: more would save little padding and make products too small


class Windows:
    """Flat histories on a device. A window is named by where its row begins and where the window ends."""

    def __init__(self, histories: Histories, device: torch.device | str) -> None:
        # One item more, so that an empty log still has something to point at.
        flat = np.append(np.asarray(histories.items, np.int32), np.int32(0))
        allowed = histories.may_be_target() if isinstance(histories, Events) else np.ones(len(histories.items), bool)
        self.items = torch.from_numpy(flat).to(device)
        self.allowed = torch.from_numpy(np.append(allowed, False)).to(device)

    def cut(self, starts_B: Tensor, ends_B: Tensor, slots: int) -> tuple[Tensor, Tensor]:
        """The last ``slots`` items of [start, end): items (0 where padded) and which slots hold one."""
        at_BT = ends_B[:, None] + torch.arange(-slots, 0, device=ends_B.device)
        known_BT = at_BT >= starts_B[:, None]
        items_BT = self.items[at_BT.clamp(min=0)].long()
        return items_BT.masked_fill(~known_BT, 0), known_BT

    def run(self, starts_B: Tensor, ends_B: Tensor, slots: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The window before a run's last target, its known slots, what came next at each, and which of that teaches."""
        items_BT, known_BT = self.cut(starts_B, ends_B, slots)
        at_BT = ends_B[:, None] + torch.arange(1 - slots, 1, device=ends_B.device)
        next_BT = self.items[at_BT.clamp(min=0)].long()
        return items_BT, known_BT, next_BT, known_BT & self.allowed[at_BT.clamp(min=0)]


def question_windows(histories: Histories, slots: int, device: torch.device | str) -> tuple[Tensor, Tensor]:
    """The windows of whole histories, as asked at recommending time."""
    starts = torch.from_numpy(np.ascontiguousarray(histories.offsets[:-1])).to(device)
    ends = torch.from_numpy(np.ascontiguousarray(histories.offsets[1:])).to(device)
    return Windows(histories, device).cut(starts, ends, slots)


def in_pieces(known_BT: Tensor, ask: Callable[[Tensor, int], tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
    """``ask(rows, slots)`` for all rows of a batch, in pieces of like length that read no slot in vain.

    Most histories are short, so most of a batch is padding, and a CPU spends its time on it: a step of
    SASRec takes half as long this way, one of SPRINT two thirds. Only for networks whose answers padding
    does not change: for these it is exact, and which samples make a batch stays as it is.
    """
    lengths_B = known_BT.sum(dim=1)
    pieces = lengths_B.argsort(stable=True).chunk(PIECES)
    answers = [ask(rows, max(1, int(lengths_B[rows[-1]]))) for rows in pieces]
    place_B = torch.cat(pieces).argsort()
    return tuple(torch.cat(parts)[place_B] for parts in zip(*answers, strict=True))


def prefix_targets(events: Events, first_events: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Every event that has a past and may be a target: (start of its user, its flat position).

    ``first_events`` adds those without a past: asked from an empty window, they teach what users begin with.
    """
    starts = np.repeat(events.offsets[:-1], events.lengths)
    positions = np.arange(len(events.items))
    wanted = ((positions > starts) | first_events) & events.may_be_target()
    return starts[wanted], positions[wanted]


def run_targets(events: Events, slots: int) -> tuple[np.ndarray, np.ndarray]:
    """Runs of consecutive targets that cover each user's events once, ``slots`` at a time from the newest.

    A run (start of the user, position of its last target) stands for that target and the slots - 1
    before it, each to be predicted from what came before: one pass teaches a whole history. A run in
    which nothing may be a target is left out.
    """
    starts, ends = [], []
    reach = np.maximum(events.lengths - 1, 0)  # the first event has no past
    for back in range(0, int(reach.max(initial=0)), slots):
        rows = np.flatnonzero(reach > back)
        starts.append(events.offsets[rows])
        ends.append(events.offsets[rows + 1] - 1 - back)
    empty = np.zeros(0, np.int64)
    start, last = np.concatenate(starts or [empty]), np.concatenate(ends or [empty])
    before = np.concatenate([[0], np.cumsum(events.may_be_target())])  # targets among the first events of the log
    teaches = before[last + 1] > before[np.maximum(start, last - slots) + 1]
    return start[teaches], last[teaches]
