"""``python -m tests.fuzz [DECODER…] [--seconds S] [--work FOLDER]``: fuzz decoders, guided by coverage (`make fuzz`).

Each decoder runs in a process of its own, one after another, with atheris (installed by itself; `make fuzz` does it),
starting from its corpus and from recordings. A finding ends the run with the file that holds it: mend it, and keep the
file under ``tests/fuzz/corpus/DECODER/``, where the ordinary tests read it again. Prints one JSON line a decoder:
seconds, executions, and what was found.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 20
"""What one input may take in a process that counts every branch; without counting it is far less."""
MEMORY_MIB = 2_048


def _campaign(name: str, seconds: int, work: Path) -> dict[str, object]:
    folder = work / name
    (folder / "new").mkdir(parents=True, exist_ok=True)
    (folder / "seeds").mkdir(exist_ok=True)
    command = [sys.executable, "-m", "tests.fuzz", "--in-process", name, "--seconds", str(seconds), "--work", str(work)]
    began = time.monotonic()
    with (folder / "log").open("wb") as log:
        ended = subprocess.run(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, check=False)  # noqa: S603
    said = (folder / "log").read_text(errors="replace")
    executions = re.findall(r"stat::number_of_executed_units: (\d+)", said) or re.findall(
        r"^#(\d+)", said, re.MULTILINE
    )
    covered = re.findall(r"cov: (\d+) ft: (\d+)", said)
    return {
        "decoder": name,
        "seconds": round(time.monotonic() - began, 1),
        "executions": int(executions[-1]) if executions else 0,
        "edges": int(covered[-1][0]) if covered else 0,
        "findings": sorted(str(each) for each in folder.glob("finding-*")),
        "exit": ended.returncode,
    }


def _in_process(name: str, seconds: int, work: Path) -> None:
    import atheris  # noqa: PLC0415 - only here

    with atheris.instrument_imports(include=["live_grid"]):
        from tests.fuzz import decoders  # noqa: PLC0415 - instrumented on import
    from tests.fuzz.seeds import seeds  # noqa: PLC0415 - after them

    folder = work / name
    for number, data in enumerate(seeds(name)):
        (folder / "seeds" / f"{number:04}").write_bytes(data)
    kept = decoders.CORPUS / name
    arguments = [
        sys.argv[0],
        str(folder / "new"),
        str(folder / "seeds"),
        *([str(kept)] if kept.is_dir() else []),
        f"-max_total_time={seconds}",
        f"-max_len={decoders.INPUT_MAX}",
        f"-timeout={TIMEOUT_S}",
        f"-rss_limit_mb={MEMORY_MIB}",
        f"-artifact_prefix={folder}/finding-",
        "-print_final_stats=1",
    ]
    atheris.Setup(arguments, lambda data: decoders.feed(name, data))
    atheris.Fuzz()


def main() -> int:
    """Run what was asked; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz the decoders.")
    parser.add_argument("names", nargs="*", metavar="DECODER")
    parser.add_argument("--seconds", type=int, default=600, help="for each decoder (default %(default)s)")
    parser.add_argument("--work", type=Path, help="where new inputs and findings go (default: a new folder)")
    parser.add_argument("--in-process", metavar="DECODER", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if importlib.util.find_spec("atheris") is None:
        sys.stderr.write("atheris is not installed; run: make fuzz\n")
        return 2
    if asked.in_process:
        _in_process(asked.in_process, asked.seconds, asked.work)
        return 0
    from tests.fuzz.decoders import DECODERS  # noqa: PLC0415 - not before it can be instrumented

    unknown = [name for name in asked.names if name not in DECODERS]
    if unknown:
        parser.error(f"no decoder called {unknown[0]!r}; there are: {', '.join(DECODERS)}")
    work = asked.work or Path(tempfile.mkdtemp(prefix="fuzz-"))
    work = work.resolve()
    bad = False
    for name in asked.names or DECODERS:
        result = _campaign(name, asked.seconds, work)
        sys.stdout.write(json.dumps(result) + "\n")
        sys.stdout.flush()
        bad = bad or result["exit"] != 0 or bool(result["findings"])
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
