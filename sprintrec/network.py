"""SPRINT's network: tensors in, tensors out. It knows codes and histories, no items' names, files or devices.

One forward pass gives, for every history, the log-probabilities of all tokens at all digits and a user
vector; ``code_vectors`` gives the vector every code is compared with. One small network ("fuse") makes
an item's place in the history, a code's vector and the user's vector: it is shared on purpose, so one
(codes x width) table serves both ends.

B batch, T history slots, L digits, M tokens per digit, D width, C candidates, I items, V text width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sprintrec.blocks import Block, key_bias, start_normal
from sprintrec.encoder import Encoder
from sprintrec.settings import at_least, divides, shares

UNUSED = -1e4  # the logit of a token its digit does not have: finite, so a product with 0 stays 0


@dataclass(frozen=True)
class NetworkSettings:
    architecture: Literal["encoder-decoder", "decoder-only"] = "encoder-decoder"
    """a decoder that reads an encoded history, or one stack over history and queries together"""
    width: int = 256
    """size of token embeddings, states and vectors"""
    inner: int = 1024
    """feed-forward width"""
    heads: int = 4
    """attention heads"""
    encoder_layers: int = 1
    """blocks over the history"""
    decoder_layers: int = 4
    """blocks over the mask queries"""
    dropout: float = 0.1
    """on embeddings, attention outputs and feed-forward outputs"""
    history: int = 20
    """slots: the newest items that are read"""
    project_memory: bool = False
    """cross-attention with key and value projections; without, the encoder's states serve as both"""
    mask_memory: bool = True
    """hide padded history from cross-attention"""
    learn_codes_by_vector: bool = False
    """let the SID level's code vectors move the token embeddings too"""
    time_embedding: bool = False
    """tell the decoder the source time r"""
    item_vectors: bool = False
    """a learned vector per item beside what its code says, zero for items never trained"""
    item_dropout: float = 0.5
    """share of items whose own vector is dropped in a training step"""
    item_texts: bool = False
    """the item's text vector, through one linear map, beside what its code says"""

    def __post_init__(self) -> None:
        at_least(self, width=1, inner=1, heads=1, encoder_layers=0, decoder_layers=1, history=1)
        shares(self, "dropout", "item_dropout")
        divides(self, "heads", "width")


class Answer(NamedTuple):
    """What one forward pass says about a batch of histories."""

    log_p_BLM: Tensor
    user_BD: Tensor


class CodeTable(nn.Module):
    """The candidates' codes, and the two sums over digits that everything needs.

    On a GPU both are one product with the 0/1 matrix of the codes, which beats gathers and, in the
    backward pass, scatter-adds; on a CPU they are gathers. A test holds both to the same numbers.
    """

    codes_CL: Tensor
    dense_CN: Tensor

    def __init__(self, codes_CL: Tensor, sizes: tuple[int, ...], dense: bool) -> None:
        super().__init__()
        self.tokens = max(sizes)
        self.register_buffer("codes_CL", codes_CL.long(), persistent=False)
        flat_CL = self.codes_CL + self.tokens * torch.arange(len(sizes))
        matrix = torch.zeros(len(codes_CL) if dense else 0, self.tokens * len(sizes))
        self.register_buffer("dense_CN", matrix.scatter_(1, flat_CL, 1.0) if dense else matrix, persistent=False)

    def __len__(self) -> int:
        return len(self.codes_CL)

    def sum_rows(self, tables_LMD: Tensor, rows: Tensor | None = None) -> Tensor:
        """Per candidate (or per given row of candidates) the sum over digits of its tokens' rows."""
        if rows is None and len(self.dense_CN):
            return self.dense_CN @ tables_LMD.flatten(0, 1)
        codes = self.codes_CL if rows is None else self.codes_CL[rows]
        return sum_digits(tables_LMD, codes)

    def score(self, log_p_BLM: Tensor) -> Tensor:
        """Per history and candidate the sum over digits of its tokens' log-probabilities, (B, C)."""
        if len(self.dense_CN):
            return log_p_BLM.flatten(1) @ self.dense_CN.T
        total = log_p_BLM[:, 0].index_select(1, self.codes_CL[:, 0])
        for digit in range(1, self.codes_CL.shape[1]):
            total = total + log_p_BLM[:, digit].index_select(1, self.codes_CL[:, digit])
        return total


def sum_digits(tables_LMD: Tensor, codes: Tensor) -> Tensor:
    """The sum over digits l of ``tables[l, codes[..., l]]``."""
    total = F.embedding(codes[..., 0], tables_LMD[0])
    for digit in range(1, codes.shape[-1]):
        total = total + F.embedding(codes[..., digit], tables_LMD[digit])
    return total


