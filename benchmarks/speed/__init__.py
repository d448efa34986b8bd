"""Training time of Bevel beside its peers: ``python -m benchmarks.speed``."""

import os

N_THREADS = 2

# Read by numerical libraries when they are loaded, which happens after this file.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(N_THREADS)
