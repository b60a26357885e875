"""Edits of Wikipedia: 39,244 rows, most of 12 September 2015, and what two databases answer about them."""

import gzip
import json
from typing import Any

import pandas as pd
import pytest

from lib.reporting.answers import Audience
from lib.reporting.client import Reporting
from lib.reporting.models import AudienceQuery, ExportQuery, InfoQuery
from lib.slicers.models import Order
from lib.wire.filters import Filter
from real.folder import DATA, needs_data

pytestmark = needs_data
WIKI = {"project_name": "real", "slicer_name": "wiki"}
WHOLE = {"start_date": "2015-09-01", "end_date": "2015-11-30"}
THE_12TH = {"start_date": "2015-09-12", "end_date": "2015-09-12"}
MOST_EDITS = (Order(name="edits"),)
CORBYN = (
    Filter(name="isRobot", match="equals", value=("false",)),
    Filter(name="page", match="contains", value=("corbyn",), case_insensitive=1),
)
PAGES = [
    ("Wikipedia:Vandalismusmeldung", 33),
    ("User:Cyde/List of candidates for speedy deletion/Subpage", 28),
    ("Jeremy Corbyn", 27),
    ("Wikipedia:Administrators' noticeboard/Incidents", 21),
    ("Flavia Pennetta", 20),
    ("Total Drama Presents: The Ridonculous Race", 18),
    ("User talk:Dudeperson176123", 18),
    ("Wikipédia:Le Bistro/12 septembre 2015", 18),
    ("Wikipedia:In the news/Candidates", 17),
    ("Wikipedia:Requests for page protection", 17),
]
HOURS = {
    1: (1, 1075), 8: (1, 8), 9: (1, 8), 10: (3, 100), 11: (4, 565), 12: (2, 206), 13: (1, 15), 14: (2, 0),
    15: (4, 69), 16: (1, 38), 17: (1, 1085), 18: (2, 2047), 19: (3, 95), 21: (1, 33), 22: (3, 659),
}  # fmt: skip


@pytest.fixture(scope="module")
def file() -> pd.DataFrame:
    """The file as pandas reads it."""
    with gzip.open(DATA / "wikiticker_sampled.ndjson.gz", "rt", encoding="utf-8") as lines:
        return pd.DataFrame(map(json.loads, lines))


def ask(reporting: Reporting, **fields: Any) -> Audience:
    """The answer about the edits of all days, unless told otherwise."""
    return reporting.audience(AudienceQuery(**(WIKI | WHOLE | fields)))


def lines(audience: Audience, *data: str) -> list[tuple[Any, ...]]:
    """The rows: names, then these data fields."""
    names, values = (
        audience.names.to_numpy(dtype=object).tolist(),
        audience.values[list(data)].to_numpy().tolist(),
    )
    return [(*name, *value) for name, value in zip(names, values, strict=True)]


def edits(reporting: Reporting, name: str, value: str) -> float | None:
    """How many edits have that value."""
    wanted = Filter(name=name, match="equals", value=(value,))
    return ask(reporting, filters=(wanted,)).total.values["edits"]


def test_info(reporting: Reporting) -> None:
    """The slicer reaches from the first odd day to the last, and has every field of its definition."""
    slicer = reporting.info(InfoQuery(**WIKI))
    assert (slicer.first_date, slicer.last_date, slicer.timezone) == ("2015-09-08", "2015-11-01", 0)
    assert [field.name for field in slicer.data_fields] == [
        "edits",
        "added",
        "deleted",
        "delta",
        "unique_users",
    ]
    assert slicer.key_field("metroCode").mapping == "dma"


def test_channels(reporting: Reporting) -> None:
    """5.1: split by channel, top 5 by edits."""
    answer = ask(reporting, split_by=("channel",), order_by=MOST_EDITS, limit=5)
    assert lines(answer, "edits", "added", "deleted", "delta") == [
        ("#en.wikipedia", 11549, 3045299, 176483, 2868816),
        ("#vi.wikipedia", 9747, 295972, 1388, 294584),
        ("#de.wikipedia", 2523, 522625, 35407, 487218),
        ("#fr.wikipedia", 2099, 642555, 22487, 620068),
        ("#ru.wikipedia", 1386, 640698, 19612, 621086),
    ]


def metro(reporting: Reporting, **fields: Any) -> Audience:
    """The split by metro code with its names, without edits that have none."""
    present = Filter(name="metroCode", match="not equals", value=("",))
    return ask(
        reporting,
        split_by=("metroCode",),
        filters=(present,),
        include_mappings=1,
        order_by=MOST_EDITS,
        **fields,
    )