class SprintNetwork(nn.Module):
    """Bidirectional Transformer from a history of codes to token probabilities and a user vector."""

    unused_LM: Tensor
    texts_IV: Tensor

    def __init__(
        self, sizes: tuple[int, ...], settings: NetworkSettings, item_count: int = 0, texts_IV: Tensor | None = None
    ) -> None:
        super().__init__()
        self.settings = s = settings
        digits, tokens = len(sizes), max(sizes)
        self.tokens_LMD = nn.Parameter(torch.empty(digits, tokens, s.width).normal_(std=0.02))
        self.queries_LD = nn.Parameter(torch.empty(digits, s.width).normal_(std=0.02))
        self.positions_TD = nn.Parameter(torch.empty(s.history, s.width).normal_(std=0.02))
        self.fuse_in = nn.Linear(digits * s.width, s.width)
        self.fuse_out = nn.Linear(s.width, s.width)
        crosses = s.architecture == "encoder-decoder"
        self.encoder = nn.ModuleList(
            Block(s.width, s.inner, s.heads, s.dropout) for _ in range(s.encoder_layers if crosses else 0)
        )
        self.decoder = nn.ModuleList(
            Block(s.width, s.inner, s.heads, s.dropout, crosses, s.project_memory) for _ in range(s.decoder_layers)
        )
        self.encoder_norm = nn.RMSNorm(s.width, eps=1e-5) if crosses else None
        self.decoder_norm = nn.RMSNorm(s.width, eps=1e-5)
        self.time = nn.Linear(s.width, s.width) if s.time_embedding else None
        self.item_ID = nn.Parameter(torch.zeros(item_count, s.width)) if s.item_vectors else None
        self.text = nn.Linear(texts_IV.shape[1], s.width, bias=False) if texts_IV is not None else None
        self.dropout = nn.Dropout(s.dropout)
        allowed = torch.arange(tokens)[None, :] < torch.tensor(sizes)[:, None]
        self.register_buffer("unused_LM", torch.zeros(digits, tokens).masked_fill(~allowed, UNUSED), persistent=False)
        self.register_buffer("texts_IV", texts_IV if texts_IV is not None else torch.zeros(0, 0), persistent=False)
        start_normal(self)

    def fused(self, table: CodeTable, tokens_LMD: Tensor, rows: Tensor | None = None) -> Tensor:
        """MLP(Cat(e_1 .. e_L)) of candidates; the first layer splits into one small product per digit."""
        first_LDD = self.fuse_in.weight.unflatten(1, (len(tokens_LMD), -1)).permute(1, 2, 0)
        return self.fuse_out(F.relu(table.sum_rows(tokens_LMD @ first_LDD, rows) + self.fuse_in.bias))

    def code_vectors(self, table: CodeTable, rows: Tensor | None = None) -> Tensor:
        """v_c of all candidates or of some. By default its gradient stops at the token embeddings."""
        tokens_LMD = self.tokens_LMD if self.settings.learn_codes_by_vector else self.tokens_LMD.detach()
        return self._with_own(self.fused(table, tokens_LMD, rows), rows)

    def forward(
        self,
        table: CodeTable,
        rows_BT: Tensor,
        known_BT: Tensor,
        state_BL: Tensor | None = None,
        masked_BL: Tensor | None = None,
        r_B: Tensor | None = None,
    ) -> Answer:
        """Answers to histories of candidate rows. ``state``, ``masked``: a partly committed code x_r."""
        history_BTD = self._history(table, rows_BT, known_BT)
        queries_BLD = self._queries(len(rows_BT), state_BL, masked_BL, r_B)
        bias = key_bias(known_BT)
        if self.encoder_norm is None:
            states_BLD = self._joint(history_BTD, queries_BLD, bias)
        else:
            for block in self.encoder:
                history_BTD = block(history_BTD, bias)
            memory_BTD = self.encoder_norm(history_BTD)
            states_BLD, none = queries_BLD, bias.new_zeros(())
            for block in self.decoder:
                states_BLD = block(states_BLD, none, memory_BTD, bias if self.settings.mask_memory else none)
        states_BLD = self.decoder_norm(states_BLD)
        logits_BLM = torch.einsum("bld,lmd->blm", states_BLD, self.tokens_LMD) + self.unused_LM
        user_BD = self.fuse_out(F.relu(self.fuse_in(states_BLD.flatten(1))))
        return Answer(logits_BLM.log_softmax(dim=-1), user_BD)

    def _history(self, table: CodeTable, rows_BT: Tensor, known_BT: Tensor) -> Tensor:
        # Fusing the whole catalogue once and gathering is cheaper than fusing every slot of a large batch.
        if len(table) <= rows_BT.numel():
            items_BTD = F.embedding(rows_BT, self._with_own(self.fused(table, self.tokens_LMD)))
        else:
            items_BTD = self._with_own(self.fused(table, self.tokens_LMD, rows_BT), rows_BT)
        slots = rows_BT.shape[1]
        return self.dropout((items_BTD + self.positions_TD[-slots:]) * known_BT[..., None])

    def _with_own(self, vectors: Tensor, rows: Tensor | None = None) -> Tensor:
        """Add what an item has beside its code: its text and its learned vector, where the settings say so."""
        if self.text is not None:
            vectors = vectors + self.text(self.texts_IV if rows is None else self.texts_IV[rows])
        if self.item_ID is not None:
            own_ID: Tensor = self.item_ID
            if self.training:
                kept_I1 = torch.rand(len(own_ID), 1, device=own_ID.device) >= self.settings.item_dropout
                own_ID = own_ID * kept_I1
            vectors = vectors + (own_ID if rows is None else F.embedding(rows, own_ID))
        return vectors

    def _queries(self, count: int, state_BL: Tensor | None, masked_BL: Tensor | None, r_B: Tensor | None) -> Tensor:
        queries_BLD = self.queries_LD.expand(count, -1, -1)
        if state_BL is not None and masked_BL is not None:
            digits = torch.arange(state_BL.shape[1], device=state_BL.device)
            queries_BLD = torch.where(masked_BL[..., None], queries_BLD, self.tokens_LMD[digits, state_BL])
        if self.time is not None:
            r_B = queries_BLD.new_zeros(count) if r_B is None else r_B
            queries_BLD = queries_BLD + self.time(_waves(r_B, self.settings.width))[:, None]
        return self.dropout(queries_BLD)

    def _joint(self, history_BTD: Tensor, queries_BLD: Tensor, bias: Tensor) -> Tensor:
        """Decoder-only: history and queries in one sequence, every block over both."""
        digits = queries_BLD.shape[1]
        x_BND = torch.cat([history_BTD, queries_BLD], dim=1)
        bias = torch.cat([bias, bias.new_zeros(len(x_BND), 1, 1, digits)], dim=-1)
        for block in self.decoder:
            x_BND = block(x_BND, bias)
        return x_BND[:, -digits:]


