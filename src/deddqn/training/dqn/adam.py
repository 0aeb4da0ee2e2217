"""Adam (Kingma and Ba 2015) on one vector of weights, in a few tensor operations that a CUDA graph can hold.

Written by hand because for a network of this size torch's own optimiser spends most of its time on bookkeeping, and
because recorded trainings must stay the same to the bit; the steps are those of `torch.optim.Adam`.
"""

from __future__ import annotations

import torch

FIRST, SECOND, TINY = 0.9, 0.999, 1e-8  # decay of both moments, and what keeps a division finite


class Adam:
    """The moments of the gradient, and the step that they give.

    Parameters
    ----------
    weights : the vector that is moved, in place.
    learning_rate : the length of a step.
    """

    def __init__(self, weights: torch.Tensor, learning_rate: float) -> None:
        self.weights, self.learning_rate = weights, learning_rate
        self.mean, self.square = torch.zeros_like(weights), torch.zeros_like(weights)
        self.decays = torch.tensor([FIRST, SECOND], dtype=torch.float64, device=weights.device)
        self.powers = torch.ones_like(self.decays)  # of the decays, after as many steps as were made

    @torch.no_grad()
    def step(self, gradient: torch.Tensor) -> None:
        """Move the weights against the gradient."""
        self.powers.mul_(self.decays)
        first, second = 1.0 - self.powers
        self.mean.lerp_(gradient, 1.0 - FIRST)
        self.square.mul_(SECOND).addcmul_(gradient, gradient, value=1.0 - SECOND)
        spread = (self.square / second).sqrt_().add_(TINY)
        self.weights.addcdiv_(self.mean / first, spread, value=-self.learning_rate)

    def tensors(self) -> dict[str, torch.Tensor]:
        """Everything that a step changes, but the weights."""
        return {"mean": self.mean, "square": self.square, "powers": self.powers}
