"""Everything a contributor can run: `nox -l` lists it, `nox -s NAME` runs it.

Sessions build Bevel in an environment of their own. Arguments after `--` go to the tool that the
session runs, as in `nox -s tests -- -k sampler`.
"""

import subprocess
from pathlib import Path

import nox

nox.needs_version = ">=2024.4.15"
nox.options.sessions = ["lint", "tests"]
nox.options.reuse_existing_virtualenvs = True

BUILD_PACKAGES = (
    "scikit-build-core>=0.11",
    "nanobind>=2.7",
    "cmeel-eigen>=3.4",
    "cmake",
    "ninja",
)


@nox.session
def lint(session: nox.Session) -> None:
    """Check format, style and types."""
    session.install(".[lint,test,cli,plot]", "./lab")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("codespell")
    session.run("python", "tools/check_includes.py")
    sources = [str(path) for ext in ("h", "cpp", "inc") for path in Path("cpp").rglob(f"*.{ext}")]
    session.run("clang-format", "--dry-run", "-Werror", *sorted(sources), silent=True)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the fast tests."""
    session.install(".[test]", "./lab")
    session.run("pytest", "-n", "2", *session.posargs)


@nox.session
def doctests(session: nox.Session) -> None:
    """Run the examples in docstrings and documents."""
    session.install(".[test]")
    session.run("pytest", "--doctest-modules", "--doctest-glob=*.md", "--pyargs", "bevel", "docs")


@nox.session
def coverage(session: nox.Session) -> None:
    """Say which lines of Python the fast tests do not reach."""
    session.install(".[test]", "pytest-cov>=5")
    report = ("--cov=bevel", "--cov-report=term-missing:skip-covered")
    session.run("pytest", "-n", "2", *report, *session.posargs)


@nox.session
def cpp_tests(session: nox.Session) -> None:
    """Run the core's own tests, without Python; `-- thread` builds them with that sanitizer."""
    session.install("cmeel-eigen>=3.4", "cmake", "ninja")
    folder = "build/" + "-".join(("cpp_tests", *session.posargs)).replace(",", "-")
    options = ["-DBEVEL_TESTS=ON", "-DBEVEL_DEVELOPER=ON"]
    options += [f"-DBEVEL_SANITIZE={sanitizers}" for sanitizers in session.posargs]
    session.run("cmake", "-S", ".", "-B", folder, "-G", "Ninja", *options)
    session.run("cmake", "--build", folder, "--target", "bevel_tests")
    session.run("ctest", "--test-dir", folder, "--output-on-failure")


@nox.session
def sanitize(session: nox.Session) -> None:
    """Run the tests on a build that checks addresses and undefined behaviour (gcc, Linux)."""
    session.install(*BUILD_PACKAGES)
    session.install(
        "--no-build-isolation",
        "-Cbuild-dir=build/sanitize",
        "-Ccmake.define.BEVEL_SANITIZE=address,undefined",
        "-Ccmake.define.BEVEL_DEVELOPER=ON",
        ".[test]",
        "./lab",
    )
    session.run(
        "pytest",
        "-n",
        "2",
        *(session.posargs or ("tests/unit", "tests/contract", "tests/oracle", "tests/property")),
        env={
            # The interpreter is not instrumented, so the run-time libraries must come first; Python
            # itself keeps memory until exit, hence no search for leaks.
            "LD_PRELOAD": " ".join(map(_compiler_library, ("libasan.so", "libstdc++.so"))),
            "ASAN_OPTIONS": "detect_leaks=0",
            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        },
    )


@nox.session
def statistics(session: nox.Session) -> None:
    """Run the long statistical tests, then an experiment: arguments go to `bevel lab run`."""
    session.install(".[test]", "./lab")
    session.run("pytest", "-m", "statistics", success_codes=[0, 5])  # 5: none are marked so
    session.run("bevel", "lab", "run", *(session.posargs or ("sparse-parity", "--quick")))


@nox.session
def benchmarks(session: nox.Session) -> None:
    """Time Bevel beside its peers; `benchmarks/README.md` says how to read the table."""
    session.install(".[bench]", "./lab")
    session.run("python", "-m", "benchmarks.speed", *session.posargs)


def _compiler_library(name: str) -> str:
    command = ["g++", f"-print-file-name={name}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
