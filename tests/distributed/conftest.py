"""A real Ray cluster for the tests of this folder: two nodes of one core each, on loopback addresses.

Ray's servers listen on all interfaces, so the cluster asks for a token that only this process and its children know.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
QUICK = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 3}
NODE = {"num_cpus": 1, "object_store_memory": 100 * 2**20}  # 127.0.0.1 itself would become the machine's address
PATHS = os.pathsep.join([str(ROOT / "src"), str(ROOT)])

# Ray reads these when it is imported, so they have to be there before.
os.environ |= {
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": os.environ.get("RAY_AUTH_TOKEN", secrets.token_hex(32)),
    "RAY_USAGE_STATS_ENABLED": "0",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One cluster for all, in a process that runs nothing else."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.cluster)


class Machines:
    """The cluster of a session; further nodes come and go."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        self._numbers = count(2)
        head = {**NODE, "node_ip_address": self._next(), "include_dashboard": False, "_system_config": QUICK}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.address = self.cluster.address
        self.add()

    def _next(self) -> str:
        return f"127.0.0.{next(self._numbers)}"

    def connect(self) -> None:
        """Join once for the session: the tests then share the processes of the nodes. Subprocesses join anew."""
        import ray

        ray.init(address=self.address, log_to_driver=False, logging_level="ERROR")

    def close(self) -> None:
        """Leave nothing behind."""
        import ray

        ray.shutdown()
        self.cluster.shutdown()

    def add(self, **settings: Any) -> Any:
        """One more node."""
        return self.cluster.add_node(**{**NODE, "node_ip_address": self._next(), **settings})

    def kill(self, node: Any) -> None:
        """Take a node away without a word (SIGKILL)."""
        self.cluster.remove_node(node, allow_graceful=False)

    @contextmanager
    def extra(self, **settings: Any) -> Iterator[Callable[[], None]]:
        """One more node for a while; gives what kills it."""
        node = self.add(**settings)
        living = [node]

        def kill() -> None:
            if living:
                self.kill(living.pop())

        try:
            yield kill
        finally:
            kill()
            self._wait_for_death(node)

    def _wait_for_death(self, node: Any) -> None:
        """Until the head has noticed, so that the next test finds two nodes."""
        import ray

        alive = [True]
        while any(alive):
            time.sleep(0.1)
            alive = [each["Alive"] for each in ray.nodes() if each["NodeID"] == node.node_id]


@pytest.fixture(scope="session")
def machines() -> Iterator[Machines]:
    pytest.importorskip("ray")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", PATHS)
        patch.delenv("RAY_ADDRESS", raising=False)
        started = Machines()
        try:
            started.connect()
            yield started
        finally:
            started.close()
