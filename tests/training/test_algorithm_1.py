"""One run, one decision per rollout, one update per evaluation: step by step Algorithm 1 of the paper, plainly.

The reference below keeps whole observations in a list, walks one run after another (lines 5-7) through `observe` and
`act`, chooses in Python, and does Adam by its formulas. It shares with the trainer only the engine and the draws.
"""

from collections import deque

import numpy as np
import pytest
import torch

from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.policies import uniform_policy
from deddqn.problems import get
from deddqn.rng import Stream, integer_below, streams_at, uniform
from deddqn.training.config import TrainingConfig
from deddqn.training.dqn.network import QNetwork
from deddqn.training.dqn.trainer import Trainer
from tests.engine.stepped_runs import states_of, step

SETTINGS = {
    "problems": ("cec2005:F1/d10", "cec2005:F8/d30", "cec2005:F15/d10"),
    "population_size": 8,
    "budget": 60,
    "hidden": (12, 12),
    "learning_rate": 1e-3,
    "epsilon": 0.3,
    "batch_size": 6,
    "replay_ratio": 6.0,
    "target_update_interval": 7,
    "buffer_size": 40,
    "learning_starts": 25,
    "cycles": 1,
    "seed": 5,
    "tensorboard": False,
}


class PlainAdam:
    """Kingma and Ba, Algorithm 1."""

    def __init__(self, parameters, rate):
        self.parameters, self.rate, self.step = parameters, rate, 0
        self.m = [torch.zeros_like(p) for p in parameters]
        self.v = [torch.zeros_like(p) for p in parameters]

    def apply(self, gradients):
        self.step += 1
        for p, g, m, v in zip(self.parameters, gradients, self.m, self.v, strict=True):
            m.copy_(0.9 * m + 0.1 * g)
            v.copy_(0.999 * v + 0.001 * g * g)
            unbiased_m, unbiased_v = m / (1 - 0.9**self.step), v / (1 - 0.999**self.step)
            p.data -= self.rate * unbiased_m / (unbiased_v.sqrt() + 1e-8)


def q_values(parameters, states):
    for k in range(0, len(parameters) - 2, 2):
        states = torch.relu(states @ parameters[k].T + parameters[k + 1])
    return states @ parameters[-2].T + parameters[-1]


class Reference:
    def __init__(self, config):
        self.config = config
        layers = QNetwork(99, config.hidden, 4, seed=config.seed).export()  # line 3: the same random weights
        self.primary = [torch.tensor(array, requires_grad=True) for layer in layers for array in layer]
        self.target = [p.detach().clone() for p in self.primary]  # line 4
        self.adam = PlainAdam(self.primary, config.learning_rate)
        self.generator = torch.Generator().manual_seed(config.seed + 1)
        self.buffer = deque(maxlen=config.buffer_size)
        self.steps = self.updates = 0
        self.actions, self.returns = [], []

    def choose(self, state, stream):
        epsilon = 1.0 if self.steps < self.config.learning_starts else self.config.epsilon  # line 2
        if uniform(stream) < epsilon:  # line 9
            return int(integer_below(stream, 4))  # line 10
        return int(q_values(self.primary, torch.tensor(state[None], dtype=torch.float32)).argmax())  # line 12

    def learn(self):
        draws = torch.rand((2, self.config.batch_size), dtype=torch.float64, generator=self.generator)[1].tolist()
        batch = [self.buffer[-(1 + int(u * len(self.buffer)))] for u in draws]  # line 16
        states = torch.tensor(np.array([o[0] for o in batch]), dtype=torch.float32)
        wanted = []
        for _, _, reward, after, ended in batch:
            if ended:
                wanted.append(reward)  # line 18
                continue
            after = torch.tensor(after[None], dtype=torch.float32)
            best = int(q_values(self.primary, after).argmax())  # line 20
            wanted.append(reward + self.config.gamma * q_values(self.target, after)[0, best].item())  # line 21
        predicted = q_values(self.primary, states)[range(len(batch)), [o[1] for o in batch]]
        loss = ((torch.tensor(wanted) - predicted) ** 2).mean()
        self.adam.apply(torch.autograd.grad(loss, self.primary))  # line 22
        self.updates += 1
        if self.updates % self.config.target_update_interval == 0:  # line 23
            self.target = [p.detach().clone() for p in self.primary]

    def run(self, problem, repeat):
        config = self.config
        spec = RunSpec(
            problem=problem,
            policy=uniform_policy(),
            config=config.de_config(),
            seed=config.seed,
            repeat=repeat,
            reward=config.reward,
            observe=True,
        )
        runs = VectorizedRuns([spec], threads=1)
        stream = streams_at(config.seed, problem.seed_name, problem.dimension, repeat)[Stream.POLICY].copy()
        state, ended, total = states_of(runs)[0], False, 0.0
        while not ended:
            action = self.choose(state, stream)
            after, reward, end = step(runs, [action])  # lines 13-14
            ended, total = bool(end[0]), total + reward[0]
            self.buffer.append((state, action, reward[0], after[0].copy(), ended))  # line 15
            state, self.steps = after[0].copy(), self.steps + 1
            self.actions.append(action)
            if self.steps > config.learning_starts:
                self.learn()
        self.returns.append(total)


@pytest.mark.parametrize("reward", ["R2", "R3"])
def test_the_trainer_is_algorithm_1(tmp_path, reward):
    config = TrainingConfig(reward=reward, **SETTINGS)
    trainer = Trainer(config, tmp_path, quiet=True)
    actions, returns = [], []
    for rollout in trainer.actors.rollouts(lambda: not trainer.done, overlapped=False):
        actions.append(int(rollout.record.actions[0, 0]))
        returns += [run.total_reward for run in rollout.finished]
        trainer.train_on(rollout)
    trainer.close()

    reference = Reference(config)
    order = np.random.default_rng([config.seed, 77, 0]).permutation(len(config.problems))
    for k in order:
        reference.run(get(config.problems[k]), repeat=0)

    assert actions == reference.actions
    assert returns == reference.returns
    assert trainer.learner.updates == reference.updates == len(actions) - config.learning_starts
    found = [array for layer in trainer.learner.primary.export() for array in layer]
    for mine, theirs in zip(found, reference.primary, strict=True):
        np.testing.assert_allclose(mine, theirs.detach().numpy(), atol=2e-5)
    assert trainer.cycle_returns.curve == [(0, pytest.approx(np.mean(reference.returns)))]
