"""The server: the desk and the APIs on one port."""

import gc
import importlib
import os
import sys
import webbrowser
from asyncio import get_running_loop
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

import click
import streamlit as st
from starlette.middleware import Middleware

from lib import connect
from lib.settings import Settings
from lib.wire import server
from lib.wire.apis import Apis
from lib.wire.errors import TrancheError
from lib.wire.origin import SameOrigin

DESK = Path(__file__).parent / "lib" / "desk.py"
HEAVY = ("pandas", "pyarrow.parquet", "plotly.graph_objects", "scipy.sparse", "captcha.image", "jwt")
DOWNLOADS = 64  # at the same time: Streamlit makes them, and sends large tables, on the loop's own threads
DEMO = "This is a demo: it listens on this machine alone; sign in as viewer, manager or admin, password demo."


@asynccontextmanager
async def preloaded(_: st.App) -> AsyncIterator[None]:
    """Import what the first visitor would wait for, and keep it out of each rerun's garbage collection."""
    for module in HEAVY:
        importlib.import_module(module)
    get_running_loop().set_default_executor(ThreadPoolExecutor(DOWNLOADS, "download"))
    gc.collect()
    gc.freeze()
    yield


settings = Settings.load()
app = st.App(
    DESK,
    middleware=[
        Middleware(SameOrigin, origins=settings.origins),
        Middleware(Apis, api=connect.installation(settings).api),
    ],
    lifespan=preloaded,
)


def main() -> None:
    """Serve until stopped."""
    server.log(settings.log_level)
    try:
        server.run(app, settings.host, settings.port, _ready, ws="websockets-sansio")
    except TrancheError as error:
        sys.exit(error.reason)
    except KeyboardInterrupt:
        click.echo("Stopped.")


def _ready(address: str) -> None:
    if settings.demo:
        click.echo(DEMO)
    click.echo(f"Tranche is at {address}  (stop with Ctrl+C)")
    if sys.stdout.isatty() and _has_display():
        webbrowser.open(address)


def _has_display() -> bool:
    """Whether a browser opened here would have a screen to appear on."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


if __name__ == "__main__":
    main()
