"""Durations as they are typed: 90d, 12h, 30m."""

import re
from datetime import timedelta

import click

UNITS = {"d": "days", "h": "hours", "m": "minutes"}
LONGEST = timedelta(days=36_500)


class Duration(click.ParamType[timedelta]):
    """A number of days (d), hours (h) or minutes (m)."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """The duration; another text is a usage error."""
        if isinstance(value, timedelta):
            return value
        match = re.fullmatch(r"([1-9][0-9]{0,8})([dhm])", str(value).strip())
        duration = timedelta(**{UNITS[match[2]]: int(match[1])}) if match else None
        if duration is None or duration > LONGEST:
            self.fail(f"'{value}' is not a duration of up to 100 years, like 90d, 12h or 30m", param, ctx)
        return duration
