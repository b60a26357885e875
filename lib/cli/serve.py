"""`tranche serve`: the APIs without the desk."""

from dataclasses import replace
from typing import Any

import click

from lib.settings import Settings


@click.command()
@click.option("--host", help="Address to listen on. Default: the setting `host`.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Port to listen on, 0 for a free one. Default: the setting `port`.",
)
def serve(host: str | None, port: int | None) -> None:
    """Serve the APIs over HTTP, without the desk, until stopped, and compute the health of deals.

    They are documented at /docs.
    """
    from lib.agents import agent_route
    from lib.serving import connect
    from lib.serving.front import guard, logs, server
    from lib.serving.health_watch import computing
    from lib.wire.apis import Compression

    options: dict[str, Any] = {} if host is None else {"host": host}
    settings = Settings.load(**options)
    logs.log(settings.log_level, settings.log_format)
    network = settings.network if port is None else replace(settings.network, port=port)
    for warning in connect.startup_warnings(settings):
        click.echo(warning, err=True)
    apis = agent_route(Compression(connect.installation(settings).api), settings)

    def ready(address: str) -> None:
        click.echo(f"The APIs are at {address}, documented at {address}/docs  (stop with Ctrl+C)")

    with computing(settings):
        server.run(guard(apis, network), network, ready)
