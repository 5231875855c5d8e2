"""Settings of the whole suite."""

import os

# Set before NumPy loads: many tests on small data are slower with threads than without.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