class Followers(nn.Module):
    """What followed each item in training: the few likeliest followers and how often, counted, not learnt."""

    items_IN: Tensor
    shares_IN: Tensor

    def __init__(self, items_IN: Tensor, shares_IN: Tensor) -> None:
        super().__init__()
        self.register_buffer("items_IN", items_IN.long())
        self.register_buffer("shares_IN", shares_IN)

    def forward(self, items_BT: Tensor, known_BT: Tensor, recency: float) -> Tensor:
        """Per item the sum of its shares among the followers of the history's items, newer ones counting more."""
        slots = items_BT.shape[1]
        weight_T = recency ** torch.arange(slots - 1, -1, -1, device=items_BT.device, dtype=self.shares_IN.dtype)
        added_BTN = self.shares_IN[items_BT] * (known_BT * weight_T)[..., None]
        sums_BI = added_BTN.new_zeros(len(items_BT), len(self.items_IN))
        return sums_BI.scatter_add_(1, self.items_IN[items_BT].flatten(1), added_BTN.flatten(1))


class SprintPaths(nn.Module):
    """The code path and, beside it, what else scores items: a path for ids and the followers of items.

    Each path has a loss of its own, or none: mixed into one vector, what ids know drowns what codes know
    (docs/log.md)."""

    def __init__(self, codes: SprintNetwork, ids: Encoder | None, followers: Followers | None) -> None:
        super().__init__()
        self.codes, self.ids, self.followers = codes, ids, followers


def text_profile(texts_IV: Tensor, items_BT: Tensor, known_BT: Tensor, decay: float, newest: int) -> Tensor:
    """What a user read of late: the mean of the newest items' text vectors, each older one counting less."""
    newest = min(newest, items_BT.shape[1])
    weight_S = decay ** torch.arange(newest - 1, -1, -1, device=items_BT.device, dtype=texts_IV.dtype)
    weight_BS = known_BT[:, -newest:] * weight_S
    return torch.einsum("bs,bsv->bv", weight_BS, F.embedding(items_BT[:, -newest:], texts_IV))


def _waves(r_B: Tensor, width: int) -> Tensor:
    """Sines and cosines of r at frequencies from 1 to 1,000, (B, D)."""
    frequencies = torch.logspace(0, 3, width // 2, device=r_B.device)
    angles = r_B[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=-1)
