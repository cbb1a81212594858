"""`python -m deniable` is the command `deniable`."""

import sys

from deniable.cli import main

sys.exit(main())
