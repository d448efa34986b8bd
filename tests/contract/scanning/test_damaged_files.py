"""Damaged Arrow files: an error or a fit, never a crash, a hang or memory without limit."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bevel import ObliqueForestClassifier, scan

pa = pytest.importorskip("pyarrow")

FIT_ALL = """
import sys
from pathlib import Path
from bevel import ObliqueForestClassifier, scan

for path in sorted(Path(sys.argv[1]).glob("*.arrow")):
    print(path.name, flush=True)
    try:
        ObliqueForestClassifier(1, n_jobs=1).fit(scan(path, target="label", memory="100MB"))
    except (ValueError, TypeError, KeyError, OSError, MemoryError, NotImplementedError):
        pass
print("done")
if sys.platform == "linux":
    import resource
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def write_arrow(path, compression=None, n_rows=600):
    rng = np.random.default_rng(0)
    a = rng.normal(size=n_rows)
    table = pa.table(
        {
            "a": a,
            "flag": a > 1,
            "city": np.resize(["Oslo", "Rome"], n_rows),
            "kind": pa.array(np.resize(["x", "y", "z"], n_rows)).dictionary_encode(),
            "nothing": pa.nulls(n_rows),
            "label": np.where(a > 0, "yes", "no"),
        }
    )
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(str(path), table.schema, options=options) as file:
        file.write_table(table, max_chunksize=250)
    return path.read_bytes()


def damage(content, rng):
    """The file with some bytes, or one number of eight, overwritten, or a piece removed."""
    changed = bytearray(content)
    kind = rng.integers(4)
    place = int(rng.integers(8, len(changed) - 8))
    if kind == 0:
        for each in rng.integers(8, len(changed), size=int(rng.integers(1, 40))):
            changed[each] = rng.integers(256)
    elif kind == 1:
        number = int(rng.choice([2**62, 2**40, 2**34, 2**31, -1]))
        changed[place // 8 * 8 : place // 8 * 8 + 8] = number.to_bytes(8, "little", signed=True)
    elif kind == 2:
        changed[place // 8 * 8 + int(rng.integers(4, 8))] = rng.integers(1, 256)
    else:
        del changed[place : place + int(rng.integers(1, 200))]
    return bytes(changed)


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_damaged_arrow_files_do_not_end_the_process(compression, tmp_path):
    content = write_arrow(tmp_path / "good.arrow", compression)
    rng = np.random.default_rng(1)
    for case in range(30):
        (tmp_path / f"{case:03d}.arrow").write_bytes(damage(content, rng))
    run = subprocess.run(
        [sys.executable, "-c", FIT_ALL, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = run.stdout.splitlines()
    assert "done" in lines, f"ended with {run.returncode} at {lines[-1]}: {run.stderr[-500:]}"
    assert run.returncode == 0
    if sys.platform == "linux":
        assert int(lines[-1]) < 1500


def test_offsets_beyond_the_letters_of_a_text_are_refused(tmp_path):
    path = tmp_path / "rows.arrow"
    content = write_arrow(path)
    offsets = np.arange(0, 4 * 20, 4, dtype=np.int32).tobytes()  # of "Oslo", "Rome", ...
    place = content.index(offsets)
    wrong = np.array([2**30], dtype=np.int32).tobytes()
    path.write_bytes(content[: place + 16] + wrong + content[place + 20 :])
    with pytest.raises(pa.ArrowInvalid, match=r"could not read '.*rows\.arrow' as ipc.*ffset"):
        ObliqueForestClassifier(1).fit(scan(path, target="label"))


def test_too_little_memory_is_not_called_a_damaged_file(tmp_path, monkeypatch):
    path = tmp_path / "rows.arrow"
    write_arrow(path)
    table = scan(path, target="label")

    def read(_file):
        raise pa.ArrowMemoryError("malloc of size 2000000000 failed")
        yield

    monkeypatch.setattr(table.source, "_read", read)
    with pytest.raises(MemoryError, match=r"needs more memory than there is to read .*malloc of"):
        ObliqueForestClassifier(1).fit(table)


@pytest.mark.skipif(os.name == "nt", reason="a file that is open cannot be cut short there")
def test_arrow_file_that_is_cut_short_while_it_is_read_is_reported(tmp_path):
    path = tmp_path / "rows.arrow"
    write_arrow(path, n_rows=200_000)
    batches = scan(path, target="label").source.batches()
    next(batches)
    os.truncate(path, 1000)
    with pytest.raises((OSError, ValueError), match="could not read"):
        list(batches)


def test_good_arrow_files_are_read_alike_however_they_are_compressed(tmp_path):
    found = []
    for compression in (None, "lz4", "zstd"):
        path = Path(tmp_path, f"{compression}.arrow")
        write_arrow(path, compression)
        forest = ObliqueForestClassifier(2, random_state=0).fit(scan(path, target="label"))
        found.append(forest.forest_.threshold)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
