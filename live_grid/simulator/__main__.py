"""``python -m live_grid.simulator``: see `live_grid.simulator.command`."""

import sys

from live_grid.simulator.command import main

if __name__ == "__main__":
    sys.exit(main())
