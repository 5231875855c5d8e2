"""Scripts that measure accuracy, speed and size: ``python -m benchmarks.NAME`` from the root of the repository.

All systems have one thread, unless the environment says otherwise.
"""

import os

for _pool in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_pool, "1")
