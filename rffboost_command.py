"""The command ``rffboost``, beside the package, whose imports an interrupt may hit."""

import sys


def main() -> int:
    """Run :func:`rffboost_ext.cli.main`; an interrupt during its imports, too, ends with exit status 130."""
    try:
        from rffboost_ext.cli import main as run

        return run()
    except KeyboardInterrupt:
        print("rffboost: error: interrupted", file=sys.stderr)
        return 130
