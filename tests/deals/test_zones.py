"""Named time zones of starts and ends: across the change of clocks, and what a stored offset is shown in."""

import datetime as dt
from zoneinfo import ZoneInfo

import pytest

from lib.deals import moments
from lib.ui.deals.forms import inputs
from lib.ui.deals.forms.draft import Draft, dump_draft, load_draft

BERLIN = "Europe/Berlin"
WINTER, SUMMER = dt.timezone(dt.timedelta(hours=1)), dt.timezone(dt.timedelta(hours=2))


def draft(start: str, end: str = "", zone: moments.Zone = BERLIN) -> Draft:
    """A form with these dates."""
    return Draft.of(name="Clocks", media_type="banner", start_date=start, end_date=end, zone=zone)


def test_dates_on_both_sides_of_the_change_of_clocks() -> None:
    """Each is sent with the offset that its own day has in the zone, which the standard library says too."""
    package = draft("2026-10-01", "2026-11-30").package().body()
    assert package["start_date"] == "2026-10-01 00:00:00+0200"
    assert package["end_date"] == "2026-12-01 00:00:00+0100"
    for name, month in (("start_date", 10), ("end_date", 12)):
        assert moments.read(package[name]) == dt.datetime(2026, month, 1, tzinfo=ZoneInfo(BERLIN))


@pytest.mark.parametrize(
    ("starts", "ends", "usual", "zone"),
    [
        pytest.param((2026, 10, 1, SUMMER), (2026, 12, 1, WINTER), BERLIN, BERLIN, id="both offsets"),
        pytest.param((2026, 10, 1, SUMMER), None, BERLIN, BERLIN, id="no end"),
        pytest.param((2026, 10, 1, SUMMER), (2026, 12, 1, SUMMER), BERLIN, 120, id="a fixed offset"),
        pytest.param((2026, 10, 1, dt.UTC), None, BERLIN, 0, id="another zone"),
        pytest.param((2026, 10, 1, SUMMER), None, -300, 120, id="no name known"),
    ],
)
def test_the_zone_of_stored_dates(
    starts: tuple[int, int, int, dt.tzinfo],
    ends: tuple[int, int, int, dt.tzinfo] | None,
    usual: moments.Zone,
    zone: moments.Zone,
) -> None:
    """The reader's own where its clocks have the offsets that are stored; else the offset of the start."""
    given = [None if at is None else dt.datetime(*at[:3], tzinfo=at[3]) for at in (starts, ends)]
    assert moments.zone_of(given, usual) == zone


def test_an_hour_that_comes_twice_keeps_its_offset() -> None:
    """A form would read it as the first of both, so the second is shown in its own offset."""
    second = dt.datetime(2026, 10, 25, 2, 30, tzinfo=WINTER)
    assert moments.zone_of([second], BERLIN) == 60
    assert moments.zone_of([second.replace(tzinfo=SUMMER)], BERLIN) == BERLIN


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        ("2026-03-29 02:30", "Clocks go forward: there is no 02:30 in Europe/Berlin on this day."),
        ("2026-10-25 02:30", "Clocks go back: 02:30 comes twice in Europe/Berlin on this day. "
            "Choose an offset, like UTC+1."),
        ("2026-03-29 03:00", None),
        ("2026-10-25", None),
    ],
)  # fmt: skip
def test_hours_of_the_change_of_clocks(start: str, sentence: str | None) -> None:
    """An hour that there is not, or twice, is refused at its field; a day alone never is."""
    assert draft(start).faults().wrong.get(("start_date",)) == sentence
    assert ("start_date",) not in draft(start, zone=60).faults().wrong


def test_a_draft_keeps_its_zone() -> None:
    """By its name, or its minutes; a name that is not known is no draft; one of before had minutes alone."""
    for zone in (BERLIN, 330):
        assert load_draft(dump_draft(draft("2026-10-01", zone=zone))).zone == zone
    with pytest.raises(KeyError):
        load_draft(dump_draft(draft("2026-10-01", zone="Europe/Atlantis")))
    body = dump_draft(draft("2026-10-01", zone=330))
    assert (
        load_draft({**{name: part for name, part in body.items() if name != "zone"}, "offset": 330}).zone
        == 330
    )


def test_contents_are_as_they_were_typed() -> None:
    """Stored dates on both sides of the change read as the days that were typed."""
    start, end = dt.datetime(2026, 10, 1, tzinfo=SUMMER), dt.datetime(2026, 12, 1, tzinfo=WINTER)
    contents = inputs.contents({"start_date": start, "end_date": end}, moments.rules(BERLIN))
    assert contents == {"start_date": "2026-10-01", "end_date": "2026-11-30"}
