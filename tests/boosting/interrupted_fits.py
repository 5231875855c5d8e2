"""Fits that SIGINT interrupts at random moments, one after another in this process.

Run as a script of its own: a fault ends the process. Arguments: how many, a seed, and rows of the data. Prints how
many interrupts ended a fit, came after its end, and were lost.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time

import numpy as np

from rffboost_ext import RFFBoostClassifier


def interrupted(fit, delay: float) -> str:
    """What comes of a fit and of an interrupt after so many seconds."""
    sender = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
    end = "lost"
    try:
        sender.start()
        fit()
        end = "late"
        sender.join()
        time.sleep(0.1)
        return "lost"
    except KeyboardInterrupt:
        return "late" if end == "late" else "interrupted"
    finally:
        sender.join()


def main() -> None:
    """Interrupt, and count."""
    # A job in the background ignores SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    number, seed, rows = map(int, sys.argv[1:])
    X = np.random.default_rng(0).standard_normal((rows, 10))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)

    def fit():
        RFFBoostClassifier(random_state=0).fit(X, y)

    fit()
    start = time.perf_counter()
    fit()
    longest, rng = time.perf_counter() - start, random.Random(seed)
    ends = [interrupted(fit, rng.uniform(0.0, longest)) for _ in range(number)]
    print(*(ends.count(end) for end in ("interrupted", "late", "lost")))


if __name__ == "__main__":
    main()
