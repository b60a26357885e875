"""What starts a desk: its command line, the lock of its data directory, and the parent of several processes.

The parent needs little of Tranche: this is imported before all that a desk needs.
"""

import os
import sys
import webbrowser
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager

import click

from lib.serving.front import logs, processes
from lib.settings import Settings
from lib.wire import private
from lib.wire.errors import Misconfigured, TrancheError


def start_parent() -> None:
    """Be the parent of several desks, until they end, if that is what the command line and settings say."""
    parser = ArgumentParser(description="The desk and the APIs, on one port.", allow_abbrev=False)
    meaning = "Processes that serve (the setting `processes`)."
    parser.add_argument("--processes", type=int, metavar="N", help=meaning)
    options = {name: value for name, value in vars(parser.parse_args()).items() if value is not None}
    if processes.is_child():
        return
    try:
        private.closed_to_others()
        settings = Settings.load(**options)
        if settings.processes == 1:
            return
        logs.log(settings.log_level, settings.log_format)
        with one_desk(settings):
            processes.run_several(settings.processes, settings.network, announce)
    except TrancheError as error:
        sys.exit(error.reason)


@contextmanager
def one_desk(settings: Settings) -> Iterator[None]:
    """Lock this data directory, and restrict its files; Misconfigured if another desk runs over it.

    Desks with a database of PostgreSQL share a data directory with each other. The command line and `tranche
    serve` may work beside a desk.
    """
    is_shared = settings.database_url.startswith("postgresql")
    with private.process_lock(settings.home / "desk.lock", is_shared=is_shared) as other:
        if other:
            whose = f" (process {other})" if other > 0 else ""
            raise Misconfigured(
                f"A desk is running over {settings.home} already{whose}: stop it, or give this one a home of "
                "its own by TRANCHE_HOME. Only desks over PostgreSQL (database_url) can share one"
            )
        private.close(settings.home)
        yield


def announce(address: str) -> None:
    """Say where the desk is, and open it where somebody sits in front of this machine."""
    click.echo(f"Tranche is at {address}  (stop with Ctrl+C)")
    has_display = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    if sys.stdout.isatty() and (sys.platform == "darwin" or has_display):
        webbrowser.open(address)
