"""``python -m live_grid.check``: see `live_grid.check.command`."""

import sys

from live_grid.check.command import main

if __name__ == "__main__":
    sys.exit(main())
