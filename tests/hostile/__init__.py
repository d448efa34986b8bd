"""The robustness campaign: hostile model files, inputs and tables, by the million.

`python -m tests.hostile --files 1000000 --inputs 100000 --tables 100000 --store DIR` runs it from
the root of the repository. A case is a function of its kind and its number alone. Workers run cases
in processes of their own, which the parent watches: what crashes, hangs, floods the memory, raises
an exception that is not documented, or answers nonsense, is a finding and is kept.
"""

import sys
from pathlib import Path

_TESTS = str(Path(__file__).parents[1])
if _TESTS not in sys.path:
    sys.path.insert(0, _TESTS)  # for `support`
