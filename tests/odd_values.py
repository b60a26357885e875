"""Values with marks of CSV, JSON, URLs and alphabets: one table for engines, links, exports and screens."""

import datetime as dt
from pathlib import Path

import pandas as pd
import pyarrow as pa
from conftest import LAST_DAY, PASSWORD
from connected import CONNECTION, connected, publish
from peopled import add_people

from lib.engines.connected_slicers import ConnectedSlicers
from lib.people import Person
from lib.settings import Settings
from lib.slicers.definition import DataFieldDefinition, Definition, KeyFieldDefinition, TimeColumn
from lib.slicers.warehouse import Warehouse

VALUES = [
    "a,b", 'say "hi"', "it's", "back\\slash", "tab\there", "line\nbreak", "semi;colon", "pipe|d", "tilde~d",
    "a&b=c", "100%", "50%25", "+1", "=1+1", "#hash", "🦄 unicorn", "👩\u200d👩\u200d👧",
    "مرحبا", "שלום (x)",
    "straße", "STRASSE", "İstanbul", "istanbul", "ISTANBUL",
    "ısparta", "café", "cafe\u0301", "null", "None",
    "NaN", "true", "0", "007", " ", " x", "x ", "x", "[a](b)", "<b>", "`c`", "$x$", "%", "_", "\\",
    "a_b", "axb",
]  # fmt: skip
DEFINITION = Definition(
    time=TimeColumn(column="time", granularity="day"),
    key_fields=(KeyFieldDefinition(name="value"),),
    data_fields=(DataFieldDefinition(name="imps"),),
)


def rows() -> pd.DataFrame:
    """A row for each value and for none, with impressions that tell them apart."""
    return pd.DataFrame({"value": [*VALUES, ""], "imps": [2.0**n for n in range(len(VALUES) + 1)]})


def odd_settings(home: Path, url: str | None = None) -> Settings:
    """A data directory with these values in the slicer odd/values: stored, or in the database of a URL."""
    add_people(f"sqlite:///{home}/tranche.db", [Person("ada", "Ada", None, "admin")], PASSWORD)
    connections = {CONNECTION: {"url": url}} if url else {}
    settings = Settings(home=home, demo=True, throttle_questions=10**6, connections=connections)
    warehouse = Warehouse(settings.warehouse, ConnectedSlicers(settings.connection_urls).current)
    time = dt.datetime.combine(LAST_DAY, dt.time(), dt.UTC)
    columns = {"time": [time] * (len(VALUES) + 1), "value": [*VALUES, None], "imps": rows()["imps"].tolist()}
    table = pa.table(columns, schema=DEFINITION.schema())
    if url:
        publish(table, DEFINITION, url, "odd_values")
        warehouse.connect("odd", "values", connected(DEFINITION, "odd_values"))
        return settings
    with warehouse.writer("odd", "values", DEFINITION, {}) as writer:
        writer.write(table)
        writer.commit("made for the tests", "odd")
    return settings
