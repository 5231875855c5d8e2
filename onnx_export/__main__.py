"""``python -m onnx_export``."""

import sys


def main() -> int:
    """Run the command line; an interrupt during its imports, too, ends with exit status 130."""
    try:
        from .cli import main as run

        return run()
    except KeyboardInterrupt:
        print("onnx_export: error: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
