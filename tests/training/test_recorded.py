"""A short training gives the weights that are committed: to the bit on the machine of the record, closely elsewhere."""

import shlex

import numpy as np
import pytest

pytest.importorskip("tyro")

from deddqn.cli import main
from tests.docs.blocks import ROOT, blocks
from tests.docs.commands import lines
from tools import training_checksum
from tools.training_checksum import TOLERANCE, checksum, judge, machine, read_record, trained_weights


def documented() -> list[list[str]]:
    """The commands of the section "The same weights again"."""
    page = (ROOT / "docs" / "guide" / "training.md").read_text()
    section = page.split("## The same weights again")[1].split("\n## ")[0]
    return [words for block in blocks(section) for words in lines(block.text)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder that the documented command fills."""
    folder, (train, _) = tmp_path_factory.mktemp("recorded"), documented()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert train[0] == "deddqn" and main(train[1:]) == 0, shlex.join(train)
    return folder / train[train.index("--out") + 1]


def test_the_documented_command_gives_the_recorded_weights(trained, capsys):
    _, check = documented()
    assert check[1] == "tools/training_checksum.py" and trained.as_posix().endswith(check[2])
    status = training_checksum.main([str(trained)])
    assert status == 0, capsys.readouterr().out


def test_the_record_is_whole():
    weights, made_on, sha256 = read_record()
    assert checksum(weights) == sha256
    assert made_on.keys() == machine().keys()
    page = (ROOT / "docs" / "guide" / "training.md").read_text()
    assert sha256 in page


def test_where_the_machine_is_the_recorded_one_every_bit_counts():
    weights, made_on, _ = read_record()
    assert judge(weights, made_on)[0]
    name = sorted(weights)[0]
    weights[name].flat[0] = np.nextafter(weights[name].flat[0], np.float32(np.inf))
    good, why = judge(weights, made_on)
    assert not good and "is recorded" in why
    good, why = judge(weights, {**made_on, "torch": "1.0"})
    assert good and "torch 1.0 instead of" in why


def test_elsewhere_weights_must_be_close():
    weights, made_on, _ = read_record()
    elsewhere, name = {**made_on, "processor": "other"}, sorted(weights)[-1]
    weights[name].flat[-1] += 0.5 * TOLERANCE
    assert judge(weights, elsewhere)[0]
    weights[name].flat[-1] += 10 * TOLERANCE
    good, why = judge(weights, elsewhere)
    assert not good and "further than 1e-06" in why
    del weights[name]
    assert "another network" in judge(weights, elsewhere)[1]


def test_other_settings_give_other_weights(trained, tmp_path):
    """Also far beyond the tolerance: what agrees has been learned in the same way."""
    (train, _), weights = documented(), trained_weights(trained)
    assert main([*train[1:], "--out", str(tmp_path / "other"), "--learning-rate", "0.000101"]) == 0
    for here in (machine(), {}):
        assert not judge(trained_weights(tmp_path / "other"), here)[0]
    other = trained_weights(tmp_path / "other")
    assert max(np.abs(other[name] - weights[name]).max() for name in weights) > 100 * TOLERANCE
