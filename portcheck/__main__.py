"""`python -m portcheck`."""

import sys

from portcheck.cli.main import main

sys.exit(main())
