"""What starts a desk: the lock of its data directory, and the address that is announced."""

import os
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager

import click

from lib.settings import Settings
from lib.wire import private
from lib.wire.errors import Misconfigured


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
