"""BSARec: SASRec whose blocks mix attention with a frequency filter over the history.

Source: Shin et al., AAAI 2024, with the settings of its published Beauty run: width 64, two post-norm
blocks of one head, dropout .5, history 50, filter share .7 keeping the 3 lowest frequencies (its c = 5),
Adam 5e-4 without decay or warm-up, batch 256, cross-entropy over the catalogue at the last place of
every prefix, the empty one included (the filter sees the whole window, so other places would see their
own future). Departures: padding carries no gradient; scores of seen items are minus infinity, not 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sprintrec.encoder import EncoderSettings
from sprintrec.methods.sasrec import SASRec
from sprintrec.methods.sasrec import Settings as SASRecSettings
from sprintrec.training import TrainingSettings


@dataclass(frozen=True)
class Settings(SASRecSettings):
    encoder: EncoderSettings = field(default_factory=lambda: EncoderSettings(filter_mix=0.7, filter_kept=3))
    training: TrainingSettings = field(
        default_factory=lambda: TrainingSettings(
            epochs=200, batch=256, rate=5e-4, schedule="constant", warmup=0.0, clip=0.0
        )
    )
    targets: Literal["all", "last"] = "last"
    first_events: bool = True


class BSARec(SASRec):
    Settings = Settings
