"""Plans, results, pools and logs: made, forged, used."""

from __future__ import annotations

import csv
import hashlib
import json
import zipfile
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from deddqn._utils.plain_json import CHECKSUM, checksum
from tests.fuzz.meaning import digest, dumped, plain
from tests.fuzz.mutations import TEXTS, mutated_json, mutated_text


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
