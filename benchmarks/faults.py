"""Damaged model files: ``python -m benchmarks.faults``.

    python -m benchmarks.faults --n 1000000 --seed 0
    python -m benchmarks.faults --first 31415 --n 1        # one file again

Small model files are damaged at random, half of them with all checksums put right afterwards, and
loaded twice: `load`, and `load(mmap=True)` with a prediction and `verify()`. Every file must be
refused with ModelFileError or give an estimator that predicts, in bounded memory and time; the run
stops at the first that does anything else. File i of a seed is always the same.
"""

import argparse
import faulthandler
import resource
import sys

from benchmarks import machine
from benchmarks.tables import markdown

sys.path.insert(0, str(machine.ROOT / "tests"))

from support.faults import Outcomes, try_files

MAX_MEMORY = 4 * 2**30
LONGEST_SECONDS = 2.0
BATCH = 10_000


def main() -> None:
    options = parse()
    faulthandler.enable()
    if not options.sanitized:  # which reserves terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    print(machine.describe(), end="\n\n", flush=True)
    outcomes = Outcomes()
    last = options.first + options.n
    for first in range(options.first, last, BATCH):
        try_files(first, min(BATCH, last - first), options.seed, outcomes)
        print(f"{first - options.first + BATCH:>10} of {options.n}", file=sys.stderr, flush=True)
    rows = [[way, what, str(n)] for (way, what), n in sorted(outcomes.counts.items())]
    print(markdown(["way", "outcome", "files"], rows))
    mean = outcomes.seconds / outcomes.n_files
    print(f"\n{1e3 * mean:.2f} ms a file for both ways, {outcomes.slowest:.3f} s at most")
    if outcomes.slowest > LONGEST_SECONDS:
        sys.exit(f"A file took more than {LONGEST_SECONDS} s.")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--n", type=int, default=100_000, help="files")
    parser.add_argument("--first", type=int, default=0, help="number of the first file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sanitized", action="store_true", help="built with sanitizers")
    return parser.parse_args()


if __name__ == "__main__":
    main()
