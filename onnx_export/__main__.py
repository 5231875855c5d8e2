"""``python -m onnx_export``."""

import sys

from rffboost_ext.cli import fail

from .cli import PROGRAM, main

if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(fail("interrupted", PROGRAM, code=130))
