"""A history of item ids to one vector per slot: the network of SASRec and BSARec, and SPRINT's path for ids.

B batch, T slots, D width.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from sprintrec.blocks import BLOCKED, FilterBlock, causal_bias, key_bias, start_normal
from sprintrec.settings import at_least, divides, shares


@dataclass(frozen=True)
class EncoderSettings:
    width: int = 64
    """size of an item's vector and of every slot's state"""
    layers: int = 2
    """Transformer blocks"""
    heads: int = 1
    """attention heads"""
    inner: int = 4
    """feed-forward width, as a multiple of ``width``"""
    dropout: float = 0.5
    """on the embeddings, attention weights and outputs"""
    history: int = 50
    """slots: the newest items that are read"""
    filter_mix: float = 0.0
    """share of the frequency filter against attention; 0 is plain attention"""
    filter_kept: int = 3
    """lowest frequencies the filter keeps"""

    def __post_init__(self) -> None:
        at_least(self, width=1, layers=0, heads=1, inner=1, history=1, filter_kept=1)
        shares(self, "dropout", "filter_mix")
        divides(self, "heads", "width")


class Encoder(nn.Module):
    """Item ids, learned positions, causal post-norm blocks. Item row ``item_count`` is the padding item."""

    def __init__(self, item_count: int, settings: EncoderSettings, text_width: int = 0) -> None:
        super().__init__()
        self.settings = settings
        self.items = nn.Embedding(item_count + 1, settings.width)
        self.positions = nn.Embedding(settings.history, settings.width)
        self.norm = nn.LayerNorm(settings.width, eps=1e-12)
        self.dropout = nn.Dropout(settings.dropout)
        self.blocks = nn.ModuleList(
            FilterBlock(
                settings.width,
                settings.inner * settings.width,
                settings.heads,
                settings.dropout,
                settings.filter_mix,
                settings.filter_kept,
            )
            for _ in range(settings.layers)
        )
        self.text = nn.Linear(text_width, settings.width, bias=False) if text_width else None
        start_normal(self)

    def item_table(self, texts_IV: Tensor | None = None) -> Tensor:
        """One vector per item, with its text's share where there are texts; the last row is padding."""
        table = self.items.weight
        # The padding row stays zero whatever the optimiser does to it.
        table = torch.cat([table[:-1], torch.zeros_like(table[-1:])])
        if self.text is not None and texts_IV is not None:
            table = torch.cat([table[:-1] + self.text(texts_IV), table[-1:]])
        return table

    def forward(self, table_ID: Tensor, items_BT: Tensor, known_BT: Tensor, newest: int | None = None) -> Tensor:
        """States of all slots or of the ``newest``, (B, T, D); slot t has seen slots 0 to t."""
        slots = items_BT.shape[1]
        rows_BT = items_BT.masked_fill(~known_BT, len(table_ID) - 1)
        x_BTD = nn.functional.embedding(rows_BT, table_ID) + self.positions.weight[-slots:]
        x_BTD = self.dropout(self.norm(x_BTD))
        bias = (key_bias(known_BT) + causal_bias(slots, x_BTD.device)).clamp(min=BLOCKED)
        for place, block in enumerate(self.blocks, start=1):
            x_BTD = block(x_BTD, bias, newest if place == len(self.blocks) else None)
        return x_BTD
