"""Odd values over filter, link, API, order and export, in each engine; see odd_values.py."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from odd_values import VALUES, odd_settings, rows
from serving import serving
from tranche import Desk

from lib.reporting import links
from lib.serving import connect
from lib.settings import Settings

SLICER = "odd/values"
DATABASES = {"postgresql": "rows_database", "clickhouse": "clickhouse_database", "spark": "spark_folder"}
MATCHES = {
    "equals": lambda value, part: value == part,
    "contains": lambda value, part: part in value,
    "begins with": lambda value, part: value.startswith(part),
    "ends with": lambda value, part: value.endswith(part),
}


@pytest.fixture(scope="module", params=["resident", "pandas", "duckdb", *DATABASES])
def settings(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """A data directory with these values, stored or in a database, and the engine that answers."""
    home = tmp_path_factory.mktemp("odd")
    with pytest.MonkeyPatch.context() as patch:
        if request.param in ("resident", "pandas"):
            patch.setenv("TRANCHE_ENGINE", request.param)
            yield odd_settings(home)
        elif request.param == "duckdb":
            yield odd_settings(home, f"parquet://{home}")
        else:
            yield odd_settings(home, str(request.getfixturevalue(DATABASES[request.param])))


@pytest.fixture(scope="module", params=["local", "address"])
def desk(request: pytest.FixtureRequest, settings: Settings) -> Iterator[Desk]:
    """A desk in this process, and one by its address."""
    installation = connect.installation(settings)
    if request.param == "local":
        yield Desk.local("ada", settings=settings)
        return
    service = settings.reporting_service
    token = installation.access.issue("ada", service, "test", dt.timedelta(hours=1))
    with serving(installation.api) as address:
        yield Desk(address, token)


def test_each_value_is_a_row(desk: Desk) -> None:
    """A split has each value once, as it was written, with its own figure."""
    frame = desk.ask(SLICER, start="-7d", end="yesterday", split="value").frame
    assert dict(zip(frame["value"].fillna(""), frame["imps"], strict=True)) == dict(
        rows().itertuples(index=False)
    )


@pytest.mark.parametrize("match", MATCHES)
def test_each_value_is_found(desk: Desk, match: str) -> None:
    """A filter by a value finds what pandas finds, in the answer and through the link to it."""
    for value in VALUES:
        filters = [{"name": "value", "match": match, "value": [value]}]
        answer = desk.ask(SLICER, start="-7d", end="yesterday", filters=filters)
        wanted = rows()["imps"][[MATCHES[match](text, value) for text in rows()["value"]]].sum()
        assert answer.total["imps"] == wanted, value
        params = dict(parse_qsl(urlsplit(answer.link).query, keep_blank_values=True))
        parsed = links.from_params(params, answer.slicer, "odd", "values")
        assert (parsed.query.filters, parsed.left_out) == (answer.query.filters, []), value


def test_each_value_is_found_in_any_case(desk: Desk) -> None:
    """Ignoring case a value finds those whose lower case, letter by letter, is its own: ß is no SS."""
    lower = dict(zip(VALUES, pc.utf8_lower(pa.array(VALUES)).to_pylist(), strict=True))
    for value in VALUES:
        filters = [{"name": "value", "match": "equals", "value": [value.swapcase()], "case_insensitive": 1}]
        if len(value.swapcase()) != len(value):
            continue  # STRASSE is another text than straße
        total = desk.ask(SLICER, start="-7d", end="yesterday", filters=filters).total
        swapped = pc.utf8_lower(pa.scalar(value.swapcase())).as_py()
        same = [lower.get(text) == swapped for text in rows()["value"]]
        assert total["imps"] == rows()["imps"][same].sum(), value


def test_all_values_at_once(desk: Desk) -> None:
    """A list of all values finds all rows but the one without; without them, that one is left."""
    for match, figure in (("equals", 2.0 ** len(VALUES) - 1), ("not equals", 2.0 ** len(VALUES))):
        filters = [{"name": "value", "match": match, "value": VALUES}]
        total = desk.ask(SLICER, start="-7d", end="yesterday", filters=filters).total
        assert total["imps"] == figure


def test_order_is_that_of_the_other_direction_reversed(desk: Desk) -> None:
    """Values are in one order, whatever their alphabet, and the other direction is its reverse."""
    up, down = (
        desk.ask(SLICER, start="-7d", end="yesterday", split="value", order=order)
        .frame["value"]
        .fillna("")
        .tolist()
        for order in ("value", "-value")
    )
    assert up == down[::-1] and set(up) == {*VALUES, ""}


@pytest.mark.parametrize("format", ["csv", "tsv", "xlsx"])
def test_an_export_has_each_value(desk: Desk, tmp_path: Path, format: str) -> None:
    """A file has each value; where a spreadsheet would compute one, an apostrophe before it."""
    path = desk.export(SLICER, tmp_path / f"a.{format}", start="-7d", end="yesterday", split="value")
    options = {"dtype": str, "keep_default_na": False}
    if format == "xlsx":
        table = pd.read_excel(path, engine="calamine", **options)
    else:
        table = pd.read_csv(path, sep="\t" if format == "tsv" else ",", **options)
    values = dict(zip(table.iloc[:, -1].astype(float), table.iloc[:, 0], strict=True))
    for value, figure in rows().itertuples(index=False):
        assert values[figure].removeprefix("'").split() == value.split(), value
