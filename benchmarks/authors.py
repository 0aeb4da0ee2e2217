"""The networks that the paper's authors released, replayed: the numbers of docs/results/authors.md.

``python -m benchmarks.authors R2.h5f R3.h5f --out out/authors``, a quarter of a minute. The two files are those of the
authors' repository (``train-NN/dqn_ea_weights-R2.h5f`` and ``-R3.h5f``), which carry no licence and are not shipped
here. Every run is an evaluation on the test functions: log it (docs/research/test-set-log.md).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from deddqn.analysis.comparison import Analysis
from deddqn.analysis.reproduction import cell_verdicts, verdict_counts
from deddqn.analysis.result_tables import mark_of
from deddqn.analysis.tables import method_title, number, short_problem
from deddqn.experiments.plan import plan_experiment
from deddqn.experiments.runner import run_experiment
from deddqn.policies.keras_import import import_keras, read_keras_network
from deddqn.policies.policy import CompiledPolicy
from deddqn.policies.q_network import load_policy_file

COLUMNS = ("ddqn-r2", "ddqn-r3")
"""The methods whose columns of Table 3 the files belong to."""


def imported(weights: Path, name: str, folder: Path, state: str) -> CompiledPolicy:
    """The policy of a weight file, through ``deddqn import``."""
    out = folder / f"{name}-{state}.safetensors"
    import_keras(weights, out, state=state, name=name)
    return load_policy_file(out)


def print_cells(analysis: Analysis) -> None:
    """Mean (standard deviation), and in brackets the paper's mean with the verdict; p-values after Holm."""
    cells = {(cell.method, cell.problem): cell for cell in analysis.cells}
    heads = [f"{method_title(method)} | Welch p | TOST p" for method in analysis.methods]
    print(f"| problem | {' | '.join(heads)} |\n|{'---|' * (1 + 3 * len(heads))}")
    for problem in analysis.problems:
        row = [short_problem(problem)]
        for method in analysis.methods:
            cell = cells[method, problem]
            assert cell.paper is not None
            row.append(f"{number(cell.mean)} ({number(cell.std)}) [{number(cell.paper.mean)} {mark_of(cell)}]")
            row += [f"{cell.adjusted:.2g}", f"{cell.adjusted_tost:.2g}"]
        print(f"| {' | '.join(row)} |")


def print_shares(analysis: Analysis) -> None:
    """How often each strategy was applied, over all runs."""
    for method in analysis.methods:
        rows = analysis.runs[analysis.runs["method"] == method]
        counts = np.sum([np.reshape(c, (-1, 4)).sum(axis=0) for c in rows["strategy_counts"]], axis=0)
        print(f"{method_title(method)}: shares {' '.join(f'{share:.1%}' for share in counts / counts.sum())}")


def main() -> None:
    """Import, run, judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weights", type=Path, nargs=len(COLUMNS), help="the authors' files of R2 and R3")
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--state", default="authors", choices=("authors", "paper"))
    parser.add_argument("--suite", default="cec2005-test", help="another one to try the command")
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for weights in options.weights:
        print(f"{weights.name}: sha256 {read_keras_network(weights).provenance['sha256']}")
    pairs = zip(options.weights, COLUMNS, strict=True)
    policies = [imported(weights, name, options.out, options.state) for weights, name in pairs]
    folder = options.out / f"runs-{options.state}"
    run_experiment(plan_experiment(policies, [options.suite], runs=options.runs, seed=options.seed), folder)
    analysis = Analysis.of_folder(folder)
    print_shares(analysis)
    if verdicts := cell_verdicts(analysis):
        print_cells(analysis)
        for method, counted in verdict_counts(verdicts).items():
            print(f"{method_title(method)}: {', '.join(f'{n} {verdict}' for verdict, n in counted.items() if n)}")


if __name__ == "__main__":
    main()
