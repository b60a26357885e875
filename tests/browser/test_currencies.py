"""A chart of money in several currencies, in a browser: its place says why it is empty, and leads on."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
from conftest import LAST_DAY
from playwright.sync_api import Page, expect

from browser.conftest import Serve, enter, settled
from lib.slicers.definition import Definition
from lib.slicers.warehouse import Warehouse

DEFINITION = Definition.model_validate(
    {
        "time": {"column": "day"},
        "key_fields": [{"name": "country"}, {"name": "currency_code"}],
        "data_fields": [
            {"name": "spend", "currency": "currency_code", "display_type": "float"},
            {"name": "records", "aggregate": "count", "is_optional": True},
        ],
    }
)


def test_the_largest_currency_is_offered(own_home: Path, serve: Serve, page: Page) -> None:
    """In the place of a chart of money in several currencies, a button keeps the largest alone."""
    days = pd.date_range(end=LAST_DAY, periods=14, tz="UTC")
    rows = [
        (day, country, code, amount)
        for number, day in enumerate(days)
        for country, code, amount in (
            ("DE", "EUR", 120.5 + number),
            ("CH", "EUR", 20.0),
            ("CH", "USD", 80.25),
            ("JP", "JPY", 15_400.0 + number),
        )
    ]
    frame = pd.DataFrame(rows, columns=["time", "country", "currency_code", "spend"])
    with Warehouse(own_home / "warehouse").writer("demo", "money", DEFINITION, {}) as writer:
        writer.write(pa.Table.from_pandas(frame, schema=DEFINITION.schema(), preserve_index=False))
        writer.commit("made by a test", "0")
    euros = frame[frame["currency_code"] == "EUR"]
    week = euros[euros["time"] > days[-1] - pd.Timedelta(days=7)]
    with serve(own_home) as address:
        enter(page, f"{address}/audience?project=demo&slicer=money&start={days[-7]:%F}&end={days[-1]:%F}")
        reason = "spend: 3 currencies: split or filter by currency_code"
        expect(page.locator(".chart")).to_contain_text(reason)
        page.get_by_role("button", name="Show EUR only").click()
        figure = page.locator(".fig[data-name=spend] .fig-value")
        expect(figure).to_have_text(f"{week['spend'].sum():,.0f} EUR")
        settled(page)
        assert "is.currency_code=EUR" in page.url
