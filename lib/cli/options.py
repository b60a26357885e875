"""Options and arguments that several commands share, and tables on a terminal."""

import getpass
import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from lib.slicers.definition import Definition

UNITS = {"d": "days", "h": "hours", "m": "minutes"}
LONGEST = timedelta(days=36_500)


def write_definition(slicer: str, head: str, definition: "Definition") -> tuple[Path, bool]:
    """Write it, with `head` above as a comment, beside files of that name that say something else.

    Returns its path, and whether it was not there before. OSError, and no file, where it can't be written.
    """
    from lib.slicers.definition.file import definition_yaml

    name = plain_name(slicer)
    text = "".join(f"# {line}\n" for line in head.splitlines()) + definition_yaml(definition)
    number, path = 2, Path(f"{name}.yaml")
    while path.exists() and path.read_bytes() != text.encode():
        path, number = Path(f"{name}-{number}.yaml"), number + 1
    if is_new := not path.exists():
        try:
            path.write_text(text, encoding="utf-8")
        except OSError:
            path.unlink(missing_ok=True)
            raise
    return path, is_new


def plain_name(name: str) -> str:
    """A name as the name of a file, wherever it is read."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name)


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


class Share(click.ParamType[float]):
    """A share, as `2%` or `0.02`."""

    name = "share"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The share as a number from 0 to 1; another text is a usage error."""
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            self.fail(f"'{value}' is not a share from 0 to 100%; write 2% or 0.02", param, ctx)
        return share


def mapping_option(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, Path]:
    """`NAME=FILE.csv` of each `--mapping`, as name → file."""
    mappings: dict[str, Path] = {}
    for value in values:
        name, equals, file = value.partition("=")
        if not (name and equals and file):
            raise click.BadParameter(f"'{value}' is not NAME=FILE.csv", ctx, param)
        if name in mappings:
            raise click.BadParameter(f"'{name}' is given twice", ctx, param)
        if not Path(file).is_file():
            raise click.BadParameter(f"there is no file '{file}'", ctx, param)
        mappings[name] = Path(file)
    return mappings


with_mappings = click.option(
    "--mapping", "mappings", multiple=True, metavar="NAME=FILE.csv", callback=mapping_option,
    help="Descriptions of codes: a CSV of two columns, code and name. Can be given several times.",
)  # fmt: skip


class LazyChoice(click.ParamType[str]):
    """A choice between names whose module is imported only when one is given, or help is asked for."""

    name = "choice"

    def __init__(self, names: Callable[[], Sequence[str]]) -> None:
        """`names` imports and returns them."""
        self._names = names

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        return click.Choice(self._names()).get_metavar(param, ctx)

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name; another one is a usage error."""
        return click.Choice(self._names()).convert(value, param, ctx)


def caller() -> str:
    """`command line (root)`: the account of the operating system, where that is known."""
    try:
        return f"command line ({getpass.getuser()})"
    except (KeyError, OSError):
        return "command line"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Header and rows in columns as wide as their widest cell, two spaces apart."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in (header, *rows)
    )
    return "\n".join(line.rstrip() for line in lines)
