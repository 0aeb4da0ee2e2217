"""The update (Sect. 3.1): Double DQN by hand, a small problem whose Q is known, and a loss that is not finite."""

import numpy as np
import pytest
import torch

from deddqn._jit import floats_at
from deddqn.engine import Record
from deddqn.policies import network_policy
from deddqn.policies.mlp import forward
from deddqn.training.config import TrainingConfig
from deddqn.training.dqn.adam import Adam
from deddqn.training.dqn.learner import Learner, NonFiniteLossError, double_dqn_target
from deddqn.training.dqn.network import QNetwork
from deddqn.training.dqn.replay_buffer import Batch, ReplayBuffer


def test_the_target_by_hand():
    """Q selects operator 1 and operator 0; Qhat values them 7 and 2; the third run ended."""
    batch = Batch(
        both=torch.zeros(6, 1),
        actions=torch.zeros(3, 1, dtype=torch.long),
        returns=torch.tensor([1.0, 0.0, 10.0]),
        ended=torch.tensor([False, False, True]),
    )
    q_next = torch.tensor([[1.0, 4.0, 3.0], [9.0, 0.0, 0.0], [5.0, 5.0, 5.0]])
    q_next_target = torch.tensor([[8.0, 7.0, 6.0], [2.0, 3.0, 4.0], [float("nan")] * 3])
    target = double_dqn_target(batch, q_next, q_next_target, 0.5)
    assert target.tolist() == [1.0 + 0.5 * 7.0, 0.5 * 2.0, 10.0]
    plain = batch.returns + 0.5 * q_next_target.max(dim=1).values
    assert plain[:2].tolist() == [5.0, 2.0] != target[:2].tolist()


CHAIN, GAMMA = 5, 0.8
"""Walk left (0) or right (1) on five places; the right end pays 1 and ends the run, the left end pays 0.1 and stays."""


def chain_step(place, action):
    if action == 1:
        return (place + 1, 0.0, False) if place < CHAIN - 1 else (place, 1.0, True)
    return (place - 1, 0.0, False) if place > 0 else (place, 0.1, False)


def optimal_values():
    values = np.zeros((CHAIN, 2))
    for _ in range(500):
        for place in range(CHAIN):
            for action in (0, 1):
                after, reward, ended = chain_step(place, action)
                values[place, action] = reward + (0.0 if ended else GAMMA * values[after].max())
    return values


@pytest.mark.parametrize("settings", [{}, {"loss": "huber"}])
def test_the_learner_finds_the_optimal_values_of_a_small_chain(settings):
    config = TrainingConfig(
        hidden=(32, 32),
        gamma=GAMMA,
        learning_rate=3e-3,
        batch_size=64,
        target_update_interval=25,
        buffer_size=2000,
        **settings,
    )
    buffer = ReplayBuffer(n_runs=1, capacity=2000, features=CHAIN, gamma=GAMMA)
    learner, rng, place = Learner(config, CHAIN, 2, buffer), np.random.default_rng(0), 0
    for _ in range(2000):
        record = Record.empty(1, 1, 8, ahead=True)
        action = int(rng.integers(2))
        after, reward, ended = chain_step(place, action)
        record.states[0, 0, place] = record.states[0, 1, after] = 1.0
        record.actions[0, 0], record.rewards[0, 0], record.ends[0, 0], record.made[0] = action, reward, ended, 1
        buffer.add(record)
        place = 0 if ended else after
    learner.update(1500)
    found = learner.primary(torch.eye(CHAIN, 8)).detach().numpy()
    np.testing.assert_allclose(found, optimal_values(), atol=0.05)


def ema_learner(ema_window):
    """A learner on a buffer of random transitions."""
    config = TrainingConfig(
        hidden=(8,), batch_size=16, learning_rate=0.01, target_update_interval=7, ema_window=ema_window
    )
    buffer = ReplayBuffer(n_runs=1, capacity=50, features=5, rollout_steps=20)
    record, rng = Record.empty(1, 20, 8, ahead=True), np.random.default_rng(0)
    record.states[0, :, :5], record.rewards[:], record.made[:] = rng.random((21, 5)), rng.random((1, 20)), 20
    buffer.add(record)
    return Learner(config, 5, 2, buffer)


