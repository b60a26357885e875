"""Mail subscriptions: when they are due in the reader's zone, and whose they are."""

from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from keeping import Keeper, keeper

from lib.serving import connect
from lib.settings import Settings
from lib.views import Schedule
from lib.views.subscriptions import MOST_SUBSCRIPTIONS
from lib.wire.errors import AccessError, BadRequest, UnknownName

ZONES = (
    "UTC",
    "America/New_York",
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "Asia/Kolkata",
    "America/Santiago",
)
WEEK, DELIVERY = {"start": "-7d", "end": "yesterday"}, ("demo", "delivery")


@pytest.fixture
def settings(own_home: Path, inhabited_url: str) -> Settings:
    """Settings of a data directory and a database of the test's own."""
    return Settings(home=own_home, database_url=inhabited_url, demo=True)


@pytest.fixture
def kept(settings: Settings) -> Keeper:
    """What the person of this name keeps there."""
    return keeper(settings)


@pytest.mark.parametrize(
    ("zone", "clock", "after", "due"),
    [
        ("Europe/Berlin", "08:00", "2026-03-28T12:00", "2026-03-29T06:00"),  # summer time began at 2
        ("Europe/Berlin", "02:30", "2026-03-28T12:00", "2026-03-29T01:30"),  # 2:30 is not there: 3:30 is
        ("Europe/Berlin", "02:30", "2026-10-24T12:00", "2026-10-25T00:30"),  # 2:30 comes twice: the first
        ("Europe/Berlin", "02:30", "2026-10-25T00:30", "2026-10-26T01:30"),  # and not the second
        ("America/New_York", "08:00", "2026-10-31T12:00", "2026-11-01T13:00"),
        ("UTC", "08:00", "2026-11-24T08:00", "2026-11-25T08:00"),
        ("Asia/Kolkata", "00:15", "2026-11-24T18:00", "2026-11-24T18:45"),
    ],
)
def test_daylight_saving(zone: str, clock: str, after: str, due: str) -> None:
    """A mail comes at the hour of the reader's clock, once a day, also when the clock is changed."""
    at = time.fromisoformat(clock)
    schedule = Schedule("daily", zone, at.hour * 60 + at.minute)
    due_at = schedule.next_after(datetime.fromisoformat(f"{after}+00:00"))
    assert due_at == datetime.fromisoformat(f"{due}+00:00")


@given(
    st.sampled_from(ZONES),
    st.integers(0, 1439),
    st.integers(0, 6),
    st.datetimes(datetime(2024, 1, 1), datetime(2028, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
)
def test_each_day_and_each_week_has_one(zone: str, minute: int, weekday: int, now: datetime) -> None:
    """The days of the next four mails follow each other, and those of a week are seven apart."""
    for schedule, apart in (
        (Schedule("daily", zone, minute), 1),
        (Schedule("weekly", zone, minute, weekday), 7),
    ):
        days: list[date] = []
        moment = now
        for _ in range(4):
            moment, before = schedule.next_after(moment), moment
            assert moment > before
            days.append(moment.astimezone(ZoneInfo(zone)).date())
        assert [(b - a).days for a, b in pairwise(days)] == [apart] * 3
        assert apart == 1 or {day.weekday() for day in days} == {weekday}


@pytest.mark.parametrize(
    "given",
    [
        ("hourly",),
        ("daily", "Mars/Base"),
        ("daily", "../etc/passwd"),
        ("daily", "UTC", 1440),
        ("weekly", "UTC", 0, 7),
    ],
)
def test_schedules_that_are_none(given: tuple[object, ...]) -> None:
    """An unknown pace or zone, and a time that is none, are refused."""
    with pytest.raises(BadRequest):
        Schedule(*given)  # type: ignore[arg-type]


def test_whose_they_are(kept: Keeper) -> None:
    """A person sees and stops their own mails, an administrator everybody's, without private names."""
    view = kept("manager").views.save(*DELIVERY, "Secret plans", WEEK)
    mine = kept("manager").mails.add(view.id, Schedule())
    assert kept("viewer").mails.all() == []
    (seen,) = kept("admin").mails.all()
    assert (seen.id, seen.view_name, seen.slicer) == (mine.id, "", "delivery")
    with pytest.raises(AccessError):
        kept("viewer").mails.remove(mine.id)
    with pytest.raises(BadRequest, match="not there any more"):
        kept("viewer").mails.add(view.id, Schedule())
    kept("admin").mails.remove(mine.id)
    assert kept("manager").mails.all() == []
    with pytest.raises(BadRequest, match="not there any more"):
        kept("manager").mails.remove(mine.id)


def test_one_per_view(kept: Keeper) -> None:
    """Setting a mail again replaces it; with its view it goes; there are fifty at most."""
    store = kept("manager")
    view = store.views.save(*DELIVERY, "Week", WEEK)
    for pace in ("daily", "weekly"):
        store.mails.add(view.id, Schedule(pace))
    assert [mail.pace for mail in store.mails.mine()] == ["weekly"]
    store.views.delete(view.id)
    assert store.mails.mine() == []
    views = [store.views.save(*DELIVERY, f"View {number}", WEEK) for number in range(MOST_SUBSCRIPTIONS + 1)]
    for saved_view in views[:-1]:
        store.mails.add(saved_view.id, Schedule())
    with pytest.raises(BadRequest, match="stop one first"):
        store.mails.add(views[-1].id, Schedule())


def test_changes_are_in_the_audit_log(settings: Settings, kept: Keeper) -> None:
    """Who sets and stops mails is in the audit log, without names of views."""
    view = kept("manager").views.save(*DELIVERY, "Secret plans", WEEK)
    mine = kept("manager").mails.add(view.id, Schedule())
    kept("admin").mails.remove(mine.id)
    _, entries = connect.installation(settings).access.audit.entries(events=("mail added", "mail removed"))
    assert [(entry.event, entry.who) for entry in entries] == [
        ("mail removed", "admin"),
        ("mail added", "manager"),
    ]
    assert all("view" in entry.detail and "Secret" not in entry.detail for entry in entries)


def test_a_namesake_inherits_none(settings: Settings, kept: Keeper) -> None:
    """Mails of a person who was removed are not those of another of the same name added later."""
    kept("viewer").mails.add(None, Schedule("alerts"))
    people = connect.installation(settings).people
    (mail,) = kept("viewer").mails.mine()
    assert people.still("viewer", mail.created) is not None
    viewer = people.require("viewer")
    people.remove("viewer")
    assert people.still("viewer", mail.created) is None
    later = datetime.now(UTC) + timedelta(minutes=1)
    people.add(viewer.__class__("viewer", "Another", None, "viewer", added=later), "another password")
    assert people.still("viewer", mail.created) is None


def test_an_unknown_zone_is_named() -> None:
    """A zone with a typing error is answered with the one that was meant."""
    with pytest.raises(UnknownName, match="did you mean 'Europe/Zurich'"):
        Schedule("daily", "Europe/Zürich")
