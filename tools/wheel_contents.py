"""Check that a wheel holds the package, its compiled module and its licence, and nothing else.

python tools/wheel_contents.py dist/bevel-0.2.0-cp312-abi3-linux_x86_64.whl
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
METADATA = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}


def sources() -> set[str]:
    """Files of the package that git tracks; the whole folder where there is no git."""
    command = ["git", "ls-files", "src/bevel"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        return {name.removeprefix("src/") for name in listed.stdout.splitlines()}
    files = (path for path in (ROOT / "src/bevel").rglob("*") if path.is_file())
    return {path.relative_to(ROOT / "src").as_posix() for path in files}


def is_compiled(name: str) -> bool:
    return name.startswith("bevel/_core.") and PurePosixPath(name).suffix in {".so", ".pyd"}


def main() -> int:
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        held = {name for name in wheel.namelist() if not name.endswith("/")}
    folder = next(name.split("/")[0] for name in held if ".dist-info/" in name)
    expected = sources() | {f"{folder}/{name}" for name in METADATA}
    compiled = {name for name in held if is_compiled(name)}
    for name in sorted(expected - held):
        print(f"missing: {name}")
    for name in sorted(held - expected - compiled):
        print(f"not expected: {name}")
    if len(compiled) != 1:
        print(f"compiled modules: {sorted(compiled)}, expected one")
    complete = held - compiled == expected and len(compiled) == 1
    print(f"{len(held)} files" if complete else "wrong contents")
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
