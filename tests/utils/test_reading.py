"""The door for files: limits, names, forms."""

from __future__ import annotations

import io
import os
import stat
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deddqn._utils.names import escaped, folder_names
from deddqn._utils.plain_json import Exactly, Mapped, check_form, checksum, parse_json
from deddqn._utils.reading import below_folder, check_member, read_arrays, read_limited, read_members, refusing


def zipped(members: dict[str, bytes], **options: Any) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", **options) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return sink.getvalue()


def npz(**arrays: Any) -> bytes:
    sink = io.BytesIO()
    np.savez(sink, **arrays)
    return sink.getvalue()


def test_large_files_pipes_and_folders_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * 11)
    with pytest.raises(ValueError, match="it has 11 bytes, more than the 10 allowed"):
        read_limited(tmp_path / "large", 10)
    assert read_limited(tmp_path / "large", 11) == b"x" * 11
    os.mkfifo(tmp_path / "pipe")
    for odd in ("pipe", "."):
        with pytest.raises(ValueError, match=r"not a plain file"), refusing(tmp_path / odd, "it"):
            read_limited(tmp_path / odd, 10)


@pytest.mark.parametrize(
    "name", ["", "/a", "a//b", "../a", "a/..", "a/./b", "a\\b", "C:a", "a\0", "a\n", "a/ /b", "...", "a/", "a*", 'a"']
)
def test_names_that_leave_a_folder(name: str, tmp_path: Path) -> None:
    for check in (check_member, lambda name: below_folder(tmp_path, name)):
        with pytest.raises(ValueError, match="no plain relative path"):
            check(name)


def test_links_do_not_lead_out_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link").symlink_to(tmp_path)
    with pytest.raises(ValueError, match="leads out of"):
        below_folder(tmp_path / "in", "link/x")
    assert below_folder(tmp_path / "in", "a/b..c") == tmp_path / "in" / "a" / "b..c"


def test_members_are_limited() -> None:
    bomb = zipped({"a": b"\0" * 10**6}, compression=zipfile.ZIP_DEFLATED)
    assert len(bomb) < 5000
    with pytest.raises(ValueError, match="its members have 1,000,000 bytes, more than the 999,999 allowed"):
        list(read_members(bomb, 999_999))
    with pytest.raises(ValueError, match="it has 2 members, more than the 1 allowed"):
        list(read_members(zipped({"a": b"", "b": b""}), 10, 1))
    with pytest.raises(ValueError, match="compressed in another way"):
        list(read_members(zipped({"a": b"x"}, compression=zipfile.ZIP_LZMA), 10))
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        link = zipfile.ZipInfo("a")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc")
    with pytest.raises(ValueError, match="'a' is a link"):
        list(read_members(sink.getvalue(), 10))
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("a", "1")
        archive.writestr("a", "2")
    with pytest.raises(ValueError, match="'a' twice"):
        list(read_members(sink.getvalue(), 10))


def test_a_list_of_members_that_swallows_others_is_refused() -> None:
    content = bytearray(zipped({"a": b"1", "b": b"2"}))
    first = content.index(b"PK\1\2")
    content[first + 32] = 47  # a comment as long as the next entry
    assert zipfile.ZipFile(io.BytesIO(content)).namelist() == ["a"]
    with pytest.raises(ValueError, match="its list of members is not whole"):
        list(read_members(bytes(content), 10))


def test_arrays_have_the_size_that_they_declare() -> None:
    good = npz(a=np.arange(6.0).reshape(2, 3), b=np.array("text"))
    found = read_arrays(good, 10_000)
    assert found["a"].tolist() == [[0, 1, 2], [3, 4, 5]] and str(found["b"]) == "text"
    for wrong in (b"(2, 9)", b"(9, 3)", b"(-2,3)", b"(2,-3)"):
        content = dict(read_members(good, 10_000))
        content["a.npy"] = content["a.npy"].replace(b"(2, 3)", wrong)
        with pytest.raises(ValueError, match="not those of the shape"):
            read_arrays(zipped(content), 10_000)
    with pytest.raises(ValueError, match="of the type"):
        read_arrays(npz(a=np.array([None])), 10_000)
    with pytest.raises(ValueError, match="of the type"):
        read_arrays(npz(a=np.ones(2, dtype=complex)), 10_000)


def test_json_is_bounded_and_without_duplicates() -> None:
    for text, message in (
        ("[" * 10**6, "nested too deeply"),
        ("[" * 40 + "]" * 40, "nested deeper than 32 levels"),
        ('{"a": 1, "a": 2}', "'a' is there twice"),
        ("1" * 5000, "digits"),
    ):
        with pytest.raises(ValueError, match=message):
            parse_json(text)


FORM = {"a": int, "b?": [float], "c?": (str, None), "d?": Mapped(bool), "e?": Exactly("x")}


@pytest.mark.parametrize(
    "value", [{"a": 1}, {"a": 1, "b": [1, 2.5], "c": None, "d": {"k": True}, "e": "x"}, {"a": -(10**40), "c": "t"}]
)
def test_values_of_a_form(value: Any) -> None:
    check_form(value, FORM, "it")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "it must be an object, got"),
        ({}, "it must have 'a'"),
        ({"a": True}, "it.a must be a whole number, got True"),
        ({"a": 1.0}, "it.a must be a whole number"),
        ({"a": 1, "z": 1}, "it must have no 'z'"),
        ({"a": 1, "b": [1, "2"]}, r"it.b\[1\] must be a number, got '2'"),
        ({"a": 1, "b": [10**400]}, r"it.b\[0\] must be a number"),
        ({"a": 1, "c": 3}, "it.c must be text or null, got 3"),
        ({"a": 1, "d": {"k": 1}}, "it.d.k must be true or false, got 1"),
        ({"a": 1, "e": "y"}, "it.e must be 'x', got 'y'"),
    ],
)
def test_values_of_another_form(value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_form(value, FORM, "it")


def test_checksums_know_where_one_part_ends() -> None:
    assert checksum({"a": 1, "b": 2}) == checksum({"b": 2, "a": 1}) != checksum({"a": 2, "b": 1})
    assert checksum(0, b"ab", b"c") != checksum(0, b"a", b"bc") != checksum(0, b"abc")


def test_names_of_folders() -> None:
    names = ["..", ".", "a/b", "a_b", "/", "x" * 500, "\u202e", "CON:"]
    folders = folder_names(names)
    assert len(set(folders.values())) == len(names) and max(map(len, folders.values())) <= 130
    assert not any("/" in folder or folder.strip(".") == "" or ":" in folder for folder in folders.values())
    assert escaped('a"b\\c\n') == 'a\\"b\\\\c\\n'
