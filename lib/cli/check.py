"""`tranche check`: whether the services answer, step by step."""

import click

from lib.settings import Settings

MARKS = {"ok": "ok", "note": "--", "refused": "REFUSED", "failed": "FAILED"}


@click.command()
def check() -> None:
    """Try every service that the settings name, step by step, and say what would mend what fails.

    Nothing is changed. Exit code 1 if anything was refused or failed.
    """
    from lib.check import check as steps

    is_good = True
    for step in steps(Settings.load()):
        click.echo(f"{MARKS[step.state]:8}{step.service:11}{step.what}: {step.said}")
        if step.remedy:
            click.echo(f"{'':19}{step.remedy}")
        is_good = is_good and step.is_good
    if not is_good:
        raise click.exceptions.Exit(1)
