"""The memory: what comes out is what went in, s' is the state after s, and n-step returns stop where the run did."""

import numpy as np
import pytest
import torch

from deddqn.engine import Record
from deddqn.training.dqn.replay_buffer import Replay

FEATURES = 5


def record_of(lanes, decisions, start, rng):
    """A tick in which state number t of lane k is filled with 100 k + t."""
    record = Record.empty(lanes, decisions, 8, ahead=True)
    steps = start[:, None] + np.arange(decisions + 1)
    record.states[:, :, :FEATURES] = (100 * np.arange(lanes)[:, None] + steps)[:, :, None]
    record.actions[:] = steps[:, :-1] % 4
    record.rewards[:] = steps[:, :-1]
    record.made[:] = decisions
    return record


def filled(n_step=1, ticks=7, lanes=3, decisions=4, capacity=30, ends=()):
    replay = Replay(lanes=lanes, capacity=capacity, features=FEATURES, decisions=decisions, n_step=n_step, gamma=0.5)
    start, rng = np.zeros(lanes, dtype=int), np.random.default_rng(0)
    for _ in range(ticks):
        record = record_of(lanes, decisions, start, rng)
        for lane, step in ends:
            if start[lane] <= step < start[lane] + decisions:
                record.ends[lane, step - start[lane]] = True
        record.made[1] = decisions - 1  # lane 1 makes fewer decisions than there is room for
        replay.append(record)
        start += record.made
    return replay, start


def test_every_observation_is_a_decision_and_the_state_after_it():
    replay, made = filled()
    for lane in range(3):
        for age in range(1, 11):
            batch = replay.observations(torch.tensor([lane]), torch.tensor([age]))
            step = made[lane] - age
            assert batch.states[0, :FEATURES].tolist() == [100 * lane + step] * FEATURES
            assert batch.next_states[0, :FEATURES].tolist() == [100 * lane + step + 1] * FEATURES
            assert (batch.actions.item(), batch.returns.item(), batch.ended.item()) == (step % 4, step, False)


def test_blocks_of_lanes_are_stored_apart_and_only_lanes_with_observations_are_drawn():
    replay = Replay(lanes=3, capacity=30, features=FEATURES, decisions=4, n_step=2, gamma=0.5)
    whole = record_of(3, 4, np.zeros(3, dtype=int), None)
    block = Record(*(part[1:2] for part in vars(whole).values()))
    replay.append(block, first=1)
    generator = torch.Generator().manual_seed(0)
    assert (replay.sample(50, generator).states[:, 0] // 100 == 1).all()
    first = Record(*(part[:1] for part in vars(whole).values()))
    first.made[:] = 1
    replay.append(first, first=0)
    assert (replay.sample(50, generator).states[:, 0] // 100 == 1).all(), "one decision is too few for two steps"
    replay.append(Record(*(part[2:] for part in vars(whole).values())), first=2)
    assert set((replay.sample(50, generator).states[:, 0] // 100).tolist()) == {1.0, 2.0}
    assert replay.stored == 9


def test_what_follows_a_cut_belongs_to_another_run():
    replay, made = filled(n_step=2)
    replay.cut(1, 2)
    for lane, cut in ((0, False), (1, True), (2, True)):
        batch = replay.observations(torch.tensor([lane]), torch.tensor([2]))
        assert batch.ended.item() is cut
        assert batch.returns.item() == (made[lane] - 2) + 0.5 * (made[lane] - 1)
    replay.append(record_of(3, 4, made, None))
    assert [replay.observations(torch.tensor([1]), torch.tensor([age])).ended.item() for age in (3, 4, 5, 6, 7)] == [
        *(False, False),
        *(True, True),
        False,
    ]


def test_returns_of_n_steps_are_cut_at_the_end_of_the_run():
    replay, made = filled(n_step=3, ends=[(0, 24)])
    for age in range(3, 10):
        batch = replay.observations(torch.tensor([0]), torch.tensor([age]))
        step = int(made[0]) - age
        rewards = [t for t in range(step, step + 3) if not step <= 24 < t]
        assert batch.returns.item() == sum(0.5 ** (t - step) * t for t in rewards)
        assert batch.ended.item() == (24 in range(step, step + 3))
        if not batch.ended.item():
            assert batch.next_states[0, 0].item() == step + 3


@pytest.mark.parametrize("n_step", [1, 3])
def test_samples_are_uniform_over_what_is_kept(n_step):
    replay, made = filled(n_step=n_step)
    batch = replay.sample(30_000, torch.Generator().manual_seed(0))
    seen, counts = np.unique(batch.states[:, 0].numpy(), return_counts=True)
    expected = sorted(100 * k + m - a for k, m in enumerate(made) for a in range(n_step, n_step + 10))
    assert seen.tolist() == expected
    assert np.abs(counts / 1000 - 1).max() < 0.15  # 1000 expected each; 4.7 standard deviations


def test_a_memory_goes_on_after_a_round_trip():
    for ticks in (2, 7):
        replay, _ = filled(ticks=ticks)
        other, _ = filled(ticks=0)
        other.load_arrays(replay.to_arrays())
        for name in ("states", "actions", "rewards", "ends", "head", "count"):
            assert torch.equal(getattr(replay, name), getattr(other, name)), name


def test_half_precision_halves_the_memory():
    full = Replay(lanes=1, capacity=100, features=FEATURES)
    half = Replay(lanes=1, capacity=100, features=FEATURES, state_type="float16")
    assert half.states.nbytes * 2 == full.states.nbytes
