"""Policy files: safetensors with JSON metadata (kind, portfolio, settings, version of the features, dim^max,
provenance).

No pickle, nothing is executed; a file that is wrong, truncated or made for other features is refused with the reason.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from deddqn._utils.atomic import write_bytes
from deddqn.de.config import check_own
from deddqn.de.portfolio import Portfolio
from deddqn.features.layout import LAYOUT_VERSION

FORMAT = "deddqn-policy-1"


class PolicyFileError(ValueError):
    """A policy file that cannot be used; the message says why."""


def write_policy_file(
    path: str | os.PathLike[str],
    tensors: dict[str, np.ndarray],
    *,
    kind: str,
    name: str,
    portfolio: Portfolio,
    max_dimension: int,
    provenance: dict[str, Any] | None = None,
    de: Mapping[str, Any] | None = None,
) -> None:
    """Write tensors and what is known about them: to a temporary name first, then renamed.

    `de` are the settings that the policy needs (see `deddqn.de.config.OWN_SETTINGS`), where they are not the paper's.
    """
    from safetensors.numpy import save

    header = {
        "format": FORMAT,
        "kind": kind,
        "name": name,
        "layout_version": LAYOUT_VERSION,
        "portfolio": portfolio.values,
        "max_dimension": max_dimension,
        "provenance": provenance or {},
    }
    if de:
        header["de"] = check_own(de)
    write_bytes(path, save(tensors, metadata={"deddqn": json.dumps(header)}))


def read_policy_file(path: str | os.PathLike[str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The tensors and the header of a policy file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a dict)
    except FileNotFoundError:
        raise PolicyFileError(f"no policy file at {path}") from None
    except (SafetensorError, OSError) as error:
        raise PolicyFileError(f"{path} is not a whole safetensors file: {error}") from error
    return tensors, _read_facts(path, metadata)


def _read_facts(path: str | os.PathLike[str], metadata: dict[str, str]) -> dict[str, Any]:
    try:
        header: dict[str, Any] = json.loads(metadata["deddqn"])
    except (KeyError, json.JSONDecodeError):
        raise PolicyFileError(f"{path} has no deddqn metadata: it is not a policy file") from None
    if not isinstance(header, dict):
        raise PolicyFileError(f"{path} has no deddqn metadata: it is not a policy file")
    if header.get("format") != FORMAT:
        raise PolicyFileError(f"{path} has format {header.get('format')!r}, this version reads {FORMAT!r}")
    if header.get("layout_version") != LAYOUT_VERSION:
        raise PolicyFileError(
            f"{path} was made for feature layout {header.get('layout_version')}, this version has {LAYOUT_VERSION}"
        )
    return header
