"""Everything a contributor can run: `nox -l` lists it, `nox -s NAME` runs it.

Sessions build Bevel in an environment of their own. Arguments after `--` go to the tool that the
session runs, as in `nox -s tests -- -k sampler`.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nox

nox.needs_version = ">=2024.4.15"
nox.options.sessions = ["lint", "tests"]
nox.options.reuse_existing_virtualenvs = True

BUILD_PACKAGES = (
    "scikit-build-core>=0.11",
    "nanobind>=2.7,<4",
    "cmeel-eigen>=3.4",
    "cmake",
    "ninja",
    "hatchling",
)

FAST_TESTS = (
    *("tests/unit", "tests/contract", "tests/oracle", "tests/property"),
    *("tests/golden", "tests/compat", "tests/hostile"),
)


@nox.session
def lint(session: nox.Session) -> None:
    """Check format, style and types."""
    session.install("--group", "lint", "--group", "test", ".[cli,plot]", "./lab")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("codespell")
    session.run("lint-imports", "--no-logo")
    session.run("python", "tools/check_imports.py")
    session.run("python", "tools/check_includes.py")
    sources = [str(path) for ext in ("h", "cpp", "inc") for path in Path("cpp").rglob(f"*.{ext}")]
    session.run("clang-format", "--dry-run", "-Werror", *sorted(sources), silent=True)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the fast tests."""
    session.install("--group", "test", ".", "./lab")
    session.run("pytest", "-n", "2", "--dist", "worksteal", *session.posargs)


@nox.session
def oldest(session: nox.Session) -> None:
    """Run the fast tests with the oldest dependencies that Bevel supports (Python 3.11 or 3.12)."""
    session.install("-c", "tests/oldest.txt", "--group", "test", ".", "./lab")
    session.run("pytest", "-n", "2", "--dist", "worksteal", *session.posargs)


@nox.session
def package(session: nox.Session) -> None:
    """Build the source and binary packages, check them, and test the wheel without the checkout.

    The wheel is built from the source package, outside git. On Linux it is tagged for the C library
    of this machine: what it links to is listed, and the build machines of a release decide how old
    the C library may be.
    """
    project = nox.project.load_toml("pyproject.toml")
    session.install("build", "pyroma", "abi3audit", "auditwheel")
    # Some of what these need has no wheels for free-threaded Python.
    reads_packages = not _is_free_threaded(session)
    if reads_packages:
        session.install("twine", "check-wheel-contents")
    out = Path(session.create_tmp()) / "dist"
    shutil.rmtree(out, ignore_errors=True)
    session.run("python", "-m", "build", "--outdir", str(out), ".")
    session.run("python", "-m", "build", "--outdir", str(out), "lab")
    packages = sorted(map(str, out.iterdir()))
    wheel = next(name for name in packages if "bevel-" in name and name.endswith(".whl"))
    if reads_packages:
        session.run("twine", "check", "--strict", *packages)
        session.run("check-wheel-contents", *(name for name in packages if name.endswith(".whl")))
    session.run("pyroma", "--min", _best_rating(project["project"]), ".")
    if "abi3" in wheel:
        session.run("abi3audit", "--strict", wheel)
    if sys.platform == "linux":
        session.run("auditwheel", "show", wheel)
    session.run("python", "tools/wheel_contents.py", wheel)
    # As in a release, whose tests need few packages: not all have free-threaded wheels.
    testing = project["tool"]["cibuildwheel"]
    session.install("--prefer-binary", wheel, *testing["test-requires"])
    with session.chdir(session.create_tmp()):
        session.run("python", "-c", "import bevel; print(bevel.__file__)")
    session.run(*testing["test-command"].split())