def test_metro_areas(reporting: Reporting) -> None:
    """5.2: split by metroCode with the DMA mapping, top 5."""
    answer = metro(reporting, limit=5)
    assert answer.descriptions is not None
    assert lines(answer, "edits", "added") == [
        ("501", 63, 3685), ("807", 38, 2031), ("511", 22, 1653), ("803", 20, 519), ("563", 18, 228),
    ]  # fmt: skip
    assert answer.descriptions["metroCode"].tolist() == [
        "New York", "San Francisco-Oak-San Jose", "Washington, DC (Hagrstwn)", "Los Angeles",
        "Grand Rapids-Kalmzoo-B.Crk",
    ]  # fmt: skip


def test_metro_areas_without_a_name(reporting: Reporting) -> None:
    """5.3: every metro code has its name in the mapping; none stands as the bare code."""
    answer = metro(reporting)
    assert answer.descriptions is not None
    assert len(answer) > 50
    assert not (answer.descriptions["metroCode"] == answer.names["metroCode"]).any()


def test_metro_areas_by_name(reporting: Reporting) -> None:
    """A filter by the DMA's name finds the edits of its code."""
    wanted = Filter(name="metroCode", match="begins with", value=("New Yo",), search_mappings=1)
    assert ask(reporting, filters=(wanted,)).total.values["edits"] == 63


def test_countries(reporting: Reporting) -> None:
    """5.4: split by country with the missing value as a group, top 4."""
    answer = ask(reporting, split_by=("countryIsoCode",), order_by=MOST_EDITS, limit=4)
    assert lines(answer, "edits", "added") == [
        ("", 35445, 8761516), ("US", 528, 44433), ("IT", 256, 41073), ("GB", 234, 38587),
    ]  # fmt: skip


def test_corbyn_by_hour(reporting: Reporting) -> None:
    """5.5: edits by people of pages about Corbyn, by hour of 12 September."""
    answer = ask(reporting, split_by=("granularity_hour",), filters=CORBYN, **THE_12TH)
    expected = [(f"2015-09-12 {hour:02}:00", *sums) for hour, sums in HOURS.items()]
    assert lines(answer, "edits", "added") == expected


@pytest.mark.parametrize("zone", [-7, 9])
def test_corbyn_in_another_zone(reporting: Reporting, zone: int) -> None:
    """5.5 in another zone: the same edits at other times of the day, some on another day."""
    fields = {"start_date": "2015-09-11", "end_date": "2015-09-13", "timezone": zone}
    answer = ask(reporting, split_by=("granularity_hour",), filters=CORBYN, **fields)
    start = pd.Timestamp("2015-09-12")
    moved = {
        f"{start + pd.Timedelta(hours=hour + zone):%Y-%m-%d %H:00}": sums for hour, sums in HOURS.items()
    }
    by_hour = {name: tuple(values) for name, *values in lines(answer, "edits", "added")}
    assert {name: by_hour[name] for name in moved} == moved


def test_days(reporting: Reporting) -> None:
    """5.6: rows on 12 September and on other days."""
    answer = ask(reporting, split_by=("granularity_day",))
    by_day = dict(lines(answer, "edits"))
    assert by_day.pop("2015-09-12") == 39199
    assert sum(by_day.values()) == 45
    assert (answer.total.dates[0], answer.total.dates[-1]) == ("2015-09-08", "2015-11-01")


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [("cityName", "São Paulo", 6), ("namespace", "Utilisateur", 57), ("namespace", "토론", 2)],
)
def test_letters_of_all_kinds(reporting: Reporting, name: str, value: str, found: int) -> None:
    """5.7: filters on values that are not plain ASCII."""
    assert edits(reporting, name, value) == found


def test_pages(reporting: Reporting) -> None:
    """5.8: top 10 of 35,143 pages by edits."""
    answer = ask(reporting, split_by=("page",), order_by=MOST_EDITS, limit=10)
    assert lines(answer, "edits") == PAGES
    assert answer.total.records_found == 35143


def test_users(reporting: Reporting, file: pd.DataFrame) -> None:
    """Unique users are those of the file, in all and by channel."""
    answer = ask(reporting, split_by=("channel",))
    assert answer.total.values["unique_users"] == file["user"].nunique()
    assert dict(lines(answer, "unique_users")) == file.groupby("channel")["user"].nunique().to_dict()


@pytest.mark.parametrize("export_format", ["csv", "tsv", "xlsx"])
def test_every_page_in_a_file(reporting: Reporting, file: pd.DataFrame, export_format: str) -> None:
    """All 35,143 pages come back from a file, names that begin with = + - and # among them."""
    query = ExportQuery(
        **WIKI, **WHOLE, split_by=("page",), export_format=export_format, data_fields=("edits",)
    )
    content = reporting.export(query).content
    options: dict[str, Any] = {"keep_default_na": False}
    if export_format == "xlsx":
        frame = pd.read_excel(content, **options)
    else:
        frame = pd.read_csv(content, sep="," if export_format == "csv" else "\t", **options)
        frame["Page"] = frame["Page"].str.replace(r"^'(?=[=+\-@])", "", regex=True)
    assert frame.set_index("Page")["Edits"].to_dict() == file["page"].value_counts().to_dict()
