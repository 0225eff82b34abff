"""``python -m gridagent``, and the command ``gridagent``.

Answers ``--version`` before anything is imported (Spec: OPS-1). Owns the process's own arguments, streams and
environment, and hands them to `gridagent.cli.main`.
"""

from __future__ import annotations

import sys

__all__ = ("main",)


def main() -> int:
    """Perform the command line of this process and return its exit code."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        from gridagent import __version__  # noqa: PLC0415 - nothing else is needed

        sys.stdout.write(f"gridagent {__version__}\n")
        return 0
    try:
        import os  # noqa: PLC0415 - after the version

        from gridagent.cli.main import main as perform  # noqa: PLC0415 - as above

        return perform(arguments, stdin=sys.stdin, environ=os.environ)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
