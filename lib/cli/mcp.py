"""`tranche mcp`: the verbs of agents over standard input and output."""

import os

import click

from lib import agents

TOKEN, DEALS_TOKEN = "TRANCHE_TOKEN", "TRANCHE_DEALS_TOKEN"


@click.command()
@click.option("--person", help="Over the data of this machine, as this person.")
@click.option("--url", help="Over the desk at this address, with the tokens of the environment.")
def mcp(person: str | None, url: str | None) -> None:
    """Serve agents over standard input and output (Model Context Protocol), until the input ends.

    With --url, TRANCHE_TOKEN is a token for the reporting or the deals API, and TRANCHE_DEALS_TOKEN one for
    the deals API beside it. A running desk serves the same at /mcp.

    \b
    TRANCHE_TOKEN=… tranche mcp --url https://desk.example
    tranche mcp --person ada
    """
    if (person is None) == (url is None):
        raise click.UsageError("Give --person NAME or --url ADDRESS, one of them")
    if person is not None:
        agents.serve_person(person)
        return
    token = os.environ.get(TOKEN, "")
    if not token:
        raise click.UsageError(f"--url needs a token in {TOKEN}")
    agents.serve_remote(url or "", token, os.environ.get(DEALS_TOKEN))