def test_the_averaged_network_is_the_exponential_average_and_learning_does_not_see_it():
    averaged, plain = ema_learner(25), ema_learner(0)
    expected = averaged.primary.flat.detach().numpy().astype(np.float64)  # where it begins
    for _ in range(60):
        averaged.update(1)
        plain.update(1)
        expected += (averaged.primary.flat.detach().numpy() - expected) / 25
        assert torch.equal(averaged.primary.flat, plain.primary.flat)
        assert torch.equal(averaged.target.flat, plain.target.flat)
    np.testing.assert_allclose(averaged.average.flat.detach().numpy(), expected, rtol=0, atol=1e-6)
    assert averaged.evaluated is averaged.average and plain.evaluated is plain.primary
    assert np.abs(expected - plain.primary.flat.detach().numpy()).max() > 1e-2
    copied = ema_learner(25)
    copied.load_arrays(averaged.to_arrays())
    assert torch.equal(copied.average.flat, averaged.average.flat)


def test_torch_and_the_compiled_network_agree():
    network, rng = QNetwork(99, (100, 100, 100, 100), 4, seed=3), np.random.default_rng(1)
    layers = network.export()
    policy = network_policy(*zip(*layers, strict=True))
    memory = np.zeros(policy.memory_size(4, 100))
    for _ in range(50):
        features = rng.uniform(-1, 1, 99)
        padded = torch.zeros(1, 104)
        padded[0, :99] = torch.from_numpy(features)
        values = floats_at(forward(policy.setup, memory, features), (4,))
        np.testing.assert_allclose(values, network(padded)[0].detach().numpy(), atol=1e-5)


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_the_gradient_by_hand_is_the_one_of_autograd(loss):
    learner = Learner(
        TrainingConfig(hidden=(20, 30), loss=loss), 99, 4, ReplayBuffer(n_runs=1, capacity=9, features=99)
    )
    network, states = learner.primary, torch.rand(50, 104)
    states[:, 99:] = 0.0
    actions, target = torch.randint(4, (50, 1)), 3.0 * torch.randn(50)
    predicted = network(states).gather(1, actions).squeeze(1)
    values = {"squared": torch.nn.functional.mse_loss, "huber": torch.nn.functional.huber_loss}[loss](predicted, target)
    expected = torch.cat([g.flatten() for g in torch.autograd.grad(values, network._weights)])

    mine, slope = learner._loss(predicted.detach() - target)
    slopes = torch.zeros(50, 4).scatter_(1, actions, slope[:, None] / 50)
    gradient = network.differentiate([v.detach() for v in network.activations(states)], slopes)
    assert mine.mean().item() == pytest.approx(values.item(), rel=1e-5)
    torch.testing.assert_close(gradient, expected)


def test_adam_steps_as_torchs_own():
    mine, theirs = torch.linspace(-1.0, 1.0, 50), torch.linspace(-1.0, 1.0, 50).requires_grad_()
    adam, reference = Adam(mine, 0.01), torch.optim.Adam([theirs], lr=0.01)
    for k in range(200):
        gradient = torch.sin(torch.arange(50.0) + k) * 10.0 ** (k % 7 - 3)
        adam.step(gradient)
        theirs.grad = gradient.clone()
        reference.step()
    torch.testing.assert_close(mine, theirs.detach(), rtol=1e-5, atol=1e-6)


def test_weights_survive_export_and_load_and_must_be_finite():
    network, other = QNetwork(99, (20,), 4, seed=0), QNetwork(99, (20,), 4, seed=1)
    other.load(network.export())
    assert torch.equal(network.flat, other.flat)
    layers = network.export()
    layers[1][0][0, 0] = np.nan
    with pytest.raises(ValueError, match="finite"):
        other.load(layers)


def test_the_padding_of_the_inputs_never_gets_a_weight():
    config = TrainingConfig(hidden=(8,), batch_size=16, learning_rate=0.01)
    buffer = ReplayBuffer(n_runs=1, capacity=50, features=5, rollout_steps=20)
    learner = Learner(config, 5, 2, buffer)
    record = Record.empty(1, 20, 8, ahead=True)
    record.states[0, :, :5] = np.random.default_rng(0).random((21, 5))
    record.rewards[:], record.made[:] = 1.0, 20
    buffer.add(record)
    learner.update(20)
    assert (learner.primary.layers[0].weight[:, 5:] == 0).all()
    assert learner.mean_loss() > 0.0


def test_a_loss_that_is_not_finite_stops_with_the_reason():
    config = TrainingConfig(hidden=(8,), batch_size=4, reward="R1", reward_scale=1.0)
    buffer = ReplayBuffer(n_runs=1, capacity=50, features=5)
    learner = Learner(config, 5, 2, buffer)
    record = Record.empty(1, 1, 8, ahead=True)
    record.rewards[:], record.made[:] = 1e30, 1
    buffer.add(record)
    learner.update(1)
    with pytest.raises(NonFiniteLossError, match=r"not finite after 1 updates.*reward_scale \(1, reward R1\)"):
        learner.check_loss()
