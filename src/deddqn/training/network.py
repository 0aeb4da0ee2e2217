"""The Q-network in torch (Sect. 3.1): a multi-layer perceptron with ReLU that is exported to a policy file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

ALIGNMENT = 8
"""Inputs are padded with zeros to a multiple of this: an odd width keeps matrix units from being used."""

Layers = list[tuple[np.ndarray, np.ndarray]]
"""Per layer, weights (outputs, inputs) and bias, as in a policy file."""


def padded_width(width: int) -> int:
    """The width with its padding."""
    return -(-width // ALIGNMENT) * ALIGNMENT


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
        self.layers = nn.ModuleList()
        for k, (n_in, n_out) in enumerate(zip(widths, widths[1:], strict=False)):
            layer = nn.Linear(padded_width(n_in) if k == 0 else n_in, n_out)
            bound = n_in**-0.5
            with torch.no_grad():
                layer.weight.zero_()
                layer.weight[:, :n_in].uniform_(-bound, bound, generator=generator)
                layer.bias.uniform_(-bound, bound, generator=generator)
            self.layers.append(layer)
        self.flat = nn.Parameter(nn.utils.parameters_to_vector(self.layers.parameters()).detach())
        self._tie()

    def _tie(self) -> None:
        """Make every weight and its gradient a view of one vector: optimisers and copies then take one step."""
        self.flat.grad = torch.zeros_like(self.flat)
        start = 0
        for parameter in self.layers.parameters():
            span = slice(start, start + parameter.numel())
            parameter.data = self.flat.data[span].view(parameter.shape)
            parameter.grad = self.flat.grad[span].view(parameter.shape)
            start += parameter.numel()

    def _apply(self, function: Any, recurse: bool = True) -> QNetwork:
        """Moving to a device copies the tensors one by one: tie them again."""
        super()._apply(function, recurse)
        self._tie()
        return self

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Q-values (batch, operators) of padded states (batch, inputs)."""
        values = states
        for layer in self.layers[:-1]:
            values = torch.relu(layer(values))
        return self.layers[-1](values)

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


def is_finite(layers: Layers) -> bool:
    """True if no weight is NaN or infinite."""
    return all(np.isfinite(weight).all() and np.isfinite(bias).all() for weight, bias in layers)
