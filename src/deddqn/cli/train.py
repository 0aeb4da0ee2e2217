"""``deddqn train``: learn a policy by Algorithm 1, or by direct search (``--preset search`` or ``search-x``)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from deddqn._utils.optional_imports import need
from deddqn.training.__main__ import run_settings
from deddqn.training.config import ClusterConfig
from deddqn.training.strict_json import read_values

PaperGrid = Literal["paper"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that is not given comes from the preset, and what that does not say from the paper."""

    preset: Annotated[
        str, tyro.conf.arg(help="paper-r1, paper-r2, paper-r3, fast-r2, progress, rank, search, search-x, ..")
    ] = "paper-r2"
    config: Annotated[Path | None, tyro.conf.arg(help="a JSON file of settings, instead of a preset")] = None
    suite: str | None = None
    problems: Annotated[list[str] | None, tyro.conf.arg(help="names like cec2005:F1/d10")] = None
    reward: str | None = None
    reward_scale: float | None = None
    hidden: list[int] | None = None
    learning_rate: float | None = None
    gamma: float | None = None
    epsilon: float | None = None
    commitment: Annotated[float | None, tyro.conf.arg(help="share of generations of one random strategy")] = None
    n_step: int | None = None
    loss: str | None = None
    target: str | None = None
    target_sync: int | None = None
    teacher: Annotated[str | None, tyro.conf.arg(help="policy that decides in the lanes of --taught")] = None
    taught: Annotated[float | None, tyro.conf.arg(help="share of the lanes in which the teacher decides")] = None
    averaging: Annotated[int | None, tyro.conf.arg(help="updates or generations that what is judged averages")] = None
    batch: int | None = None
    replay_ratio: Annotated[float | None, tyro.conf.arg(help="replayed samples per evaluation")] = None
    memory: int | None = None
    warmup: int | None = None
    lanes: Annotated[int | None, tyro.conf.arg(help="parallel runs")] = None
    decisions: Annotated[int | None, tyro.conf.arg(help="per lane between looks at the network")] = None
    cycles: int | None = None
    budget: int | None = None
    population_size: int | None = None
    final_population: Annotated[int | None, tyro.conf.arg(help="what NP shrinks to over the budget")] = None
    repair: Annotated[str | None, tyro.conf.arg(help="at the bounds: clip, reflect or midpoint")] = None
    n_candidates: Annotated[int | None, tyro.conf.arg(help="trials of a chosen move that the policy picks from")] = None
    portfolio: Annotated[str | None, tyro.conf.arg(help="paper or beyond")] = None
    evaluate_every: int | None = None
    evaluate_repeats: int | None = None
    seed: int | None = None
    device: str | None = None
    threads: int | None = None
    synchronous: Annotated[Literal["yes", "no"] | None, tyro.conf.arg(help="deterministic, or overlapped")] = None
    fused: Annotated[Literal["yes", "no"] | None, tyro.conf.arg(help="let torch.compile fuse the update")] = None
    checkpoint: str | None = None
    checkpoint_seconds: float | None = None
    max_seconds: float | None = None
    generations: Annotated[int | None, tyro.conf.arg(help="of the search")] = None
    candidates: Annotated[int | None, tyro.conf.arg(help="of the search, per generation")] = None
    sample: Annotated[int | None, tyro.conf.arg(help="of the search: problems that a generation draws")] = None
    sigma: Annotated[float | None, tyro.conf.arg(help="of the search: the first standard deviation of a weight")] = None
    facts: Annotated[int | None, tyro.conf.arg(help="how many facts the searched policy weighs")] = None
    pool: Annotated[str | None, tyro.conf.arg(help="CSV of deddqn export: runs that the search is ranked among")] = None
    start: Annotated[str | None, tyro.conf.arg(help="softmax policy that the search begins with")] = None


@dataclass(frozen=True, kw_only=True)
class Options(Settings):
    """Everything that is not given comes from the preset, and what that does not say from the paper."""

    out: Annotated[Path, tyro.conf.arg(help="folder of the log, the checkpoints and the policies")]
    resume: Annotated[bool, tyro.conf.arg(help="go on from the newest checkpoint")] = False
    grid: Annotated[PaperGrid | None, tyro.conf.arg(help="3 rewards x 2 batches x 2 depths, and the choice")] = None
    cluster: Annotated[
        str | None,
        tyro.conf.arg(help="actors on a Ray cluster: 'auto', or HOST:PORT of its head (docs/guide/distributed.md)"),
    ] = None
    actors: Annotated[int | None, tyro.conf.arg(help="on a cluster; as many as it has cores by default")] = None
    broadcast: Annotated[int | None, tyro.conf.arg(help="on a cluster: updates between broadcasts of the weights")] = (
        None
    )
    staleness: Annotated[int | None, tyro.conf.arg(help="on a cluster: most updates that weights may be behind")] = None


def settings_of(options: Settings) -> dict[str, Any]:
    """The settings that were given, as in a JSON file."""
    names = {field.name for field in dataclasses.fields(Settings)} - {"preset", "config"}
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    given |= {name: given[name] == "yes" for name in ("synchronous", "fused") if name in given}
    base = read_values(options.config) if options.config is not None else {"preset": options.preset}
    return {**base, **given}


def cluster_of(options: Options) -> ClusterConfig | None:
    """Where the actors work, if on a cluster."""
    given = {name: getattr(options, name) for name in ("actors", "broadcast", "staleness")}
    given = {name: value for name, value in given.items() if value is not None}
    if options.cluster is None:
        if given:
            raise ValueError(f"{', '.join(given)} must be left out without --cluster, got {given}")
        return None
    if options.grid is not None:
        raise ValueError("cluster must be left out with --grid: its networks have one lane each")
    return ClusterConfig(address=options.cluster, **given)


def run(options: Options) -> int:
    """Train, search, or train the grid."""
    settings, cluster = settings_of(options), cluster_of(options)
    if options.grid is not None:
        need("torch", "training a network", "train")
        from deddqn.training.dqn.paper_grid import paper_grid

        print(paper_grid(settings, options.out, resume=options.resume))
        return 0
    return run_settings(settings, options.out, resume=options.resume, cluster=cluster)
