"""The whole memory of one run: links to objective, policy and reward, then DE state, observer and their scratch."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from deddqn._jit import Field, Layout, kernel
from deddqn._jit.contents import ANYTHING, AS_BEGUN, slots
from deddqn.de.state import DE_STATE
from deddqn.features.buffers import OBSERVER


class Link(IntEnum):
    """Integers that tie a run together: addresses of code and shared data (0: none), and offsets in the arena."""

    OBJECTIVE = 0
    DATA = 1
    DATA_SIZE = 2
    CHOOSE = 3
    LEARN = 4
    END_GENERATION = 5
    RESET = 6
    SETUP = 7
    SETUP_SIZE = 8
    REWARD = 9
    REWARD_SETUP = 10
    REWARD_SETUP_SIZE = 11
    DE_STATE = 12
    OBSERVER = 13
    RENUMBER = 14
    OPERATOR = 15
    SELECTION = 16
    CANDIDATES = 17
    SELECT_CANDIDATE = 18
    RECORD = 19
    END_RECORD = 20
    ASSESS = 21
    LEVEL = 22
    COLLECT = 23
    LANDSCAPE = 24  # 0: the paper's
    SEARCHERS = 25


OFFSETS = (Link.DE_STATE, Link.OBSERVER)
"""The links that are not addresses: they stay when a run moves, and `deddqn.engine.run_spec.bind` writes the others."""

LINKS = slots(Link, **{link.name: AS_BEGUN if link in OFFSETS else ANYTHING for link in Link})

EPISODE = Layout(
    "episode",
    Field("links", "int", (len(Link),), holds=LINKS),
    Field("total_reward", "float", (1,), "since the run began", holds=ANYTHING),
    Field("rewards", "float", ("NP",), "of the latest trials", holds=ANYTHING),
    Field("memory", "float", ("memory",), "of the policy in this run; its policy checks it", holds=ANYTHING),
    Field("work", "float", ("work",), "scratch of the objective", holds=ANYTHING),
)
"""What ties a run together; DE state and observer follow it in the arena."""

EPISODE_AT, DE_STATE_AT, OBSERVER_AT = EPISODE.at, DE_STATE.at, OBSERVER.at


class Episode(NamedTuple):
    """An open run: everything that the loop needs."""

    core: Any  # a record of the layout EPISODE
    de_state: Any  # a record of the layout SEARCH
    observer: Any  # a record of the layout OBSERVER


@kernel
def open_run(base):
    """The run whose arena begins at the address `base`."""
    core = EPISODE_AT(base)
    links = core.links
    return Episode(core, DE_STATE_AT(base + 8 * links[Link.DE_STATE]), OBSERVER_AT(base + 8 * links[Link.OBSERVER]))


def without_addresses(arena: np.ndarray) -> np.ndarray:
    """A copy of an arena for files: addresses mean nothing elsewhere, and are written again by whoever reads it."""
    copied = arena.copy()
    links = EPISODE.view(copied, 0).links
    offsets = links[list(OFFSETS)]
    links[:] = 0
    links[list(OFFSETS)] = offsets
    return copied


def view_run(arena: np.ndarray) -> Episode:
    """The run that lies in `arena`, as NumPy views."""
    core = EPISODE.view(arena, 0)
    return Episode(
        core, DE_STATE.view(arena, core.links[Link.DE_STATE]), OBSERVER.view(arena, core.links[Link.OBSERVER])
    )
