"""The command: ``gridagent grid`` and ``python -m live_grid.simulator`` serve a scenario until interrupted.

Owns the reading of arguments and what is printed: this is a command line of its own, found by `gridagent.cli` through
the entry point ``grid`` of the group ``gridagent.commands``, so it may use the terminal. Builds the world as the
offline command does, so that a scenario is the same story over the wire (Spec: OPS-1, LIV-15).
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
import trio

from gridagent.errors import GridAgentError, OperatorError
from gridagent.grid.simulated import World, open_simulated_grid
from gridagent.grid.simulated.scenario import load_shipped, parse_scenario, shipped_scenarios
from gridagent.grid.simulated.scenario_build import build_world
from gridagent.grid.simulated.scenario_format import Scenario
from gridagent.grid.simulated.scenario_timeline import set_timeline
from gridagent.limits import SCENARIO_FILE_MAX_BYTES
from gridagent.runtime.deterministic import SimulatedIds, SimulatedRandomness
from gridagent.runtime.ports import Ports
from gridagent.runtime.system import system_ports
from live_grid.simulator.accounts import DEFAULT_PASSWORD
from live_grid.simulator.faults import WireFaults
from live_grid.simulator.profiles import PROFILES
from live_grid.simulator.server import LOOPBACK, GridServer, serve_grid

__all__ = ("accounts_of", "main", "read_faults")

DEFAULT_SCENARIO: Final = "two-regions"
DEFAULT_PORT: Final = 9_000
_FAILED: Final = 3
_USAGE: Final = 2
"""As `gridagent.cli.exit_codes` has them: an address that cannot be had, and a wrong command line."""
_EPILOG: Final = """examples:
  gridagent grid                                   serve the scenario two-regions on port 9000
  gridagent grid --scenario plaza --port 9100      another world, on another port
  gridagent grid --fault datagram_lost=0.05        over a wire that loses every twentieth datagram
  gridagent grid --profile secondlife --json       as Second Life would; the addresses as one JSON line
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gridagent grid",
        description="Serve a simulated grid over the Second Life / OpenSimulator protocol on this machine.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    world = parser.add_mutually_exclusive_group()
    world.add_argument(
        "--scenario", default=DEFAULT_SCENARIO, help="a shipped world: " + ", ".join(shipped_scenarios())
    )
    world.add_argument("--scenario-file", type=Path, metavar="FILE", help="a world of your own")
    parser.add_argument("--seed", type=int, help="decides every chance in the world (the scenario's own by default)")
    parser.add_argument("--host", default=LOOPBACK, help="a loopback address (default %(default)s)")
    parser.add_argument(
        "--port",
        type=int,
        default=DEFAULT_PORT,
        help="of HTTP and the first region; each further region takes the next; 0 lets the system choose "
        "(default %(default)s)",
    )
    parser.add_argument("--profile", choices=sorted(PROFILES), default="opensim", help="which family to be like")
    parser.add_argument("--password", default=DEFAULT_PASSWORD, help="of every account (default %(default)s)")
    parser.add_argument("--code", help="one-time code that every login wants beside the password")
    parser.add_argument(
        "--fault", action="append", default=[], metavar="KNOB=VALUE", help="turn a fault knob; may be given again"
    )
    parser.add_argument("--json", action="store_true", help="print the addresses as one JSON line")
    return parser


def read_faults(given: Sequence[str]) -> WireFaults:
    """Read fault knobs as they are written on a command line: ``knob=value``, the value in JSON.

    Raises:
        OperatorError: there is no such knob, or it does not take the value.
    """
    tree: dict[str, object] = {}
    for text in given:
        knob, _, value = text.partition("=")
        try:
            tree[knob] = msgspec.json.decode(value.encode())
        except msgspec.DecodeError:
            raise OperatorError(
                f"fault {text!r} has no value; write it as knob=0.1, or knob=[1, 5] for a range"
            ) from None
    try:
        return msgspec.convert(tree, WireFaults)
    except msgspec.ValidationError as error:
        knobs = ", ".join(WireFaults.__struct_fields__)
        raise OperatorError(f"fault knobs: {error}; the knobs are {knobs}") from None


def _scenario(name: str, file: Path | None) -> Scenario:
    if file is None:
        return load_shipped(name)
    try:
        with file.open("rb") as opened:
            raw = opened.read(SCENARIO_FILE_MAX_BYTES + 1)
    except OSError as error:
        raise OperatorError(f"scenario file {file} cannot be read: {error.strerror}; give a readable file") from None
    return parse_scenario(raw, str(file))


def accounts_of(scenario: Scenario) -> tuple[str, ...]:
    """Return the names one can log in as: those that no character lives in."""
    return tuple(spec.shown_as or spec.name for spec in scenario.avatars if spec.character is None)


def _announce(server: GridServer, scenario: Scenario, password: str, *, as_json: bool) -> str:
    names = accounts_of(scenario)
    if as_json:
        return json.dumps({"login": server.login_url, "regions": server.regions, "accounts": names})
    regions = "\n".join(f"  {name}: UDP {host}:{port}" for name, (host, port) in server.regions.items())
    people = "\n".join(f"  {name}" for name in names)
    return (
        f"Serving {scenario.name} as {server.core.stage.profile.name} at {server.login_url}\n{regions}\n"
        f"Log in as (password {password!r}):\n{people}\nPress Ctrl-C to end."
    )


async def _serve(arguments: argparse.Namespace, scenario: Scenario, faults: WireFaults, ports: Ports) -> None:
    seed = scenario.seed if arguments.seed is None else arguments.seed
    randomness = SimulatedRandomness(seed)
    world = build_world(
        scenario, rng=randomness.stream("world"), ids=SimulatedIds(randomness.stream("world.ids")).uuid, make=World
    )
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with (
            open_simulated_grid(world, ports=ports) as grid,
            serve_grid(
                grid,
                ports=ports,
                host=arguments.host,
                port=arguments.port,
                profile=PROFILES[arguments.profile],
                faults=faults,
                default_password=arguments.password,
                default_code=arguments.code,
            ) as server,
        ):
            set_timeline(scenario, world, grid.hands, now=grid.now())
            words = _announce(server, scenario, arguments.password, as_json=arguments.json)
            print(words, flush=True)  # noqa: T201 - a command line
            await anext(signals)


def main(args: Sequence[str] | None = None) -> int:
    """Serve a scenario until interrupted; return the exit code.

    Args:
        args: what stands after the command's name; the process's own by default.
    """
    arguments = _parser().parse_args(args)
    try:
        faults = read_faults(arguments.fault)
        scenario = _scenario(arguments.scenario, arguments.scenario_file)
    except GridAgentError as error:
        print(f"gridagent grid: {error}", file=sys.stderr)  # noqa: T201 - a command line
        return _USAGE
    try:
        trio.run(partial(_serve, arguments, scenario, faults, system_ports()))
    except GridAgentError as error:
        print(f"gridagent grid: {error}", file=sys.stderr)  # noqa: T201 - a command line
        return _FAILED
    except OSError as error:
        place = f"{arguments.host} from port {arguments.port} on"
        why = f"cannot be served: {error.strerror}; give another --port, or 0 for any that is free"
        print(f"gridagent grid: {place} {why}", file=sys.stderr)  # noqa: T201 - a command line
        return _FAILED
    return 0
