"""Saving is whole or not at all: kills, limits, full disks and forbidden folders."""

import errno
import os
import resource
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import bevel
from bevel.files import atomic
from bevel.files.atomic import write_whole

OLD, NEW = b"old" * 1000, b"new" * 2000


@pytest.fixture
def path(tmp_path):
    """A file that exists already."""
    path = tmp_path / "model.bevel"
    path.write_bytes(OLD)
    return path


def assert_old_is_whole(path):
    assert path.read_bytes() == OLD
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_new_contents_take_the_place_of_old_ones(path):
    write_whole(path, [NEW[:7], memoryview(NEW)[7:]])
    assert path.read_bytes() == NEW
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_readers_of_the_old_file_go_on_reading_it(path):
    with path.open("rb") as stream:
        write_whole(path, [NEW])
        assert stream.read() == OLD


def test_new_file_has_the_permissions_of_any_new_file(tmp_path):
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "model.bevel", [NEW])
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "model.bevel").stat().st_mode) == 0o640


def test_file_that_exists_keeps_its_permissions(path):
    path.chmod(0o604)
    write_whole(path, [NEW])
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_link_is_followed(path):
    link = path.with_name("link.bevel")
    link.symlink_to(path.name)
    write_whole(link, [NEW])
    assert link.is_symlink()
    assert path.read_bytes() == NEW


@pytest.mark.parametrize("letter", ["x", "ж"])
def test_name_may_be_as_long_as_the_system_allows(tmp_path, letter):
    name = letter * (255 // len(letter.encode()))
    write_whole(tmp_path / name, [NEW])
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_error_names_the_file_that_was_asked_for(tmp_path):
    path = tmp_path / "no such folder" / "model.bevel"
    with pytest.raises(FileNotFoundError) as error:
        write_whole(path, [NEW])
    assert error.value.filename == str(path)


def failing_pieces():
    yield NEW
    raise KeyboardInterrupt


def test_interrupt_half_way_leaves_the_old_file(path):
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, failing_pieces())
    assert_old_is_whole(path)


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_full_disk_leaves_the_old_file(path, monkeypatch, call):
    def fail(*_arguments, **_options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic.os if call == "fsync" else Path, call, fail)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, [NEW])
    monkeypatch.undo()
    assert_old_is_whole(path)


def test_limit_of_file_size_leaves_the_old_file(path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(NEW) // 2, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_whole(path, [NEW[:100], NEW[100:]])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert_old_is_whole(path)


def test_data_is_on_the_disk_before_the_name_changes(path, monkeypatch):
    calls = []
    fsync, replace = os.fsync, Path.replace
    monkeypatch.setattr(atomic.os, "fsync", lambda fd: (calls.append("fsync"), fsync(fd)))
    monkeypatch.setattr(Path, "replace", lambda a, b: (calls.append("replace"), replace(a, b)))
    write_whole(path, [NEW])
    assert calls == ["fsync", "replace", "fsync"]  # the data, the name, the folder


def test_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write_whole(tmp_path / "nowhere" / "model.bevel", [NEW])


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_folder_without_permission_leaves_the_old_file(path):
    path.parent.chmod(0o500)
    try:
        with pytest.raises(PermissionError):
            write_whole(path, [NEW])
    finally:
        path.parent.chmod(0o700)
    assert_old_is_whole(path)


def test_folder_and_device_are_no_places_for_a_model(tmp_path):
    with pytest.raises(IsADirectoryError, match="Add a name"):
        write_whole(tmp_path, [NEW])
    with pytest.raises(ValueError, match="ordinary file"):
        write_whole(os.devnull, [NEW])
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


KILL_OFTEN = """
    import os, pathlib, random, signal, sys, time
    from support.model_files import file_of, small_models

    path = pathlib.Path(sys.argv[1])
    models = [small_models()[name][0] for name in ("sparse", "ranks")]
    whole = [file_of(model) for model in models]
    start = time.perf_counter()
    models[0].save(path)
    took = time.perf_counter() - start
    seen, left = set(), False
    for attempt in range(500):
        child = os.fork()
        while child == 0:
            models[1].save(path)
            models[0].save(path)
        time.sleep(random.uniform(0, 4 * took))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        seen.add(whole.index(path.read_bytes()))  # raises if it is neither
        left = left or len(os.listdir(path.parent)) > 1
        if attempt >= 30 and len(seen) == 2 and left:
            break
    print(len(seen), "files seen,", "some" if left else "no", "unfinished ones left")
"""


def test_kill_at_any_moment_leaves_a_whole_file(tmp_path):
    path = tmp_path / "model.bevel"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(KILL_OFTEN), str(path)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert result.stdout == "2 files seen, some unfinished ones left\n", result.stderr
    bevel.load(path)
