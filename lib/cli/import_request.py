"""One call of `tranche import`: its arguments and options."""

import datetime as dt
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from lib.reporting.definition import Definition
from lib.reporting.definition.reading import ALL_SHEETS, Sheets, Totals, time_zone
from lib.reporting.ingest.files import Format
from lib.reporting.ingest.inference import Hints
from lib.reporting.warehouse import Mode


def slicer_hours(zone: str) -> int:
    """The whole hours east of UTC of a zone's standard time. ValueError where it has none."""
    moment = dt.datetime.now(time_zone(zone))
    offset = (moment.utcoffset() or dt.timedelta()) - (moment.dst() or dt.timedelta())
    hours, rest = divmod(offset, dt.timedelta(hours=1))
    if rest or not -12 <= hours <= 12:
        raise ValueError(
            f"the days of a slicer begin on whole hours from -12 to 12, not {offset} ahead of UTC; "
            "name the zone in a definition, as the time's timezone"
        )
    return hours


@dataclass(frozen=True)
class ImportRequest:
    """The arguments and options of one call, as they were typed."""

    files: tuple[Path, ...]
    project: str
    slicer: str
    definition: Path | None
    mappings: dict[str, Path]
    append: bool
    replace_days: bool
    replace: bool
    max_rejects: float
    rejects: Path | None
    format: Format | None
    encoding: str | None
    delimiter: str | None
    header: bool | None
    decimal: str | None
    thousands: str | None
    year: int | None
    dates: str | None
    time_zone: str | None
    sheet: tuple[str, ...]
    all_sheets: bool
    totals: Totals | None
    unpivot: bool
    only_try: bool

    @property
    def sheets(self) -> Sheets:
        """The sheets of workbooks to import; a usage error if all and some are named."""
        if self.sheet and self.all_sheets:
            raise click.UsageError("--sheet and --all-sheets can't be used together; name one")
        return ALL_SHEETS if self.all_sheets else self.sheet or None

    def settle(self, definition: Definition) -> Definition:
        """A definition with this call's sheets, totals, days across columns and time zone."""
        options: dict[str, Any] = {"sheets": self.sheets, "totals": self.totals, "unpivot": self.unpivot}
        if self.time_zone:
            time = definition.time.model_copy(update={"timezone": self.time_zone})
            options |= {"time": time, "timezone": slicer_hours(self.time_zone)}
        return definition.model_copy(update={name: value for name, value in options.items() if value})

    @property
    def hints(self) -> Hints:
        """The hints for inference; a usage error if they contradict each other."""
        if self.decimal and self.decimal == self.thousands:
            raise click.UsageError(f"--decimal and --thousands can't both be '{self.decimal}'")
        decimal = self.decimal or {".": ",", ",": "."}.get(self.thousands or "")
        return Hints(decimal, self.thousands, self.year, self.dates)

    def refuse_hints(self) -> None:
        """Raise a usage error if options of inference are given where nothing is inferred."""
        for name in ("decimal", "thousands", "year", "dates", "header"):
            if getattr(self, name) is not None:
                raise click.UsageError(f"--{name} is for inferring; with a definition, write it there")

    @property
    def target(self) -> str:
        return f"{self.project}/{self.slicer}"

    @property
    def mode(self) -> Mode:
        """The mode of the import; a usage error if two are given."""
        flags: dict[Mode, bool] = {
            "append": self.append,
            "replace-days": self.replace_days,
            "replace": self.replace,
        }
        modes = [mode for mode, is_chosen in flags.items() if is_chosen]
        if len(modes) > 1:
            raise click.UsageError(f"--{modes[0]} and --{modes[1]} can't be used together; name one")
        return modes[0] if modes else "create"
