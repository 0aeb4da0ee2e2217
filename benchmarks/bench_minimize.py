"""`minimize` as a user calls it, against scipy's `differential_evolution` in the same run.

- overhead: CPU time per evaluation beside the Python objective, D = 30, a network of 4 x 100 and all features
- workers: wall time of a CPU-bound objective of 20 ms with one process and with two
- memory: growth over 10^6 evaluations at D = 30
"""

import multiprocessing
import time
from collections.abc import Callable

import numpy as np
import psutil
from scipy.optimize import differential_evolution

from benchmarks.bars import Bar, print_bars
from deddqn import minimize
from deddqn.features.layout import n_features
from deddqn.policies import CompiledPolicy, network_policy

DIMENSION = 30
BOX = [(-5.0, 5.0)] * DIMENSION
ROUNDS = 3
EVALUATIONS = 20_000
BUSY_SECONDS = 0.02


def learned_policy() -> CompiledPolicy:
    """A network of the paper's shape with random weights: what it costs does not depend on what it learned."""
    rng = np.random.default_rng(0)
    widths = [n_features(4), 100, 100, 100, 100, 4]
    shapes = list(zip(widths[1:], widths, strict=False))
    weights = [rng.standard_normal(shape).astype(np.float32) / np.float32(np.sqrt(shape[1])) for shape in shapes]
    return network_policy(weights, [rng.standard_normal(o).astype(np.float32) for o, _ in shapes])


def sphere(x: np.ndarray) -> float:
    """A cheap objective."""
    return float(x @ x)


def objective_microseconds() -> float:
    """CPU time of one call of the objective itself."""
    points = list(np.random.default_rng(1).uniform(-5, 5, (EVALUATIONS, DIMENSION)))
    started = time.process_time()
    for point in points:
        sphere(point)
    return 1e6 * (time.process_time() - started) / len(points)


def ours_microseconds(policy: CompiledPolicy | str, seed: int) -> float:
    """CPU time per evaluation of `minimize`."""
    started = time.process_time()
    result = minimize(sphere, BOX, policy=policy, maxfun=EVALUATIONS, rng=seed)
    return 1e6 * (time.process_time() - started) / result.nfev


def scipy_microseconds(seed: int) -> float:
    """CPU time per evaluation of scipy's `differential_evolution`, in its own default setting."""
    generations = EVALUATIONS // (15 * DIMENSION) - 1
    started = time.process_time()
    result = differential_evolution(sphere, BOX, maxiter=generations, tol=-1, polish=False, rng=seed)
    return 1e6 * (time.process_time() - started) / result.nfev


def overhead() -> list[Bar]:
    """Overhead per evaluation, ours over scipy's; the best of some rounds each."""
    policy = learned_policy()
    minimize(sphere, BOX, policy=policy, maxfun=200, rng=0)  # compiles
    rounds = [
        (objective_microseconds(), ours_microseconds(policy, k), ours_microseconds("random", k), scipy_microseconds(k))
        for k in range(ROUNDS)
    ]
    objective, learned, plain, peer = np.min(rounds, axis=0)
    return [
        Bar(
            "minimize, Python objective D=30, network and features: overhead over scipy's",
            (learned - objective) / (peer - objective),
            0.4,
            "x",
            peer=f"{learned - objective:.1f} us, without network {plain - objective:.1f}, scipy {peer - objective:.1f}",
        ),
    ]


def busy(x: np.ndarray) -> float:
    """CPU-bound for 20 ms of this process's own time, however busy the machine is."""
    ends = time.process_time() + BUSY_SECONDS
    while time.process_time() < ends:
        pass
    return sphere(x)


def bare(evaluations: int, processes: int) -> None:
    """The same work in forked processes without anything around it: what the machine has to give."""
    point, fork = np.zeros(DIMENSION), multiprocessing.get_context("fork")
    started = [
        fork.Process(target=lambda: [busy(point) for _ in range(evaluations // processes)]) for _ in range(processes)
    ]
    for process in started:
        process.start()
    for process in started:
        process.join()


def ratio(work: Callable[[int], object]) -> float:
    """Wall time of ``work(1)`` over that of ``work(2)``."""
    seconds = []
    for count in (1, 2):
        started = time.perf_counter()
        work(count)
        seconds.append(time.perf_counter() - started)
    return seconds[0] / seconds[1]


def workers(evaluations: int = 200) -> list[Bar]:
    """Wall time in deferred mode with one process over that with two; the best of some rounds."""
    options = {"maxfun": evaluations, "updating": "deferred", "rng": 0}
    found = [
        (ratio(lambda n: bare(evaluations, n)), ratio(lambda n: minimize(busy, BOX, workers=n, **options)))
        for _ in range(ROUNDS)
    ]
    machine, ours = np.max(found, axis=0)
    return [
        Bar(
            "minimize, 2 workers on a CPU-bound objective of 20 ms, against 1",
            ours,
            1.7,
            "x",
            False,
            peer=f"two bare processes on this machine now: {machine:.2f}x",
        ),
    ]


def memory(evaluations: int = 1_000_000) -> list[Bar]:
    """How much the process grows from the first twentieth of a long run to its end."""
    process, seen = psutil.Process(), []

    def note(xk: np.ndarray, convergence: float) -> None:
        seen.append(process.memory_info().rss)

    minimize(sphere, BOX, policy=learned_policy(), maxfun=evaluations, rng=0, callback=note)
    growth = (max(seen) - seen[len(seen) // 20]) / 2**20
    return [Bar(f"minimize, growth of memory over {evaluations:.0e} evaluations, D=30", growth, 1.0, "MiB")]


def main() -> list[Bar]:
    """Print the bars; return them."""
    bars = [*overhead(), *workers(), *memory()]
    print_bars(bars)
    return bars


if __name__ == "__main__":
    main()
