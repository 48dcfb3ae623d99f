"""``python -m assay``: the command line."""

import sys

from assay.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
