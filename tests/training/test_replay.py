"""The replay buffer: what is added comes out, s' is the state after s, and n-step returns stop where the run did."""

import numpy as np
import pytest
import torch

from deddqn.engine import Record
from deddqn.training.dqn.replay_buffer import ReplayBuffer

FEATURES = 5


def record_of(n_runs, rollout_steps, start, rng):
    """A rollout in which state number t of run k is filled with 100 k + t."""
    record = Record.empty(n_runs, rollout_steps, 8, ahead=True)
    steps = start[:, None] + np.arange(rollout_steps + 1)
    record.states[:, :, :FEATURES] = (100 * np.arange(n_runs)[:, None] + steps)[:, :, None]
    record.actions[:] = steps[:, :-1] % 4
    record.rewards[:] = steps[:, :-1]
    record.made[:] = rollout_steps
    return record


def filled(n_step=1, rollouts=7, n_runs=3, rollout_steps=4, capacity=30, ends=()):
    buffer = ReplayBuffer(
        n_runs=n_runs, capacity=capacity, features=FEATURES, rollout_steps=rollout_steps, n_step=n_step, gamma=0.5
    )
    start, rng = np.zeros(n_runs, dtype=int), np.random.default_rng(0)
    for _ in range(rollouts):
        record = record_of(n_runs, rollout_steps, start, rng)
        for run, step in ends:
            if start[run] <= step < start[run] + rollout_steps:
                record.ends[run, step - start[run]] = True
        record.made[1] = rollout_steps - 1  # run 1 makes fewer decisions than there is room for
        buffer.add(record)
        start += record.made
    return buffer, start


def test_every_transition_is_a_decision_and_the_state_after_it():
    buffer, made = filled()
    for run in range(3):
        for age in range(1, 11):
            batch = buffer.transitions(torch.tensor([run]), torch.tensor([age]))
            step = made[run] - age
            assert batch.states[0, :FEATURES].tolist() == [100 * run + step] * FEATURES
            assert batch.next_states[0, :FEATURES].tolist() == [100 * run + step + 1] * FEATURES
            assert (batch.actions.item(), batch.returns.item(), batch.ended.item()) == (step % 4, step, False)


def test_blocks_of_runs_are_stored_apart_and_only_runs_with_transitions_are_sampled():
    buffer = ReplayBuffer(n_runs=3, capacity=30, features=FEATURES, rollout_steps=4, n_step=2, gamma=0.5)
    whole = record_of(3, 4, np.zeros(3, dtype=int), None)
    block = Record(*(part[1:2] for part in vars(whole).values()))
    buffer.add(block, first=1)
    generator = torch.Generator().manual_seed(0)
    assert (buffer.sample(50, generator).states[:, 0] // 100 == 1).all()
    first = Record(*(part[:1] for part in vars(whole).values()))
    first.made[:] = 1
    buffer.add(first, first=0)
    assert (buffer.sample(50, generator).states[:, 0] // 100 == 1).all(), "one decision is too few for two steps"
    buffer.add(Record(*(part[2:] for part in vars(whole).values())), first=2)
    assert set((buffer.sample(50, generator).states[:, 0] // 100).tolist()) == {1.0, 2.0}
    assert buffer.stored == 9


def test_what_follows_a_truncation_belongs_to_another_run():
    buffer, made = filled(n_step=2)
    buffer.truncate(1, 2)
    for run, cut in ((0, False), (1, True), (2, True)):
        batch = buffer.transitions(torch.tensor([run]), torch.tensor([2]))
        assert batch.ended.item() is cut
        assert batch.returns.item() == (made[run] - 2) + 0.5 * (made[run] - 1)
    buffer.add(record_of(3, 4, made, None))
    assert [buffer.transitions(torch.tensor([1]), torch.tensor([age])).ended.item() for age in (3, 4, 5, 6, 7)] == [
        *(False, False),
        *(True, True),
        False,
    ]


def test_returns_of_n_steps_are_cut_at_the_end_of_the_run():
    buffer, made = filled(n_step=3, ends=[(0, 24)])
    for age in range(3, 10):
        batch = buffer.transitions(torch.tensor([0]), torch.tensor([age]))
        step = int(made[0]) - age
        rewards = [t for t in range(step, step + 3) if not step <= 24 < t]
        assert batch.returns.item() == sum(0.5 ** (t - step) * t for t in rewards)
        assert batch.ended.item() == (24 in range(step, step + 3))
        if not batch.ended.item():
            assert batch.next_states[0, 0].item() == step + 3


@pytest.mark.parametrize("n_step", [1, 3])
def test_samples_are_uniform_over_what_is_kept(n_step):
    buffer, made = filled(n_step=n_step)
    batch = buffer.sample(30_000, torch.Generator().manual_seed(0))
    seen, counts = np.unique(batch.states[:, 0].numpy(), return_counts=True)
    expected = sorted(100 * k + m - a for k, m in enumerate(made) for a in range(n_step, n_step + 10))
    assert seen.tolist() == expected
    assert np.abs(counts / 1000 - 1).max() < 0.15  # 1000 expected each; 4.7 standard deviations


def test_a_buffer_is_the_same_after_a_round_trip():
    for rollouts in (2, 7):
        buffer, _ = filled(rollouts=rollouts)
        other, _ = filled(rollouts=0)
        other.load_arrays(buffer.to_arrays())
        for name in ("states", "actions", "rewards", "ends", "head", "count"):
            assert torch.equal(getattr(buffer, name), getattr(other, name)), name


def test_half_precision_halves_the_buffer():
    full = ReplayBuffer(n_runs=1, capacity=100, features=FEATURES)
    half = ReplayBuffer(n_runs=1, capacity=100, features=FEATURES, state_type="float16")
    assert half.states.nbytes * 2 == full.states.nbytes