@nox.session
def doctests(session: nox.Session) -> None:
    """Run the examples in docstrings and documents."""
    session.install("--group", "test", ".")
    documents = ("--doctest-glob=*.md", "--ignore=docs/gallery", "--pyargs", "bevel", "docs")
    session.run("pytest", "--doctest-modules", *documents)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation site with its examples into build/docs; a warning is an error."""
    session.install("--group", "docs", ".")
    session.run("sphinx-build", "-W", "--keep-going", "-q", "docs", "build/docs", *session.posargs)


@nox.session
def linkcheck(session: nox.Session) -> None:
    """Ask for every link of the site to other sites, examples left out; needs a network."""
    session.install("--group", "docs", ".")
    env = {"BEVEL_DOCS_GALLERY": "0", "BEVEL_DOCS_ONLINE": "1"}
    session.run("sphinx-build", "-q", "-b", "linkcheck", "docs", "build/links", env=env)


@nox.session
def coverage(session: nox.Session) -> None:
    """Say which lines of Python the fast tests do not reach."""
    session.install("--group", "test", ".", "pytest-cov>=5")
    report = ("--cov=bevel", "--cov-report=term-missing:skip-covered")
    session.run("pytest", "-n", "2", *report, *session.posargs)


@nox.session
def cpp_tests(session: nox.Session) -> None:
    """Run the core's own tests, without Python; `-- thread` builds them with that sanitizer.

    The environment variable CXX chooses the compiler, such as clang++.
    """
    session.install("cmeel-eigen>=3.4", "cmake", "ninja")
    compiler = Path(os.environ.get("CXX", "")).name
    parts = ("cpp_tests", *session.posargs, *([compiler] if compiler else []))
    folder = "build/" + "-".join(parts).replace(",", "-")
    options = ["-DBEVEL_TESTS=ON", "-DBEVEL_DEVELOPER=ON"]
    options += [f"-DBEVEL_SANITIZE={sanitizers}" for sanitizers in session.posargs]
    session.run("cmake", "-S", ".", "-B", folder, "-G", "Ninja", *options)
    session.run("cmake", "--build", folder, "--target", "bevel_tests")
    session.run("ctest", "--test-dir", folder, "--output-on-failure")


@nox.session
def other_machine(session: nox.Session) -> None:
    """Cross-compile the core's tests and run them under an emulator, for arm64 (Linux, Debian).

    Needs Debian's g++-aarch64-linux-gnu and qemu-user. Golden forests must have the same bits as on
    x86-64; `-- golden` runs these tests alone.
    """
    session.install("cmeel-eigen>=3.4", "cmake", "ninja")
    folder, machine = "build/cpp_tests-aarch64", "aarch64-linux-gnu"
    emulator = ("qemu-aarch64", "-L", f"/usr/{machine}")
    options = [
        "-DBEVEL_TESTS=ON",
        "-DCMAKE_SYSTEM_NAME=Linux",
        "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
        f"-DCMAKE_CXX_COMPILER={machine}-g++",
    ]
    session.run("cmake", "-S", ".", "-B", folder, "-G", "Ninja", *options)
    session.run("cmake", "--build", folder, "--target", "bevel_tests")
    session.run(*emulator, f"{folder}/bevel_tests", *session.posargs, external=True)


@nox.session
def sanitize(session: nox.Session) -> None:
    """Run the fast tests on a build that checks addresses and undefined behaviour (gcc, Linux).

    About four times as long as without.
    """
    _install_sanitized(session, "address,undefined")
    # Python itself keeps memory until exit, hence no search for leaks; what asks for more memory
    # than there is gets none, as without the sanitizer.
    env = {
        "LD_PRELOAD": " ".join(map(_compiler_library, ("libasan.so", "libstdc++.so"))),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    }
    session.run("pytest", "-n", "2", *(session.posargs or FAST_TESTS), env=env)


@nox.session
def sanitize_threads(session: nox.Session) -> None:
    """Run the fast tests on a build that looks for data races (gcc, Linux).

    About ten times as long as without; `-- -k thread` takes those that are about threads.
    """
    _install_sanitized(session, "thread")
    session.install("polars==1.0.0")  # later ones do not start under this sanitizer
    suppressions = Path("tests/support/thread_sanitizer.txt").resolve()
    options = {
        "suppressions": suppressions,
        "halt_on_error": 1,
        "allocator_may_return_null": 1,
        "die_after_fork": 0,
        "detect_deadlocks": 0,  # before a fork Arrow takes more locks than the search can count
    }
    env = {
        "LD_PRELOAD": " ".join(map(_compiler_library, ("libtsan.so", "libstdc++.so"))),
        "TSAN_OPTIONS": ":".join(f"{name}={value}" for name, value in options.items()),
    }
    session.run("pytest", "-n", "2", *(session.posargs or FAST_TESTS), env=env)


def _install_sanitized(session: nox.Session, sanitizers: str) -> None:
    """Build with sanitizers, in a folder of their own.

    The interpreter is not instrumented, so the sanitizer's library must be loaded before it.
    """
    session.install(*BUILD_PACKAGES)
    session.install(
        "--no-build-isolation",
        f"-Cbuild-dir=build/sanitize-{sanitizers.replace(',', '-')}",
        f"-Ccmake.define.BEVEL_SANITIZE={sanitizers}",
        "-Ccmake.define.BEVEL_DEVELOPER=ON",
        *("--group", "test", ".", "./lab"),
    )


@nox.session
def fuzz(session: nox.Session) -> None:
    """Fuzz the reader of columns and the checker of forests with clang, `-- 600` seconds each.

    Needs clang and its run-time library (Debian: clang, libclang-rt-14-dev). Inputs that find
    something new go to `build/fuzz/corpus`, what fails to `build/fuzz/fuzz_…-crash-…`.
    """
    session.install("cmake", "ninja")
    seconds = session.posargs[0] if session.posargs else "300"
    folder = Path("build/fuzz")
    clang = {"CXX": os.environ.get("CXX", "clang++")}
    session.run("cmake", "-S", "cpp/fuzz", "-B", str(folder), "-G", "Ninja", env=clang)
    session.run("cmake", "--build", str(folder))
    for target in ("fuzz_column", "fuzz_check_forest"):
        kept, grown = Path("cpp/fuzz/corpus") / target, folder / "corpus" / target
        grown.mkdir(parents=True, exist_ok=True)
        options = [f"-max_total_time={seconds}", "-max_len=4096", "-rss_limit_mb=4096"]
        options += [f"-artifact_prefix={folder}/{target}-", "-print_final_stats=1"]
        session.run(str(folder / target), *options, str(grown), str(kept), external=True)


@nox.session
def hostile(session: nox.Session) -> None:
    """Run the robustness campaign; arguments go to `tests.hostile`, as `--tables 100000`."""
    session.install("--group", "test", ".")
    session.run("python", "-m", "tests.hostile", *session.posargs)


@nox.session
def peers_tests(session: nox.Session) -> None:
    """Run scikit-learn's tests of forests, boosting and isolation on Bevel's estimators.

    The tests are those of the installed scikit-learn. What they expect and Bevel does otherwise is
    in `tests/peers/differences.py`; what LightGBM and XGBoost do is tried too.
    """
    session.install("--group", "test", ".", "lightgbm", "xgboost>=3")
    suites = (
        "sklearn.ensemble.tests.test_forest",
        "sklearn.ensemble.tests.test_iforest",
        "sklearn.ensemble._hist_gradient_boosting.tests.test_gradient_boosting",
    )
    options = ("-c", "tests/peers/scikit_learn.ini", "--rootdir=.")
    session.run("pytest", *options, *suites, *session.posargs, env={"PYTHONPATH": "tests"})
    session.run("pytest", "tests/peers")


@nox.session
def pages(session: nox.Session) -> None:
    """Open the pages of fit, explain and demo in a headless Chromium, on a screen, a phone, paper.

    Needs Chromium and pdftotext (Debian: chromium, poppler-utils). A few minutes.
    """
    session.install("--group", "test", ".[cli,plot]")
    session.run("pytest", "-m", "pages", "tests/pages", *session.posargs)


# Packages that use estimators through scikit-learn's interface.
CLIENTS = (
    *(
        "autogluon.core",
        "duckdb",
        "fastapi",
        "httpx",
        "imbalanced-learn",
        "mapie",
        "mlflow",
        "optuna",
        "pyspark",
        "shap",
    ),
    *("mlforecast", "skforecast", "skops", "sktime"),
)


@nox.session
def clients(session: nox.Session) -> None:
    """Run the estimators in other packages: explainers, tuners, servers, forecasters and files."""
    session.install("--group", "test", ".", *CLIENTS)
    session.run("pytest", "-m", "clients", "tests/clients", *session.posargs)


@nox.session
def r_package(session: nox.Session) -> None:
    """Check the package for R, and fit models with it.

    Needs R with reticulate (Debian: r-base-core, r-cran-reticulate).
    """
    session.install("pandas", ".")
    python = str(Path(session.bin) / "python")
    folder = session.create_tmp()
    package = str(Path("r").resolve())
    with session.chdir(folder):
        session.run("R", "CMD", "build", package, external=True)
        archive = next(Path().glob("bevel_*.tar.gz"))
        check = ("R", "CMD", "check", "--no-manual", str(archive))
        session.run(*check, env={"RETICULATE_PYTHON": python}, external=True)


@nox.session
def statistics(session: nox.Session) -> None:
    """Run the long statistical tests, then an experiment: arguments go to `bevel lab run`."""
    session.install("--group", "test", ".", "./lab")
    session.run("pytest", "-m", "statistics", success_codes=[0, 5])  # 5: none are marked so
    session.run("bevel", "lab", "run", *(session.posargs or ("sparse-parity", "--quick")))


@nox.session
def benchmarks(session: nox.Session) -> None:
    """Time Bevel beside its peers; `benchmarks/README.md` says how to read the table."""
    session.install("--group", "bench", ".", "./lab")
    session.run("python", "-m", "benchmarks.speed", *session.posargs)


def _is_free_threaded(session: nox.Session) -> bool:
    program = "import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED'))"
    return str(session.run("python", "-c", program, silent=True)).strip() == "1"


def _best_rating(project: dict) -> str:
    """What pyroma can give: 10 with an address of the project and one for mail, 8 without."""
    has_mail = any("email" in author for author in project["authors"])
    return "10" if has_mail and project.get("urls") else "8"


def _compiler_library(name: str) -> str:
    command = ["g++", f"-print-file-name={name}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
