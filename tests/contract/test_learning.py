"""On logs whose right answer is visible, whatever learns from histories leaves popularity far behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sprintrec.method import Method
from sprintrec.methods.popular import Popular
from sprintrec.metrics import recall, target_ranks
from sprintrec.records import Codes, Events, HeldOut, Past
from sprintrec.split import Split, split

CLUSTER = 10


def hits(method: Method, asked: HeldOut, k: int) -> float:
    return float(recall(target_ranks(method.recommend(asked.histories, k), asked.targets), k).mean())


def clusters() -> Split:
    """Sixty users, each with eight of the ten items of one cluster, in an order of his own."""
    random = np.random.default_rng(3)
    rows = [user % 3 * CLUSTER + random.permutation(CLUSTER)[:8] for user in range(60)]
    items = np.concatenate(rows).astype(np.int32)
    return split(Events(items, np.arange(61, dtype=np.int64) * 8), "last-out")


def telling_codes() -> Codes:
    """Two digits for the cluster, as texts would give, and two for the item within."""
    cluster, within = np.divmod(np.arange(3 * CLUSTER), CLUSTER)
    return Codes("telling", np.stack([cluster, 7 - cluster, within // 8, within % 8], axis=1), (8, 8, 8, 8))


def test_the_next_step_of_a_walk_is_found(fitted: Method, tiny_past: Past, questions: HeldOut) -> None:
    """The right item is one of 18 to 24 unseen ones; three are listed."""
    yardstick = hits(Popular().fit(tiny_past), questions, 3)
    assert yardstick < 0.3
    assert hits(fitted, questions, 3) >= (yardstick if isinstance(fitted, Popular) else 0.7)


def test_a_user_stays_in_his_cluster(fit: Callable[..., Method], tiny_past: Past) -> None:
    """Four items of a cluster are unseen when the validation question is put; four are listed."""
    cut = clusters()
    past = replace(tiny_past, events=cut.train, codes=telling_codes())
    yardstick, method = hits(Popular().fit(past), cut.validation, 4), fit(past)
    assert yardstick < 0.5
    assert hits(method, cut.validation, 4) >= (yardstick if isinstance(method, Popular) else 0.85)
