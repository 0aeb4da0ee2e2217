"""The formats: how their files are made, changed with and without their checksums, read, used, and what they mean.

A *meaning* is what a reader got out of a file: a mutant that is accepted although its checksum was not made right again
must have that of the original. A *statement* is what a mutant says by itself, read without the package's readers: one
whose checksum was made right must mean exactly that, or be refused.
"""

from __future__ import annotations

import csv
import hashlib
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from deddqn._utils.plain_json import CHECKSUM, checksum
from deddqn._utils.reading import array_parts
from tests.fuzz.mutations import TEXTS, mutated_array, mutated_json, mutated_text


@dataclass(frozen=True)
class Format:
    """A format: its originals, its forgeries, and its reader.

    Parameters
    ----------
    make : writes originals into a folder; returns their names there (files or folders).
    forge : writes over a mutant a whole file with other contents and the right checksum, if the format has one.
    use : reads a file, uses what is there, and returns its meaning; raises what a user would see.
    state : what a whole file says, read in another way; None where `use` returns that itself.
    target : of a folder, the files that are mutated as bytes.
    """

    name: str
    make: Callable[[Path], list[str]]
    forge: Callable[[Random, Path], None]
    use: Callable[[Path], Any]
    state: Callable[[Path], Any] | None = None
    target: str = ""
    weight: int = 1


def digest(*parts: Any) -> str:
    """A short name for what the parts say."""
    total = hashlib.sha256()
    for part in parts:
        total.update(part if isinstance(part, bytes) else repr(part).encode("utf-8", "surrogatepass"))
        total.update(b"|")
    return total.hexdigest()[:16]


def dumped(value: Any) -> str:
    """JSON of mutated values, which may hold what JSON has no word for."""
    return json.dumps(value)


# Policies


def make_policies(folder: Path) -> list[str]:
    """A network and a softmax."""
    from deddqn.de.portfolio import EXTENDED
    from deddqn.policies import save_policy
    from deddqn.policies.softmax import save_softmax

    rng = np.random.default_rng(0)
    shapes = [(9, 99), (4, 9)]
    weights = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    save_policy(folder / "network.safetensors", weights, [w[:, 0].copy() for w in weights], provenance={"by": ["a", 1]})
    gate, table = rng.normal(size=8), rng.normal(size=(len(EXTENDED), 8))
    de = {"population_size": 30, "final_population": 8, "n_candidates": 2}
    save_softmax(folder / "softmax.safetensors", table, prescreening_gate=gate, portfolio=EXTENDED, de=de)
    return ["network.safetensors", "softmax.safetensors"]


