"""The tool that checks includes of the core reports those that are not allowed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[3] / "tools" / "check_includes.py"


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOL), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("file", "include"),
    [
        ("split/cut.h", '"bevel/projection/sampler.h"'),
        ("predict/top_levels/kernel.h", '"bevel/forest/forest_trainer.h"'),
        ("support/thread_pool.h", '"bevel/data/store.h"'),
        ("data/inner/codes.h", "<nanobind/nanobind.h>"),
        ("tree/leaves.h", "<Eigen/Dense>"),
    ],
)
def test_include_against_the_rules_is_named_with_its_line(tmp_path, file, include):
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(f"#pragma once\n#include {include}\n")
    done = run(tmp_path)
    assert done.returncode == 1
    assert f"{path}:2: {file.partition('/')[0]} includes {include}" in done.stdout


def test_include_within_the_rules_passes(tmp_path):
    (tmp_path / "split").mkdir()
    includes = '#include <vector>\n#include "bevel/projection/candidates.h"\n'
    (tmp_path / "split" / "cut.h").write_text(
        includes + '#include "bevel/split/kernels/kernels.h"\n'
    )
    assert run(tmp_path).returncode == 0


def test_folder_that_is_not_in_the_table_is_refused(tmp_path):
    (tmp_path / "unlisted").mkdir()
    (tmp_path / "unlisted" / "old.h").write_text("#pragma once\n")
    assert "'unlisted' is not in the table" in run(tmp_path).stdout
