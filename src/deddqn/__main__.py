"""``python -m deddqn``: the command line."""

import sys

from deddqn.cli import main

sys.exit(main())
