"""The update of Double DQN (van Hasselt et al. 2016; Algorithm 1 lines 16-23), on the CPU or as a CUDA graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from deddqn._utils.reading import check_arrays
from deddqn.training.config import TrainingConfig
from deddqn.training.dqn.adam import Adam
from deddqn.training.dqn.network import QNetwork
from deddqn.training.dqn.replay_buffer import Batch, ReplayBuffer

WARM_UP_LAUNCHES = 3  # before a CUDA graph is captured


class NonFiniteLossError(RuntimeError):
    """The loss became NaN or infinite; nothing was saved after that."""


def double_dqn_target(batch: Batch, q_next: torch.Tensor, q_next_target: torch.Tensor, discount: float) -> torch.Tensor:
    """The Double DQN target of Q(s, a): the primary network selects the next operator, the target network values it."""
    chosen = q_next.argmax(dim=1, keepdim=True)  # line 20: the primary network selects
    value = q_next_target.gather(1, chosen).squeeze(1)  # line 21: the target network values
    return batch.returns + discount * value.masked_fill(batch.ended, 0.0)  # lines 18, 21


class Learner:
    """Primary and target network, Adam, and the update.

    Parameters
    ----------
    config : learning rate, gamma, batch size, loss, target update interval.
    features, operators : sizes of the state and of the portfolio.
    buffer : the replay buffer, on the device of the learner.
    """

    def __init__(self, config: TrainingConfig, features: int, operators: int, buffer: ReplayBuffer) -> None:
        self.config, self.buffer = config, buffer
        device = buffer.device
        if device.type == "cpu":
            torch.set_num_threads(config.learner_threads)
        else:
            torch.set_float32_matmul_precision("high")
        self.primary = QNetwork(features, config.hidden, operators, seed=config.seed).to(device)  # line 3
        self.target = QNetwork(features, config.hidden, operators, seed=config.seed).to(device)  # line 4
        self.average = QNetwork(features, config.hidden, operators, seed=config.seed).to(device)
        self.generator = torch.Generator(device).manual_seed(config.seed + 1)
        self.adam = Adam(self.primary.flat, config.learning_rate)
        self.loss_sum = torch.zeros((), device=device)
        self.updates = 0
        self.reported = 0  # updates when the mean loss was last reported
        self._graph: Any = None

    def update(self, times: int) -> None:
        """Do so many updates; on CUDA without waiting for any of them."""
        for _ in range(times):
            if self.buffer.device.type == "cuda":
                self._launch()
            else:
                self.step()
            self.updates += 1
            if self.updates % self.config.target_update_interval == 0:
                self.update_target()  # line 23

    @torch.no_grad()
    def step(self) -> None:
        """Algorithm 1 lines 16-22: one gradient step on a random mini-batch."""
        batch = self.buffer.sample(self.config.batch_size, self.generator)  # line 16
        n = self.config.batch_size
        activations = self.primary.activations(batch.both)
        q, q_next = activations[-1][:n], activations[-1][n:]
        q_next_target = self.target(batch.next_states)
        target = double_dqn_target(batch, q_next, q_next_target, self.config.gamma**self.config.n_step)
        error = q.gather(1, batch.actions).squeeze(1) - target
        loss, slope = self._loss(error)  # line 22: (r_target - Q(s, a))^2
        slopes = torch.zeros_like(q).scatter_(1, batch.actions, slope[:, None] / n)
        self.adam.step(self.primary.differentiate([values[:n] for values in activations], slopes))  # line 22
        self.loss_sum += loss.mean()
        if self.config.ema_window:
            self.average.flat.lerp_(self.primary.flat, 1.0 / self.config.ema_window)

    @torch.no_grad()
    def start_average(self) -> None:
        """Let the moving average start at the current weights."""
        self.average.flat.copy_(self.primary.flat)

    @property
    def evaluated(self) -> QNetwork:
        """The network that is evaluated: the moving average, where there is one."""
        return self.average if self.config.ema_window else self.primary

    def _loss(self, error: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The loss of every transition, and its derivative."""
        if self.config.loss == "huber":
            slope = error.clamp(-1.0, 1.0)
            return slope * (error - 0.5 * slope), slope
        return error * error, 2.0 * error

    @torch.no_grad()
    def update_target(self) -> None:
        """Algorithm 1 line 23: copy the weights of the primary network to the target network."""
        self.target.flat.copy_(self.primary.flat)

    def _launch(self) -> None:
        """Replay the captured update; capture it first if this has not been done."""
        if self._graph is None:
            before = self.to_arrays()
            step = torch.compile(self.step, dynamic=False) if self.config.fused else self.step
            stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                for _ in range(WARM_UP_LAUNCHES):
                    step()
            torch.cuda.current_stream().wait_stream(stream)
            self._graph = torch.cuda.CUDAGraph()
            self._graph.register_generator_state(self.generator)
            with torch.cuda.graph(self._graph):
                step()
            self.load_arrays(before)
        self._graph.replay()

    def check_loss(self) -> float:
        """The sum of losses since `mean_loss` was called (waits for the device); an error if it is not finite."""
        total = float(self.loss_sum)
        if not np.isfinite(total):
            raise NonFiniteLossError(
                f"the loss is not finite after {self.updates} updates: lower learning_rate "
                f"({self.config.learning_rate:g}) or reward_scale ({self.config.reward_scale:g}, reward "
                f"{self.config.reward}), or take loss 'huber'; the last checkpoint has finite weights"
            )
        return total

    def mean_loss(self) -> float:
        """The mean loss since the last call."""
        total, n = self.check_loss(), self.updates - self.reported
        self.loss_sum.zero_()
        self.reported = self.updates
        return total / n if n else 0.0

    def _tensors(self) -> dict[str, torch.Tensor]:
        """Everything that an update changes, by name."""
        networks = {name: getattr(self, name).flat for name in ("primary", "target", "average")}
        return (
            networks
            | {"loss_sum": self.loss_sum}
            | {f"adam.{name}": tensor for name, tensor in self.adam.tensors().items()}
        )

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Networks, Adam and the random state as arrays."""
        arrays = {name: tensor.detach().cpu().numpy().copy() for name, tensor in self._tensors().items()}
        return arrays | {"generator": self.generator.get_state().numpy().copy()}

    @torch.no_grad()
    def load_arrays(self, arrays: dict[str, np.ndarray]) -> None:
        """Take back, in place, what `to_arrays` gave."""
        wanted = {name: ("f", tuple(tensor.shape)) for name, tensor in self._tensors().items()}
        check_arrays({name: array for name, array in arrays.items() if name != "generator"}, wanted)
        for name, tensor in self._tensors().items():
            tensor.copy_(torch.from_numpy(arrays[name]))
        if arrays["generator"].dtype != np.uint8 or arrays["generator"].ndim != 1:
            raise ValueError("the state of the random generator must be bytes")
        state = torch.from_numpy(arrays["generator"])
        if state.numel() == self.generator.get_state().numel():  # that of another device cannot be taken over
            self.generator.set_state(state)
