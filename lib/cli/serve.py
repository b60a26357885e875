"""`tranche serve`: the APIs without the desk."""

from typing import Any

import click

from lib.settings import Settings


@click.command()
@click.option("--host", help="Address to listen on; the setting `host` without it.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Port to listen on, 0 for a free one; the setting `port` without it.",
)
def serve(host: str | None, port: int | None) -> None:
    """Answer the APIs over HTTP, without the desk, until stopped.

    What they are and how they are asked stands at /docs.
    """
    from lib import connect
    from lib.wire import server
    from lib.wire.apis import Compressed

    options: dict[str, Any] = {} if host is None else {"host": host}
    settings = Settings.load(**options)
    server.log(settings.log_level)
    app = Compressed(connect.installation(settings).api)
    server.run(app, settings.host, settings.port if port is None else port, _ready)


def _ready(address: str) -> None:
    click.echo(f"The APIs are at {address}, documented at {address}/docs  (stop with Ctrl+C)")
