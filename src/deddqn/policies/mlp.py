"""The Q-network in compiled code: a multi-layer perceptron with ReLU, single precision, any depth and width.

All weights lie in one float64 vector (read as float32 past its header), so that a network is a policy's `setup`:
``[epsilon, generation exploration, n_layers, width_0, ..., width_n, ...]`` and then, for every layer, its bias and its
weights as ``(inputs, outputs)`` with the outputs padded to a multiple of 8.
"""

from __future__ import annotations

import numpy as np

from deddqn._jit import floats_at, kernel, shared, small_integers_at
from deddqn._jit.contents import ANYTHING, Part, index
from deddqn._jit.simd import FLOATS
from deddqn.policies.policy_kernels import CHOOSE_SIGNATURE
from deddqn.policies.sparse_product import weighted_rows
from deddqn.rng import integer_below, uniform

EPSILON, GENERATION_EXPLORATION, N_LAYERS, WIDTHS = 0, 1, 2, 3  # header slots
FREE = -1.0  # the generation is not given to one operator
HEADER_ALIGNMENT = 8


@shared
def padded(width):
    """The width with its padding."""
    return (width + FLOATS - 1) // FLOATS * FLOATS


@shared
def _header_size(n_layers):
    return (WIDTHS + n_layers + 1 + HEADER_ALIGNMENT - 1) // HEADER_ALIGNMENT * HEADER_ALIGNMENT


def pack_network(weights: list[np.ndarray], biases: list[np.ndarray], epsilon: float = 0.0) -> np.ndarray:
    """Pack layers, weights as ``(outputs, inputs)``, into the setup vector of a network policy."""
    widths = [weights[0].shape[1], *(w.shape[0] for w in weights)]
    header = np.zeros(_header_size(len(weights)))
    header[EPSILON], header[N_LAYERS] = epsilon, len(weights)
    header[WIDTHS : WIDTHS + len(widths)] = widths
    parts = [header.view(np.float32)]
    for weight, bias in zip(weights, biases, strict=True):
        block = np.zeros((1 + weight.shape[1], padded(weight.shape[0])), dtype=np.float32)
        block[0, : bias.size] = bias
        block[1:, : bias.size] = weight.T
        parts.append(block.ravel())
    return np.concatenate(parts).view(np.float64).copy()


def network_views(setup: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Per layer, weights ``(outputs, inputs)`` and bias of a packed network as views: writing them changes it."""
    n_layers = int(setup[N_LAYERS])
    widths = setup[WIDTHS : WIDTHS + n_layers + 1].astype(int).tolist()
    floats, start = setup.view(np.float32), 2 * _header_size(n_layers)
    views = []
    for n_in, n_out in zip(widths, widths[1:], strict=False):
        size = (1 + n_in) * padded(n_out)
        block = floats[start : start + size].reshape(1 + n_in, -1)
        views.append((block[1:, :n_out].T, block[0, :n_out]))
        start += size
    return views


def packed_size(setup: np.ndarray) -> int:
    """float64 that a network of the widths in the header of `setup` takes."""
    n_layers = int(setup[N_LAYERS])
    widths = setup[WIDTHS : WIDTHS + n_layers + 1].astype(int).tolist()
    floats = sum((1 + n_in) * padded(n_out) for n_in, n_out in zip(widths, widths[1:], strict=False))
    return int(_header_size(n_layers)) + floats // 2


def memory_size(setup: np.ndarray) -> int:
    """float64 of a run: two layers of activations, the active inputs, and the operator of an exploring generation."""
    widest = int(max(setup[WIDTHS : WIDTHS + 1 + int(setup[N_LAYERS])]))
    return int(3 * padded(widest + 1) // 2 + 4)


def memory_parts(setup: np.ndarray, n_ops: int, n_pop: int) -> list[Part]:
    """What the memory may hold: scratch, and the operator of an exploring generation, or none (`FREE`)."""
    return [("activations", memory_size(setup) - 1, ANYTHING), ("operator", 1, index(n_ops, int(FREE)))]


@kernel(numeric=True)
def _active(inputs, indices):
    """List the indices of the non-zero inputs (about half of them after a ReLU); return how many there are."""
    found = 0
    for j in range(inputs.size):
        indices[found] = j
        found += 1 if inputs[j] != 0.0 else 0
    return found


@kernel(numeric=True)
def forward(setup, memory, features):
    """Compute the Q-values of the state `features`; return the address in `memory` where they lie as float32."""
    n_layers = np.int64(setup[N_LAYERS])
    room = memory.size // 3  # one buffer of activations holds twice as many float32
    front, back = memory.ctypes.data, memory.ctypes.data + 8 * room
    indices = small_integers_at(memory.ctypes.data + 16 * room, (2 * room,))
    inputs = floats_at(front, (features.size,))
    for j in range(features.size):
        inputs[j] = np.float32(features[j])
    weights = setup.ctypes.data + 8 * _header_size(n_layers)
    for layer in range(n_layers):
        width = padded(np.int64(setup[WIDTHS + layer + 1]))
        n_in = np.int64(setup[WIDTHS + layer])
        inputs, outputs = floats_at(front, (n_in,)), floats_at(back, (width,))
        found = _active(inputs, indices)
        weighted_rows(floats_at(weights, (1 + n_in, width)), inputs, indices, found, outputs)
        if layer < n_layers - 1:
            for o in range(width):
                outputs[o] = max(outputs[o], np.float32(0.0))
        weights += 4 * (1 + n_in) * width
        front, back = back, front
    return front


@kernel(CHOOSE_SIGNATURE)
def choose_by_value(setup, memory, features, stream, n_ops, i):
    """Algorithm 1 lines 9-12: the operator with the highest Q-value, or with probability epsilon any.

    With a `GENERATION_EXPLORATION` (a way to explore that is not in the paper) some generations apply one random
    operator.
    """
    last = memory.size - 1
    if setup[GENERATION_EXPLORATION] > 0.0:
        if i == 0:
            memory[last] = integer_below(stream, n_ops) if uniform(stream) < setup[GENERATION_EXPLORATION] else FREE
        if memory[last] != FREE:
            return np.int64(memory[last])
    if setup[EPSILON] > 0.0 and uniform(stream) < setup[EPSILON]:
        return integer_below(stream, n_ops)
    values = floats_at(forward(setup, memory[:last], features), (n_ops,))
    best = 0
    for op in range(1, n_ops):
        if values[op] > values[best]:
            best = op
    return best
