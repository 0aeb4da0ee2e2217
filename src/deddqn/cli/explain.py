"""``deddqn explain POLICY``: what it does, which features matter to it, and whether it needs the state at all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from deddqn.evaluation import TRAINING_SUITE


@dataclass(frozen=True, kw_only=True)
class Options:
    """The page is OUT/index.html; the data and all tables lie beside it."""

    policy: Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(help="a name or a policy file")] = None
    problems: Annotated[tuple[str, ...], tyro.conf.arg(help="names such as cec2005:F6/d10, or of suites")] = (
        TRAINING_SUITE,
    )
    repeats: Annotated[int, tyro.conf.arg(help="runs per problem, of the policy and of each control")] = 25
    seed: Annotated[int, tyro.conf.arg(help="root of all random numbers")] = 0
    budget: Annotated[int, tyro.conf.arg(help="evaluations per run")] = 10_000
    population_size: Annotated[int | None, tyro.conf.arg(help="NP; the policy's own by default")] = None
    states: Annotated[int, tyro.conf.arg(help="decisions per problem that are drawn for the permutations")] = 500
    control: Annotated[bool, tyro.conf.arg(help="also run the controls: own shares, fixed strategies")] = True
    workers: Annotated[int | None, tyro.conf.arg(help="threads; all cores by default")] = None
    out: Annotated[Path | None, tyro.conf.arg(help="folder of the page; out/explain/POLICY by default")] = None
    redraw: Annotated[Path | None, tyro.conf.arg(help="only draw the page of this folder again, from its data")] = None


def run(options: Options) -> int:
    """Explain, write, and print the findings."""
    from deddqn.experiments.progress import steps
    from deddqn.explain import Request, draw_page, explain, findings, write_page

    if options.redraw is not None:
        if options.policy is not None:
            raise ValueError(f"--redraw takes everything from its folder; leave out the policy {options.policy!r}")
        print(f"open {draw_page(options.redraw)}")
        return 0
    if options.policy is None:
        raise ValueError("policy must be given: a name (see 'deddqn policies') or a policy file")
    request = Request(
        policy=options.policy,
        problems=options.problems,
        repeats=options.repeats,
        seed=options.seed,
        budget=options.budget,
        population_size=options.population_size,
        states=options.states,
        control=options.control,
        threads=options.workers,
    )
    folder = options.out if options.out is not None else Path("out/explain") / request.chosen.name
    console = Console()
    with steps(console, "explaining", request.steps, "batches of runs") as progress:
        found = explain(request, progress)
    page = write_page(found, folder)
    for sentence in findings(found):
        console.print(f"- {sentence}", markup=False, highlight=False)
    console.print(f"open {page}", markup=False, highlight=False, soft_wrap=True)
    return 0
