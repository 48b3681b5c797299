"""``python -m sprintrec`` is the command ``sprintrec``."""

import sys

from sprintrec.cli import main

sys.exit(main())
