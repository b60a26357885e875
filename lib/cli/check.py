"""`tranche check`: whether the services answer, step by step."""

import click

from lib.settings import Settings, config_file

MARKS = {"ok": "ok", "note": "--", "refused": "REFUSED", "failed": "FAILED"}


@click.command()
def check() -> None:
    """Check the settings, then every remote service, step by step; say how to fix what fails.

    Nothing is changed. Exit code 1 if anything was refused or failed. A running desk keeps the settings that
    it started with: check a changed file here, then restart the desk.
    """
    from lib.check import check as steps

    settings = Settings.load()
    path = config_file()
    sentence = (
        f"{path} is good" if path.is_file() else f"there is no {path}; environment and defaults are good"
    )
    click.echo(f"{MARKS['ok']:8}{'settings':11}file: {sentence}")
    is_good = True
    for step in steps(settings):
        click.echo(f"{MARKS[step.state]:8}{step.service:11}{step.what}: {step.said}")
        if step.remedy:
            click.echo(f"{'':19}{step.remedy}")
        is_good = is_good and step.is_good
    if not is_good:
        raise click.exceptions.Exit(1)