def read_safetensors(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Tensors and header, by the library's own reader."""
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        header = json.loads((file.metadata() or {})["deddqn"])
        return {name: file.get_tensor(name) for name in file.keys()}, header  # noqa: SIM118 (not a dict)


def forge_policy(rng: Random, path: Path) -> None:
    """Tensors or header changed."""
    from safetensors.numpy import save_file

    tensors, header = read_safetensors(path)
    header.pop(CHECKSUM, None)
    if rng.random() < 0.5:
        header = mutated_json(rng, header)
    else:
        name = rng.choice(sorted(tensors))
        tensors[rng.choice((name, name, name, rng.choice(TEXTS)))] = mutated_array(rng, tensors[name])
    if isinstance(header, dict):
        header[CHECKSUM] = checksum(json.loads(dumped(header)), *array_parts(tensors))
    save_file({k: np.ascontiguousarray(v) for k, v in tensors.items()}, path, metadata={"deddqn": dumped(header)})


def use_policy(path: Path) -> Any:
    """Read, and run a few generations with it."""
    from deddqn import minimize
    from deddqn.policies import load_policy_file

    policy = load_policy_file(path)
    sizes = {"population_size": 20, "final_population": 8}
    result = minimize(bowl, [(-5, 5)] * 3, policy=policy, maxfun=90, rng=1, **sizes)
    facts = (policy.name, policy.portfolio, policy.max_dimension, sorted(policy.de.items()))
    assert result.nfev > 0
    return digest(*facts, policy.setup.tobytes())


def state_policy(path: Path) -> Any:
    """Header and weights, put together without the reader."""
    from deddqn.de.portfolio import Portfolio
    from deddqn.policies.mlp import pack_network

    tensors, header = read_safetensors(path)
    if header.get("kind", "network") == "network":
        depth = len(tensors) // 2
        setup = pack_network(*([tensors[f"layers.{k}.{part}"] for k in range(depth)] for part in ("weight", "bias")))
    else:
        rows = [tensors["weights"], *(np.atleast_2d(tensors[key]) for key in ("prescreening_gate",) if key in tensors)]
        setup = np.vstack([np.pad(r.astype(np.float64), [(0, 0), (0, 8 - r.shape[1])]) for r in rows]).ravel()
    facts = header["name"], Portfolio(map(tuple, header["portfolio"])), header["max_dimension"]
    return digest(*facts, sorted(header.get("de", {}).items()), setup.tobytes())


# Searches


def bowl(x: np.ndarray) -> float:
    """The function of all searches."""
    return float(np.sum((x - 0.5) ** 2))


def searches() -> dict[str, dict[str, Any]]:
    """Options of searches that use every field of the memory; see `make_searches`."""
    from deddqn.de.portfolio import EXTENDED, Portfolio

    cma = Portfolio([*EXTENDED.values, ("cma", 1.0, 1.0)])
    return {
        "paper": {"policy": "random"},
        "deferred": {"policy": "ddqn", "updating": "deferred", "history": True},
        "network": {"policy": "ddqn", "population_size": 12},
        "surrogate": {"policy": "softmax-x", "population_size": 20, "final_population": 8, "n_candidates": 3},
        "pm": {"policy": "pm-adapss:window=9,alpha=0.5"},
        "auc": {"policy": "f-auc:window=9"},
        "rec": {"policy": "rec-pm"},
        "cma": {"policy": "random", "portfolio": cma, "restart_tolerance": 0.3, "restart_final_fraction": 0.4},
        "mixture": {"policy": "mixture:0.25,0.25,0.5,0"},
        "fixed": {"policy": "de2", "tol": 1e-9, "maxiter": 90},
        "integers": {"policy": "random", "integrality": [1, 2, 0]},
        "lattice": {"policy": "softmax-x", "integrality": 1, "population_size": 20},
    }


def make_searches(folder: Path) -> list[str]:
    """Searches of every kind, saved early, in the middle and late, inside of a generation."""
    from deddqn import Optimizer
    from deddqn.problems import get

    names = []
    for name, options in searches().items():
        for moment in (5, 130, 280):
            given = {"population_size": 15, "maxfun": 400, "rng": 3, **options}
            optimizer = Optimizer([(-4, 5)] * 3, **given)
            while optimizer.result.nfev < moment and not optimizer.stop():
                points = optimizer.ask(7) if given.get("updating") == "deferred" else optimizer.ask()
                optimizer.tell(points, [bowl(x) for x in points])
            optimizer.save(folder / f"{name}-{moment}.npz")
            names.append(f"{name}-{moment}.npz")
    optimizer = Optimizer(get("cec2005:F4/d10"), policy="random", population_size=15, maxfun=400, rng=3)
    optimizer.optimize(callback=lambda intermediate_result: intermediate_result.nit == 4)
    optimizer.save(folder / "registered.npz")
    return [*names, "registered.npz"]


def read_npz(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and description, by NumPy's own reader."""
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    return arrays, json.loads(str(arrays.pop("description")))


def forge_search(rng: Random, path: Path) -> None:
    """Numbers of the arena (mostly), of other arrays, or the description changed."""
    arrays, description = read_npz(path)
    description.pop(CHECKSUM, None)
    draw = rng.random()
    if draw < 0.7:
        arrays["arena"] = mutated_array(rng, arrays["arena"])
    elif draw < 0.8:
        name = rng.choice(sorted(arrays))
        arrays[rng.choice((name, name, name, "x"))] = mutated_array(rng, arrays[name])
    else:
        description = mutated_json(rng, description)
    if isinstance(description, dict):
        description[CHECKSUM] = checksum(json.loads(dumped(description)), *array_parts(arrays))
    np.savez(path, description=np.array(dumped(description)), **arrays)


def state_search(path: Path) -> Any:
    """Arrays and description without what a reader writes anew."""
    from deddqn.engine.run_memory import without_addresses

    arrays, description = read_npz(path)
    description.pop(CHECKSUM, None)
    description["asked"] = sorted(set(description["asked"]))
    arrays["arena"] = without_addresses(arrays["arena"])
    return digest(plain(description), *array_parts_bytes(arrays))


def plain(value: Any) -> str:
    """A JSON value whatever the order of its keys; numbers by their value."""
    return json.dumps(_floats(value), sort_keys=True)


def _floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _floats(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_floats(inner) for inner in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53 else value


def array_parts_bytes(arrays: dict[str, np.ndarray]) -> list[bytes]:
    """The same as `array_parts`, as bytes."""
    return [bytes(part) for part in array_parts(arrays)]


def use_search(path: Path) -> Any:
    """Load, save again for the meaning, and go on for three generations in three ways."""
    from deddqn import Optimizer

    optimizer = Optimizer.load(path)
    again = path.with_name("again.npz")
    optimizer.save(again)
    meaning = state_search(again)
    again.unlink()
    registered = optimizer.problem.evaluable and optimizer.problem.name.startswith("cec2005")
    until = optimizer.result.nit + 3
    optimizer.optimize(
        None if registered else bowl, callback=lambda intermediate_result: intermediate_result.nit >= until
    )
    other = Optimizer.load(path)
    for _ in range(25):
        if other.stop():
            break
        points = other.ask()
        other.tell(points, [bowl(x) for x in points])
    return meaning


# Plans, results, pools


def make_results(folder: Path) -> list[str]:
    """A comparison."""
    from deddqn.experiments import compare

    compare(["de1", "random"], ["cec2005:F1/d10"], runs=2, budget=200, out=folder / "made", workers=1)
    for lock in folder.rglob("*.lock"):
        lock.unlink()
    return ["made"]


def forge_plan(rng: Random, folder: Path) -> None:
    """Another value."""
    path = folder / "plan.json"
    content = json.loads(path.read_text())
    content.pop(CHECKSUM)
    content = mutated_json(rng, content)
    if isinstance(content, dict) and rng.random() < 0.8:
        content[CHECKSUM] = checksum(json.loads(dumped(content)))
    path.write_text(dumped(content))


def use_plan(folder: Path) -> Any:
    """Read it, and what depends on it."""
    from deddqn.experiments import Store

    plan = Store(folder).existing_plan()
    plan.describe(), plan.command("x")
    assert len({job.key for job in plan.jobs[:1000]}) <= 1000
    return plain(json.loads(plan.to_json()))


def state_plan(folder: Path) -> Any:
    """The plan as JSON."""
    content = json.loads((folder / "plan.json").read_text())
    content = {"format": "deddqn-plan-1", **content}
    content.pop(CHECKSUM, None)
    return plain({**content, CHECKSUM: checksum(content)})


def part(folder: Path) -> Path:
    """The file with the rows."""
    return sorted((folder / "results").glob("part-*.parquet"))[0]


def forge_results(rng: Random, folder: Path) -> None:
    """Cells changed, and columns left out, doubled or of another type."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from deddqn.experiments.results import SCHEMA, _checksum

    table = pq.read_table(part(folder))
    name = rng.choice(table.column_names)
    at, cells = table.column_names.index(name), table[name].to_pylist()
    row = rng.randrange(len(cells))
    draw = rng.random()
    if draw < 0.8:
        cells[row] = mutated_json(rng, cells[row])
        try:
            table = table.set_column(at, SCHEMA.field(name), pa.array(cells, SCHEMA.field(name).type))
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            table = table.set_column(at, name, pa.array([str(cell) for cell in cells]))
    elif draw < 0.9:
        table = table.drop_columns([name])
    else:
        table = pa.concat_tables([table] * rng.choice((0, 2, 3)) or [table.slice(0, 0)])
    metadata = dict(SCHEMA.metadata)
    try:
        metadata[CHECKSUM] = _checksum(table)
    except Exception:
        metadata.pop(CHECKSUM, None)
    pq.write_table(table.replace_schema_metadata(metadata), part(folder))


def use_results(folder: Path) -> Any:
    """Read; write CSV and ioh's files; analyse."""
    from deddqn.analysis.comparison import Analysis
    from deddqn.experiments import Store
    from deddqn.experiments.csv_export import stored_rows, write_csv
    from deddqn.loggers.ioh_files import write_ioh_logs

    store = Store(folder)
    frame = store.read()
    if store.problems:
        raise ValueError(store.problems[0])
    meaning = digest(frame.to_json(double_precision=15))
    write_csv(folder, folder / "out.csv")
    write_csv(folder, folder / "out.csv", trajectories=True)
    (folder / "out.csv").unlink()
    for consume in (lambda: write_ioh_logs(stored_rows(folder)[0], folder / "ioh"), lambda: Analysis.of_folder(folder)):
        try:
            consume()
        except (ValueError, KeyError, OSError):
            pass
    return meaning


def state_results(folder: Path) -> Any:
    """The rows as pyarrow reads them, put in order as the store does."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from deddqn.experiments.results import FAILED

    tables = [pq.read_table(path) for path in sorted((folder / "results").glob("part-*.parquet"))]
    frame = pa.concat_tables([table.replace_schema_metadata() for table in tables]).to_pandas()
    order = (frame["status"] != FAILED).to_numpy().argsort(kind="stable")
    kept = frame.iloc[order].drop_duplicates("key", keep="last").sort_index().reset_index(drop=True)
    return digest(kept.to_json(double_precision=15))


def make_pools(folder: Path) -> list[str]:
    """A CSV file as `deddqn export` writes it."""
    names = ["cec2005:F1/d10", "cec2005:F6/d10", "other"]
    rows = [f"k{k},de{k % 4},{name},{k},{0.1 * k + 1e-9:.17g}\n" for name in names for k in range(6)]
    (folder / "pool.csv").write_text("key,method,problem,repeat,error\n" + "".join(rows))
    return ["pool.csv"]


def forge_pool(rng: Random, path: Path) -> None:
    """Fields changed."""
    rows = list(csv.reader(path.read_text().splitlines()))
    row = rng.choice(rows)
    row[rng.randrange(len(row))] = rng.choice((*TEXTS[:8], "nan", "inf", "1e999", "-1", "0x10", "1_0", " 1 ", "١"))
    with open(path, "w", newline="", encoding="utf-8", errors="replace") as file:
        csv.writer(file).writerows(mutated_json(rng, rows) if rng.random() < 0.2 else rows)


def use_pool(path: Path) -> Any:
    """Read."""
    from deddqn.evaluation import rank_score, read_errors
    from deddqn.problems import get

    errors = read_errors(path, [get("cec2005:F1/d10"), get("cec2005:F6/d10")])
    assert 0.0 <= rank_score(errors[:, :1], errors) <= 1.0
    return digest(errors.tobytes())


def state_pool(path: Path) -> Any:
    """The errors as pandas reads them."""
    import pandas as pd

    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    errors = [
        [float(e) for e in frame["error"][frame["problem"] == name]] for name in ("cec2005:F1/d10", "cec2005:F6/d10")
    ]
    found = np.array(errors)
    return digest(np.where(found < 1e-8, 0.0, found).tobytes())


# Logs


def make_logs(folder: Path) -> list[str]:
    """Archives of logs, as a comparison with ioh leaves them (here without ioh itself)."""
    (folder / "logs").mkdir()
    index = {"version": "0.3.22", "suite": "bbob", "scenarios": [{"dimension": 2, "path": "data/a.dat", "runs": [{}]}]}
    for number in (1, 2):
        with zipfile.ZipFile(folder / "logs" / f"ioh-{number:06d}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for run in range(2):
                key = hashlib.sha256(f"{number} {run}".encode()).hexdigest()[:24]
                archive.writestr(f"{key}/bbob/IOHprofiler_f1.json", json.dumps(index))
                archive.writestr(f"{key}/bbob/data/a.dat", f"evaluations raw_y\n1 {run}.5\n")
    return ["logs"]


def forge_logs(rng: Random, folder: Path) -> None:
    """Members renamed, doubled, made links, or with other contents."""
    path = rng.choice(sorted(folder.glob("*.zip")))
    with zipfile.ZipFile(path) as archive:
        members = [(zipfile.ZipInfo(name), archive.read(name)) for name in archive.namelist()]
    at = rng.randrange(len(members))
    info, content = members[at]
    how = rng.randrange(5)
    key = info.filename.split("/")[0]
    if how == 0:
        info.filename = rng.choice(
            (
                f"{key}/../../x",
                f"{key}//tmp/x",
                f"../{key}/x",
                "/tmp/x",
                f"{key}/C:\\x",
                key,
                f"{key}/",
                rng.choice(TEXTS),
            )
        )
    elif how == 1:
        info.external_attr = rng.choice((0o120777, 0o040755, 0o020666)) << 16
    elif how == 2:
        members.append((info, content))
    elif info.filename.endswith(".json") and how == 3:
        content = dumped(mutated_json(rng, json.loads(content))).encode()
    else:
        content = mutated_text(rng, content.decode()).encode()
    members[at] = info, content
    with zipfile.ZipFile(path, "w") as archive:
        for member, inner in members:
            try:
                archive.writestr(
                    member, inner, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
                )
            except (UnicodeEncodeError, ValueError):
                continue


def use_logs(folder: Path) -> Any:
    """Read all archives, and join the runs."""
    from deddqn._utils.reading import refusing
    from deddqn.experiments.evaluation_logs import _read_archive
    from deddqn.loggers.formats import IohLog

    runs: dict[str, dict[str, bytes]] = {}
    for path in sorted(folder.glob("*.zip")):
        with refusing(path, "a log"):
            runs |= _read_archive(path)
    (folder / "joined").mkdir()
    IohLog().join(runs.values(), folder / "joined")
    return digest(sorted((key, sorted(files.items())) for key, files in runs.items()))


def state_logs(folder: Path) -> Any:
    """The members, by the standard library."""
    runs: dict[str, dict[str, bytes]] = {}
    for path in sorted(folder.glob("*.zip")):
        with zipfile.ZipFile(path) as archive:
            found: dict[str, dict[str, bytes]] = {}
            for name in archive.namelist():
                key, _, rest = name.partition("/")
                found.setdefault(key, {})[rest] = archive.read(name)
            runs |= found
    return digest(sorted((key, sorted(files.items())) for key, files in runs.items()))


# Checkpoints of policy searches and trainings


def training() -> Any:
    """The settings of the small training."""
    from deddqn.training.config import TrainingConfig

    settings = {"problems": ("cec2005:F1/d10",), "budget": 300, "learning_starts": 100, "tensorboard": False}
    return TrainingConfig(**settings, n_runs=3, buffer_size=300, hidden=(8,), threads=1)


def make_checkpoints(folder: Path) -> list[str]:
    """A small training with everything in its checkpoint."""
    from deddqn.training.dqn.trainer import Trainer

    trainer = Trainer(training(), folder / "training", quiet=True)
    for rollout in trainer.actors.rollouts(lambda: trainer.decisions < 200, overlapped=False):
        trainer.train_on(rollout)
    trainer.save()
    trainer.close()
    return ["training"]


def newest(folder: Path) -> Path:
    """The checkpoint."""
    return sorted(folder.glob("checkpoint-*"))[-1]


def forge_checkpoint(rng: Random, folder: Path) -> None:
    """State or arrays changed."""
    from safetensors.numpy import load_file, save_file

    checkpoint = newest(folder)
    path = checkpoint / "state.json"
    state = json.loads(path.read_text())
    state.pop(CHECKSUM)
    files = {file: load_file(file) for file in sorted(checkpoint.glob("arrays-*"))}
    if rng.random() < 0.4:
        state = mutated_json(rng, state)
    else:
        file = rng.choice(sorted(files))
        name = rng.choice(sorted(files[file]))
        name = rng.choice((name, "actors/arenas")) if "actors/arenas" in files[file] else name
        files[file][name] = np.ascontiguousarray(mutated_array(rng, files[file][name]))
        save_file(files[file], file)
    arrays = {name: array for found in files.values() for name, array in found.items()}
    if isinstance(state, dict):
        state[CHECKSUM] = checksum(json.loads(dumped(state)), *array_parts(arrays))
    path.write_text(dumped(state))


def use_checkpoint(folder: Path) -> Any:
    """Resume, and train on one more rollout."""
    from deddqn.training.checkpoint import load_checkpoint
    from deddqn.training.dqn.trainer import Trainer

    arrays, state = load_checkpoint(folder)
    trainer = Trainer(training(), folder, resume=True, quiet=True)
    meaning = digest(plain(state), *array_parts_bytes(arrays))
    try:
        until = trainer.decisions + 1
        for rollout in trainer.actors.rollouts(lambda: trainer.decisions < until, overlapped=False):
            trainer.train_on(rollout)
    finally:
        trainer.close()
    return meaning


def state_checkpoint(folder: Path) -> Any:
    """State and arrays, by the libraries' own readers."""
    from safetensors.numpy import load_file

    state = json.loads((newest(folder) / "state.json").read_text())
    arrays = {name: array for file in newest(folder).glob("arrays-*") for name, array in load_file(file).items()}
    kept = {key: value for key, value in state.items() if key not in (CHECKSUM, "format")}
    return digest(plain(kept), *array_parts_bytes(arrays))


FORMATS = [
    Format("search", make_searches, forge_search, use_search, state_search, weight=10),
    Format("policy", make_policies, forge_policy, use_policy, state_policy, weight=3),
    Format("plan", make_results, forge_plan, use_plan, state_plan, "plan.json", weight=2),
    Format("results", make_results, forge_results, use_results, state_results, "results/*.parquet", weight=1),
    Format("pool", make_pools, forge_pool, use_pool, state_pool, weight=2),
    Format("logs", make_logs, forge_logs, use_logs, state_logs, "*.zip", weight=1),
    Format(
        "checkpoint", make_checkpoints, forge_checkpoint, use_checkpoint, state_checkpoint, "checkpoint-*/*", weight=1
    ),
]
