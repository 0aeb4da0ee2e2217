"""The Q-network in torch (Sect. 3.1): a multi-layer perceptron with ReLU, and its gradient by hand.

Weights and gradients are views of one vector each, so that an update is a few tensor operations that a CUDA graph
holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from deddqn.training.dqn.weights import Layers, padded_width

PARTS = 64
"""A sum over a batch is made in so many parts on a GPU."""


class QNetwork(nn.Module):
    """Q(s, a) for all operators a. Its inputs are padded states; the weights of the padding are and stay 0.

    Parameters
    ----------
    inputs, hidden, outputs : number of features, widths of the hidden layers, number of operators.
    seed : of the initial weights (torch's default for linear layers, drawn from a generator of their own).
    """

    def __init__(self, inputs: int, hidden: Sequence[int], outputs: int, *, seed: int = 0) -> None:
        super().__init__()
        self.inputs = inputs
        widths = [inputs, *hidden, outputs]
        generator = torch.Generator().manual_seed(seed)
        self.layers: list[nn.Linear] = []
        for k, (n_in, n_out) in enumerate(zip(widths, widths[1:], strict=False)):
            layer = nn.Linear(padded_width(n_in) if k == 0 else n_in, n_out)
            bound = n_in**-0.5
            with torch.no_grad():
                layer.weight.zero_()
                layer.weight[:, :n_in].uniform_(-bound, bound, generator=generator)
                layer.bias.uniform_(-bound, bound, generator=generator)
            self.layers.append(layer)
        self.stack = nn.Sequential(*self.layers)
        self._weights = [parameter for layer in self.layers for parameter in (layer.weight, layer.bias)]
        self.flat = nn.Parameter(torch.cat([parameter.detach().flatten() for parameter in self._weights]))
        self._tie()

    def _tie(self) -> None:
        """Make every weight and its gradient a view of one vector: optimisers and copies then take one step."""
        self.gradient = torch.zeros_like(self.flat)
        start = 0
        for parameter in self._weights:
            span = slice(start, start + parameter.numel())
            parameter.data = self.flat.data[span].view(parameter.shape)
            parameter.grad = self.gradient[span].view(parameter.shape)
            start += parameter.numel()

    def _apply(self, function: Any, recurse: bool = True) -> QNetwork:
        """Moving to a device copies the tensors one by one: tie them again."""
        super()._apply(function, recurse)  # type: ignore[no-untyped-call]
        self._tie()
        return self

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Q-values (batch, operators) of padded states (batch, inputs)."""
        return self.activations(states)[-1]

    def activations(self, states: torch.Tensor) -> list[torch.Tensor]:
        """The states, what every hidden layer makes of them, and the Q-values."""
        values, weights = [states], self._weights
        for k in range(0, len(weights) - 2, 2):
            values.append(_hidden(values[-1], weights[k], weights[k + 1]))
        values.append(functional.linear(values[-1], weights[-2], weights[-1]))
        return values

    @torch.no_grad()
    def differentiate(self, activations: list[torch.Tensor], slope: torch.Tensor) -> torch.Tensor:
        """The gradient of a loss, from the activations of a batch and the slope of the loss in its Q-values.

        Backpropagation by hand takes half of the time of autograd for small batches, and nothing but plain matrix
        products is captured for large ones.
        """
        for k in range(len(self.layers) - 1, -1, -1):
            weight, bias = self._weights[2 * k], self._weights[2 * k + 1]
            _sum_of_products(slope, activations[k], out=weight.grad)
            torch.sum(slope, dim=0, out=bias.grad)
            if k > 0:
                slope = torch.ops.aten.threshold_backward(torch.mm(slope, weight), activations[k], 0.0)
        return self.gradient

    def export(self) -> Layers:
        """The weights as they stand in a policy file, copied to the CPU in one go."""
        flat = self.flat.detach().cpu().numpy().copy()
        layers, start = [], 0
        for layer in self.layers:
            rows, columns = layer.weight.shape
            weight = flat[start : start + rows * columns].reshape(rows, columns)
            start += rows * (columns + 1)
            layers.append((weight, flat[start - rows : start]))
        layers[0] = (layers[0][0][:, : self.inputs], layers[0][1])
        return layers

    @torch.no_grad()
    def load(self, layers: Layers) -> None:
        """Take the weights of a policy file; they must be finite."""
        for layer, (weight, bias) in zip(self.layers, layers, strict=True):
            if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
                raise ValueError("weights must be finite, got some that are not")
            layer.weight.zero_()
            layer.weight[:, : weight.shape[1]] = torch.as_tensor(np.ascontiguousarray(weight))
            layer.bias.copy_(torch.as_tensor(np.ascontiguousarray(bias)))


def _hidden(inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """A layer with its ReLU, on a GPU in one kernel."""
    if inputs.is_cuda:
        return torch._addmm_activation(bias, inputs, weight.t())
    return functional.linear(inputs, weight, bias).relu_()


def _sum_of_products(left: torch.Tensor, right: torch.Tensor, *, out: Any) -> None:
    """``left.T @ right`` for long and narrow matrices; a GPU is kept busy only if parts of the sum run side by side."""
    n = len(left)
    if left.is_cuda and n % PARTS == 0:
        shape = (PARTS, n // PARTS, -1)
        torch.sum(torch.bmm(left.view(shape).transpose(1, 2), right.view(shape)), dim=0, out=out)
    else:
        torch.mm(left.t(), right, out=out)
