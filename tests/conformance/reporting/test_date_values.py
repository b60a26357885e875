"""Specification, "Date values (`start_date`, `end_date`)" and `timezone`."""

import datetime as dt
from collections.abc import Callable

import pytest
from dateutil.relativedelta import relativedelta

from conformance.reporting.caller import Caller, agree, figures
from conformance.reporting.hourly import FIRST, LAST, ZONE
from conformance.reporting.oracle import between
from conformance.reporting.oracle import figures as expected_figures

Form = Callable[[dt.date], dt.date]


def days(count: int) -> Form:
    """So many days back."""
    return lambda today: today - dt.timedelta(days=count)


def months(count: int) -> Form:
    """So many months back."""
    return lambda today: today - relativedelta(months=count)


def first(count: int) -> Form:
    """The first day of the month so many months back."""
    return lambda today: today - relativedelta(months=count, day=1)


def last(count: int) -> Form:
    """The last day of the month so many months back."""
    return lambda today: today - relativedelta(months=count, day=31)


FORMS: dict[str, Form] = {
    "today": days(0), "yesterday": days(1),
    "-0d": days(0), "-1d": days(1), "-30d": days(30), "-007d": days(7),
    "-0days": days(0), "-1days": days(1), "-45days": days(45),
    "-0m": months(0), "-1m": months(1), "-2m": months(2), "-0months": months(0), "-2months": months(2),
    "-0m_first": first(0), "-1m_first": first(1), "-2m_first": first(2),
    "-0months_first": first(0), "-1months_first": first(1), "-1month_first": first(1),
    "-1m_last": last(1), "-2m_last": last(2), "-1month_last": last(1), "-2months_last": last(2),
}  # fmt: skip
WRONG = [
    "", "tomorrow", "Today", "7d", "+7d", "-d", "-1.5d", "-1w", "-1m_middle", "2026-1-1", "2026-02-30",
    "20260101", "2026/01/01", "-99999999d", "now", " today", "0000-01-01", "٢٠٢٦-٠١-٠١",
]  # fmt: skip


def on_one_day(zone: int, ask: Callable[[], list[str]]) -> tuple[dt.date, list[str]]:
    """The current date in a zone and what is answered on it; asked again should midnight pass meanwhile."""
    today = dt.datetime.now(dt.timezone(dt.timedelta(hours=zone))).date()
    answer = ask()
    after = dt.datetime.now(dt.timezone(dt.timedelta(hours=zone))).date()
    return (today, answer) if today == after else on_one_day(zone, ask)


@pytest.mark.service
@pytest.mark.parametrize("form", FORMS)
def test_relative_start(hourly: Caller, form: str) -> None:
    """Each relative form is a start_date: the first day that is answered."""
    today, dates = on_one_day(ZONE, lambda: hourly.audience(start_date=form)["total"]["dates"])
    assert dates[0] == FORMS[form](today).isoformat()


@pytest.mark.service
@pytest.mark.parametrize("form", FORMS)
def test_relative_end(hourly: Caller, form: str) -> None:
    """Each relative form is an end_date: the last day that is answered."""
    today, dates = on_one_day(ZONE, lambda: hourly.audience(end_date=form)["total"]["dates"])
    assert dates[-1] == FORMS[form](today).isoformat()


@pytest.mark.service
@pytest.mark.parametrize("form", FORMS)
def test_export_reads_the_same_dates(hourly: Caller, form: str) -> None:
    """An export takes each relative form for the same day; its file is named by it."""
    today, name = on_one_day(
        ZONE, lambda: [hourly.export(start_date=form, end_date=form).headers["content-disposition"]]
    )
    day = FORMS[form](today).isoformat()
    assert f"_{day}_{day}.csv" in name[0]


def test_absolute_dates(hourly: Caller) -> None:
    """YYYY-MM-DD is that day; both ends are included, and the figures are those of the days between."""
    start, end = FIRST + dt.timedelta(days=5), FIRST + dt.timedelta(days=7)
    answer = hourly.audience(start_date=start.isoformat(), end_date=end.isoformat())
    assert answer["total"]["dates"] == [str(start + dt.timedelta(days=day)) for day in range(3)]
    agree(figures(answer["total"]), expected_figures(between(start, end)))


@pytest.mark.service
@pytest.mark.parametrize("field", ["start_date", "end_date"])
@pytest.mark.parametrize("wrong", WRONG)
def test_other_forms_are_refused(hourly: Caller, wrong: str, field: str) -> None:
    """Any other text is refused; the reason names it and every form that would do."""
    reason = hourly.reason("audience", **{field: wrong})
    assert f"'{wrong}'" in reason
    assert "YYYY-MM-DD" in reason


@pytest.mark.service
@pytest.mark.parametrize("wrong", [f"-{'9' * digits}{unit}" for digits in (20, 5_000) for unit in "dm"])
def test_dates_beyond_all_years(hourly: Caller, wrong: str) -> None:
    """A date of no year that there is, is refused in a sentence of readable length."""
    assert len(hourly.reason("audience", start_date=wrong)) < 300


@pytest.mark.parametrize("zone", range(-12, 13))
def test_timezone(hourly: Caller, zone: int) -> None:
    """timezone is the UTC offset in hours, -12 to +12: days begin at midnight there."""
    start, end = FIRST + dt.timedelta(days=30), FIRST + dt.timedelta(days=31)
    answer = hourly.audience(start_date=str(start), end_date=str(end), timezone=zone)
    expected = expected_figures(between(start, end, zone))
    agree(figures(answer["total"]), expected)


@pytest.mark.service
@pytest.mark.parametrize("wrong", [-13, 13, 5.5, "UTC", [1], True, False])
@pytest.mark.parametrize("verb", ["audience", "export"])
def test_timezone_bounds(hourly: Caller, verb: str, wrong: object) -> None:
    """timezone is an integer from -12 to +12 and nothing else."""
    assert hourly.reason(verb, timezone=wrong).startswith("timezone ")


def test_timezone_is_optional(hourly: Caller) -> None:
    """Without timezone, days are those of the slicer's own zone."""
    day = str(FIRST + dt.timedelta(days=40))
    assert hourly.audience(start_date=day, end_date=day) == hourly.audience(
        start_date=day, end_date=day, timezone=ZONE
    )


def test_days_outside_of_the_data(hourly: Caller) -> None:
    """A range may reach beyond the data, or miss it: then there are no days and nothing to sum."""
    far = hourly.audience(start_date="0001-01-01", end_date="9999-12-31")["total"]
    assert (far["dates"][0], far["dates"][-1]) == (str(FIRST), str(LAST))
    none = hourly.audience(start_date="1999-01-01", end_date="1999-12-31", split_by=["site_id"])
    assert (none["total"]["dates"], none["rows"], none["total"]["records_found"]) == ([], [], 0)
