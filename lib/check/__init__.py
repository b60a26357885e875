"""Checks of services, step by step, for `tranche check` and the screen Services."""

from collections.abc import Iterator

from lib.check import deals, dependencies, reporting
from lib.check.step import Step
from lib.settings import Settings

__all__ = ["Step", "check"]


def check(settings: Settings) -> Iterator[Step]:
    """Try every service and database as the settings describe it, with
    connections of its own; each step once it is known.

    Nothing is changed anywhere, but that a temporary token may be asked for.
    """
    yield from reporting.steps(settings)
    yield from deals.steps(settings)
    yield from dependencies.steps(settings)
