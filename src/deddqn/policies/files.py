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
from deddqn._utils.plain_json import CHECKSUM, Mapped, check_checksum, check_form, checksum, parse_json
from deddqn._utils.reading import array_parts, read_limited, read_tensors, refusing
from deddqn.de.config import check_own
from deddqn.de.portfolio import Portfolio
from deddqn.features.layout import LAYOUT_VERSION, PAPER_STATE

FORMAT = "deddqn-policy-1"
LARGEST_FILE = 2**28
KINDS_OF_NUMBERS = ("F32", "F64")
HEADER = {
    "format": str,
    "kind?": str,
    "name": str,
    "layout_version": int,
    "portfolio": [[(str, float)]],
    "max_dimension": int,
    "state?": str,
    "provenance?": dict,
    "de?": Mapped((str, float, None)),
    f"{CHECKSUM}?": str,
}
"""The form of the header; files of 0.1.0 have no checksum."""


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
    state: str = PAPER_STATE,
    provenance: dict[str, Any] | None = None,
    de: Mapping[str, Any] | None = None,
) -> None:
    """Write tensors and what is known about them: to a temporary name first, then renamed.

    `state` and `de` are what the policy needs (see `deddqn.features.STATES`, `deddqn.de.config.OWN_SETTINGS`), where
    they are not the paper's.
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
    if state != PAPER_STATE:
        header["state"] = state
    if de:
        header["de"] = check_own(de)
    header = json.loads(json.dumps(header))
    header[CHECKSUM] = checksum(header, *array_parts(tensors))
    write_bytes(path, save(tensors, metadata={"deddqn": json.dumps(header)}))


def read_policy_file(path: str | os.PathLike[str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The tensors and the header of a policy file."""
    try:
        with refusing(path, "a policy file", PolicyFileError):
            tensors, metadata = read_tensors(read_limited(path, LARGEST_FILE), KINDS_OF_NUMBERS)
            if set(metadata) != {"deddqn"}:
                raise ValueError("it has no deddqn metadata")
            return tensors, _read_header(tensors, metadata["deddqn"])
    except FileNotFoundError:
        raise PolicyFileError(f"no policy file at {path}") from None


def _read_header(tensors: dict[str, np.ndarray], text: str) -> dict[str, Any]:
    header: dict[str, Any] = parse_json(text, dict, "its header")
    if header.get("format") != FORMAT:
        raise ValueError(f"it has format {header.get('format')!r}, this version reads {FORMAT!r}")
    check_form(header, HEADER, "its header")
    if header["layout_version"] != LAYOUT_VERSION:
        raise ValueError(
            f"it was made for feature layout {header['layout_version']}, this version has {LAYOUT_VERSION}"
        )
    if (stated := header.pop(CHECKSUM, None)) is not None:
        check_checksum(stated, checksum(header, *array_parts(tensors)))
    return header
