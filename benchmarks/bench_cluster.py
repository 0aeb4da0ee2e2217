"""A Ray cluster on this machine: overhead per job, two nodes against one, transitions that actors deliver.

Nodes are those of `ray.cluster_utils` on loopback addresses, one core each, and ask for a token. They share the cores
and the memory of one machine with the driver and whatever else runs there: the shortest of three walls counts, and the
CPU time of the runs stands beside it. ``--cost`` prints what 100 times the paper's budget takes at given rates instead.
"""

import argparse
import math
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.bars import Bar, print_bars

PROBLEMS = tuple(f"cec2005:F{n}/d{d}" for d in (10, 30) for n in (10, 15))
METHODS = ("random", "de1", "de2", "de3", "de4", "pm-adapss", "f-auc", "rec-pm")
RUNS, BUDGET = 80, 10_000
ACTORS, N_RUNS, ROLLOUT_STEPS = 4, 256, 25
SECONDS = 10.0
PAPER_EVALUATIONS = 6.05e8
STORE = 200 * 2**20
ROOT = Path(__file__).resolve().parents[1]


@contextmanager
def loopback(nodes: int, cores: int = 1) -> Iterator[str]:
    """A cluster of so many nodes, and its address; this process is connected to it."""
    os.environ.setdefault("RAY_AUTH_MODE", "token")  # before ray is imported
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    import ray
    from ray.cluster_utils import Cluster

    node = {"num_cpus": cores, "object_store_memory": STORE}
    head = {**node, "node_ip_address": "127.0.0.2", "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for k in range(1, nodes):
            cluster.add_node(**node, node_ip_address=f"127.0.0.{2 + k}")
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        yield cluster.address
    finally:
        ray.shutdown()
        cluster.shutdown()


def timed(
    address: str, folder: Path, runs: int, budget: int, methods: tuple[str, ...] = METHODS
) -> tuple[float, float]:
    """Wall seconds of a comparison, and the CPU seconds of its runs."""
    from deddqn.experiments import Store, compare

    started = time.perf_counter()
    outcome = compare(methods, PROBLEMS, runs=runs, budget=budget, out=folder, cluster=address)
    assert not outcome.failed, outcome.failed[0].note
    return time.perf_counter() - started, float(Store(folder).read()["cpu_seconds"].sum())


def comparisons(folder: Path) -> list[Bar]:
    """Overhead per job, and two nodes against one."""
    found = {}
    for nodes in (1, 2):
        with loopback(nodes) as address:
            timed(address, folder / f"warm {nodes}", 1, 200)
            found[nodes] = min(timed(address, folder / f"runs {nodes} {again}", RUNS, BUDGET) for again in range(3))
            if nodes == 1:
                few, many = 10, 210
                walls, spent = zip(
                    *(timed(address, folder / f"{n}", n, 100, ("de1",)) for n in (few, many)), strict=True
                )
    each = ((walls[1] - walls[0]) - (spent[1] - spent[0])) / ((many - few) * len(PROBLEMS))
    (one, one_cpu), (two, two_cpu) = found[1], found[2]
    busy = f"wall {one:.1f} s and {two:.1f} s; CPU of the runs {one_cpu:.1f} s and {two_cpu:.1f} s"
    return [
        Bar("overhead per job, chunked", 1e3 * each, 5.0, "ms"),
        Bar(
            f"8 DE methods x 4 problems x {RUNS} runs, two nodes of one core against one",
            one / two,
            1.7,
            "x",
            False,
            busy,
        ),
    ]


def deliveries(seconds: float) -> list[Bar]:
    """Transitions per second that four actors deliver to a learner that only stores them."""
    from deddqn.distributed.training import cluster_actors
    from deddqn.training.config import ClusterConfig, TrainingConfig
    from deddqn.training.dqn.trainer import Trainer

    config = TrainingConfig(
        n_runs=N_RUNS,
        rollout_steps=ROLLOUT_STEPS,
        buffer_size=400_000,
        learning_starts=10**9,
        synchronous=False,
        tensorboard=False,
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        loopback(2, ACTORS // 2) as address,
        cluster_actors(ClusterConfig(address=address, actors=ACTORS)) as make,
    ):
        trainer = Trainer(config, folder, quiet=True, actors=make)
        begun, first, busy = 0.0, 0, 0.0

        def more() -> bool:
            return not begun or time.monotonic() - begun < seconds

        try:
            for rollout in trainer.actors.rollouts(more, overlapped=True):
                trainer.train_on(rollout)
                if not begun and trainer.actors.ready == ACTORS and trainer.decisions > 100_000:
                    begun, first, busy = time.monotonic(), trainer.decisions, time.process_time()
            took, used = time.monotonic() - begun, time.process_time() - busy
        finally:
            trainer.actors.close()
            trainer.close()
    delivered = trainer.decisions - first
    cores = len(os.sched_getaffinity(0))
    note = (
        f"{cores} cores for {ACTORS} actors and the learner, which used {1e6 * used / delivered:.2f} us per transition"
    )
    bar = Bar("4 actors to one learner over loopback", delivered / took, 150e3, "transitions/s", False, note)
    return [
        bar,
        Bar("time of the learner's process per transition that it takes in", 1e6 * used / delivered, 6.67, "us"),
    ]


def actor_pace(seconds: float = 3.0) -> float:
    """Transitions per CPU second of one core with the runs of one actor, in this process."""
    from deddqn.training.config import TrainingConfig
    from deddqn.training.dqn.network import QNetwork
    from deddqn.training.dqn.rollout import Actors

    config = TrainingConfig(n_runs=N_RUNS // ACTORS, rollout_steps=ROLLOUT_STEPS, threads=1)
    problems = config.training_problems()
    layers = QNetwork(99, config.hidden, 4).export()
    actors = Actors(config, problems, [np.zeros(0)] * len(problems), layers)
    actors.set_epsilon(config.epsilon)
    rollout, made = actors.collect(actors.new_rollout()), 0
    begun = time.process_time()
    while time.process_time() - begun < seconds:
        made += actors.collect(rollout).decisions
    return made / (time.process_time() - begun)


def cost(evaluations_per_second: float, actor_rate: float) -> None:
    """What 100 times the paper's budget takes, from the pace of a learner and the pace of one core with actors."""
    total = 100.0 * PAPER_EVALUATIONS
    hours = total / evaluations_per_second / 3600.0
    print(f"100 x the paper's budget: {total:.3g} evaluations")
    print(f"learner: {hours:.1f} h at {evaluations_per_second:,.0f} evaluations/s")
    print(f"actors:  {total / actor_rate / 3600.0:,.0f} core hours at {actor_rate:,.0f} transitions/s per core")
    print(f"cores that keep the learner busy: {math.ceil(evaluations_per_second / actor_rate)}")


def main(arguments: list[str] | None = None) -> list[Bar]:
    """Measure, print and return the bars."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of the delivery")
    parser.add_argument("--cost", type=float, nargs=2, metavar=("LEARNER", "CORE"), help="evaluations/s of both")
    options = parser.parse_args(arguments or [])
    if options.cost:
        cost(*options.cost)
        return []
    with tempfile.TemporaryDirectory() as place:
        bars = comparisons(Path(place))
        print_bars(bars)
    print(f"one core with actors: {actor_pace():,.0f} transitions per CPU second", flush=True)
    more = deliveries(options.seconds)
    print_bars(more)
    return [*bars, *more]


if __name__ == "__main__":
    main(sys.argv[1:])
