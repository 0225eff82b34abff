"""``python -m tests.golden``: play every conversation and write down what happens, for a person to read and agree to.

The transcripts and the number of paraphrases that work are then what the tests hold the avatar to.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from tests.golden.player import (
    CONVERSATIONS,
    WORKING_FILE,
    differs,
    paraphrased,
    play,
    reduced,
    transcript_file,
)


def main(wanted: list[str]) -> None:
    """Write the transcripts, of all conversations or of those named, and say which paraphrases fail."""
    working = json.loads(WORKING_FILE.read_text(encoding="utf-8")) if WORKING_FILE.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        for conversation in wanted or CONVERSATIONS:
            plain = play(CONVERSATIONS[conversation], Path(folder))
            file = transcript_file(conversation)
            file.parent.mkdir(exist_ok=True)
            file.write_text("\n".join(reduced(plain)) + "\n", encoding="utf-8")
            failing = [lines for lines in paraphrased(conversation) if differs(plain, play(lines, Path(folder)))]
            working[conversation] = 3 - len(failing)
            for lines in failing:
                sys.stdout.write(f"{conversation}: {[what for _, _, what in lines]}\n")
    WORKING_FILE.write_text(json.dumps(working, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    sys.stdout.write(f"{sum(working.values())} of {3 * len(working)} paraphrases work\n")


main(sys.argv[1:])
