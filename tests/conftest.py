"""Settings of the whole suite."""

import os

# Set before NumPy loads: many tests on small data are slower with threads than without. LightGBM asks joblib.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LOKY_MAX_CPU_COUNT"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402 - after its settings
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

# The same examples in every run: a failure is one of the code, not of the day.
settings.register_profile("suite", derandomize=True)
settings.load_profile("suite")


@pytest.fixture(autouse=True)
def own_draws(request):
    """A module's RNG starts anew in each test: what is drawn does not depend on which tests ran before."""
    if hasattr(request.module, "RNG"):
        request.module.RNG.bit_generator.state = np.random.default_rng(1).bit_generator.state


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session):
    """Compile missing kernels before the workers of the whole suite start: each would compile them for itself."""
    config = session.config
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS and getattr(config.option, "tx", None):
        from rffboost_ext.kernels import compile_cache, warmup

        pattern = f"*-{compile_cache.sources_digest()}-*.kernel"
        stored = {path.name for folder in compile_cache.cache_folders() for path in folder.glob(pattern)}
        if len(stored) < len(warmup.kernel_variants()):
            warmup.compile_all(len(config.option.tx), lambda *_: None)
