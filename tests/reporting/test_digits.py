"""The digits of sums."""

from pathlib import Path

import numpy as np
import orjson
import pytest
from inventory import asked, embedded, slicer, table

from lib.figures.numbers import Numbers
from lib.figures.query import precision
from lib.reporting.answers import as_arrow, as_json, slack
from lib.reporting.files import make_file
from lib.reporting.files.table import export_table
from lib.reporting.models import ExportQuery
from lib.slicers.digits import settle


def test_a_sum_has_the_same_digits_in_any_order() -> None:
    """A million amounts in millionths have one sum to the last digit, however they are added up."""
    amounts = np.random.default_rng(3).integers(1, 10**7, 1_000_000) / 10**6
    orders = [amounts, amounts[::-1], np.sort(amounts)]
    sums = [of.cumsum()[-1] for of in orders] + [of.reshape(1000, -1).sum(axis=1).sum() for of in orders]
    assert len({repr(float(total)) for total in sums}) > 1
    exact = round(float(sum(round(amount * 10**6) for amount in amounts.tolist())) / 10**6, 6)
    assert set(settle(np.array(sums)).tolist()) == {exact}


def test_whole_numbers_stay() -> None:
    """Sums of whole numbers keep all of their digits below 2⁵³; what is missing stays so."""
    values = np.array([9_007_199_254_740_991.0, 123_456_789_012_345.0, 0.0, -7.0])
    assert settle(values).tolist() == values.tolist()
    assert not slack(values).any()
    assert np.isnan(settle(np.array([np.nan, 0.5]))[0])
    assert settle(np.array([-39563.119200000125, 1e-9 / 3])).tolist() == [-39563.1192, 3.333333333333e-10]
    large = settle(np.array([2.0**53, -1.234567890123456e20]))
    assert large.tolist() == [9_007_199_254_741_000.0, -123_456_789_012_300_000_000.0]
    assert slack(large).tolist() == [1_000.0, 1e8]


@pytest.mark.parametrize("exponent", [*range(-320, 15, 5), *range(20, 300, 5)])
def test_a_sum_of_any_size_has_13_digits(exponent: int) -> None:
    """However small or large, the sum is the float that Python reads from its 13 digits, and stays so."""
    draw = np.random.default_rng(exponent + 400)
    sums = np.append(draw.uniform(-10, 10, 50), [1.0, 9.9999999999999]) * 10.0**exponent
    expected = [x if x.is_integer() and abs(x) < 2**53 else float(f"{x:.12e}") for x in sums.tolist()]
    settled = settle(sums)
    assert settled.tolist() == expected
    assert settle(settled).tolist() == expected


@pytest.fixture
def large(own_home: Path):
    """The inventory with the largest whole number but one that float64 tells from its neighbors for each bid
    in the US, three of them, and small ones elsewhere."""
    rows = table()
    bids = [2.0**53 - 2 if country == "US" else float(bid) for country, bid in zip(
        rows["country"].to_pylist(), rows["bids"].to_pylist(), strict=True
    )]  # fmt: skip
    return embedded(own_home, rows.set_column(rows.schema.get_field_index("bids"), "bids", [bids]))


def test_a_sum_beyond_whole_numbers_does_not_claim_to_be_exact(large) -> None:
    """3 (2⁵³ - 2) has 17 digits: the nearest float64 is answered, with a range that holds it, in JSON, Arrow
    and files; sums below stay whole numbers without a range."""
    answer = asked(large, (), split_by=("country",))
    truth = {"US": 3 * (2**53 - 2), "DE": 24, "FR": 78}
    for audience in (answer, as_arrow.decode(as_arrow.encode(answer))):
        bids_by_country = dict(zip(audience.names["country"], audience.values["bids"], strict=True))
        assert bids_by_country == {"US": float(truth["US"]), "DE": 24, "FR": 78}
        for name, low, high in zip(
            audience.names["country"], audience.low["bids"], audience.high["bids"], strict=True
        ):
            assert int(low) <= truth[name] <= int(high)
            assert (low < high) == (name == "US")
    rows = orjson.loads(b"".join(as_json.encode(answer)))["rows"]
    assert [row["data"][0]["value"] for row in rows] == [float(truth["US"]), 78, 24]
    assert precision.sentence(answer, "bids", Numbers()) == "Exact to 13 digits"
    for name, text in (("csv", "27021597764222970"), ("tsv2", "27021597764222970")):
        given = {
            "project_name": "demo",
            "slicer_name": "inventory",
            "export_format": name,
            "split_by": ("country",),
        }
        query = ExportQuery(**given, data_fields=("bids",), start_date="1d", end_date="1d")
        with make_file(export_table(query, slicer(large), answer), name) as file:
            lines = file.read().decode().splitlines()
        assert [line.replace('"', "").replace("\t", ",") for line in lines[1:4]] == [
            f"US,{text}", "FR,78", "DE,24",
        ]  # fmt: skip
