"""Alerts: when they fire and clear, what their owner may see, what a receiver is sent; once per database."""

import logging
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from conftest import LAST_DAY, small_rows
from file_settings import changed
from keeping import Keeper, keeper
from scipy import stats
from serving import free_port, serving
from statements import NOISES, alert_rates
from watched import IMPS, SECRET, SLICER, YESTERDAY, Receiver, imported, set_up, webhook

from lib.people import Grant
from lib.reporting import noise, watched
from lib.serving import connect
from lib.settings import Settings
from lib.share.alerts.check import Verdict
from lib.share.alerts.watch import Watch
from lib.slicers import dates
from lib.slicers.models import Slicer
from lib.views import Alert, ViewStore
from lib.wire.errors import BadRequest, Misconfigured

NOW = datetime.now(UTC)


@pytest.fixture
def settings(own_home: Path, inhabited_url: str) -> Settings:
    """Settings of a data directory and a database of the test's own, without a webhook."""
    return Settings(home=own_home, database_url=inhabited_url, demo=True)


@pytest.fixture
def kept(settings: Settings) -> Keeper:
    """What the person of this name keeps there."""
    return keeper(settings)


@pytest.fixture
def watch(settings: Settings) -> Watch:
    """Looks at the alerts of that data directory when told to."""
    return Watch(settings)


@pytest.fixture
def receiver() -> Receiver:
    """Takes all messages."""
    return Receiver()


@pytest.fixture
def sending(settings: Settings, receiver: Receiver) -> Iterator[Watch]:
    """The same as `watch`, with a receiver of messages on this machine."""
    with serving(receiver.app) as address:
        yield Watch(changed(settings, **webhook(address)))


def alert(kept: ViewStore) -> Alert:
    """The person's only alert."""
    (single,) = kept.alerts.mine()
    return single


def later(minutes: float) -> datetime:
    """So many minutes after now."""
    return NOW + timedelta(minutes=minutes)


def test_above_and_below(own_home: Path, kept: Keeper, watch: Watch) -> None:
    """Past its bound a figure fires, at it or before it does not; filters of the view count."""
    imported(own_home, [50, 120])
    views = [
        set_up(kept("manager"), *rule)
        for rule in (("above", 119.5), ("above", 120.0), ("below", 120.5), ("below", 120.0))
    ]
    views.append(set_up(kept("manager"), "above", 59.5, **{"is.geo.country": "US"}))
    views.append(set_up(kept("manager"), "above", 60.5, **{"is.geo.country": "US"}))
    watch.look(NOW)
    by_view = {each.view_id: each for each in kept("manager").alerts.mine()}
    assert [by_view[view].state for view in views] == ["firing", "ok", "firing", "ok", "firing", "ok"]
    assert [by_view[view].value for view in views] == [120, 120, 120, 120, 60, 60]
    assert by_view[views[0]].since == NOW
    assert by_view[views[1]].problem == ""


def test_figures_are_those_of_the_rows(kept: Keeper, watch: Watch) -> None:
    """A ratio under a filter over a week is what pandas makes of the same rows."""
    rows = small_rows(0).to_pandas()
    week = rows[(rows["time"].dt.date > LAST_DAY - timedelta(days=7)) & (rows["geo.country"] == "US")]
    params = {
        "start": "-7d",
        "end": "yesterday",
        "is.geo.country": "US",
        "split": "campaign_id",
        "rows": "10000",
    }
    view = kept("viewer").views.save("demo", "delivery", "CTR of the US", params)
    kept("viewer").alerts.watch(view.id, "ctr", IMPS | {"name": "ctr"}, "above", 0.0)
    watch.look(NOW)
    assert alert(kept("viewer")).value == pytest.approx(100 * week["clicks"].sum() / week["imps"].sum())
    assert alert(kept("viewer")).state == "firing"


def test_days_of_a_named_zone_are_watched(kept: Keeper, watch: Watch) -> None:
    """An alert on a view in a named zone has the figure of the days on that zone's clocks."""
    rows, zone = small_rows(0).to_pandas(), "America/New_York"
    first, last = LAST_DAY - timedelta(days=7), LAST_DAY - timedelta(days=1)
    days = rows["time"].dt.tz_convert(zone).dt.date
    params = {"start": str(first), "end": str(last), "tz": zone}
    view = kept("viewer").views.save("demo", "delivery", "A week in New York", params)
    kept("viewer").alerts.watch(view.id, "imps", IMPS, "above", 0.0)
    watch.look(NOW)
    assert alert(kept("viewer")).value == rows["imps"][days.between(first, last)].sum()


def test_an_own_metric_is_watched(kept: Keeper, watch: Watch) -> None:
    """An alert on an own metric has its figure; once the metric is deleted it says that there is none."""
    rows = small_rows(0).to_pandas()
    week = rows[rows["time"].dt.date > LAST_DAY - timedelta(days=7)]
    store = kept("viewer")
    metric = store.metrics.save("demo", "delivery", "Per click", "revenue / clicks")
    view = store.views.save("demo", "delivery", "All", {"start": "-7d", "end": "yesterday"})
    store.alerts.watch(view.id, f"own.{metric.id}", IMPS | {"name": f"own.{metric.id}"}, "above", 0.0)
    watch.look(NOW)
    assert alert(store).value == pytest.approx(week["revenue"].sum() / week["clicks"].sum())
    store.metrics.delete(metric.id)
    watch.look(later(60))
    assert f"has no data field own.{metric.id} any more" in alert(store).problem


def test_changed_by_more_than_its_noise(own_home: Path, kept: Keeper, watch: Watch) -> None:
    """A day is held against the same weekdays of four weeks, by what such differences usually are."""
    draw = np.random.default_rng(5)
    daily = [float(round(v)) for v in np.tile([100, 90, 95, 80, 120, 60, 70], 9) * draw.normal(1, 0.03, 63)]
    imported(own_home, [*daily, 101])
    set_up(kept("manager"), "changed", None)
    watch.look(NOW)
    stored = alert(kept("manager"))
    logs = np.log(daily)
    base = logs[-28::7].mean()
    placebos = [logs[at] - logs[at - 28 : at : 7].mean() for at in range(28, 63)]
    spread = np.sqrt(np.mean(np.square(placebos)))
    low, high = np.log([stored.low, stored.high]) - base
    assert low == pytest.approx(-high)
    assert high >= np.max(np.abs(placebos)) and 2.5 < high / spread < stats.t(12).ppf(0.995)
    assert (stored.state, stored.value) == ("ok", 101)
    imported(own_home, [*daily, 130])
    watch.look(later(1))
    assert alert(kept("manager")).state == "firing"
    imported(own_home, [*daily, 70])
    watch.look(later(2))
    assert (alert(kept("manager")).state, alert(kept("manager")).since) == ("firing", later(1))


def test_a_week_is_held_against_weeks(own_home: Path, kept: Keeper, watch: Watch) -> None:
    """A view of seven days has the bounds that the totals of its earlier weeks give."""
    draw = np.random.default_rng(6)
    daily = [float(round(v)) for v in draw.normal(1000, 40, 13 * 7)]
    imported(own_home, daily)
    set_up(kept("manager"), "changed", None, start="-7d", end="yesterday")
    watch.look(NOW)
    stored = alert(kept("manager"))
    weeks = np.array(daily).reshape(-1, 7).sum(axis=1)
    assert (stored.low, stored.high) == pytest.approx(watched.usual(weeks[:-1].tolist()))
    assert stored.value == pytest.approx(weeks[-1]) and stored.state == "ok"


def test_filters_on_weekdays_and_dates_leave_days_unknown(
    own_home: Path, kept: Keeper, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looked at on each day of two weeks, Mondays are held against Mondays, and no other day is a zero: until
    the next one the last Monday stands, and nothing is said to be wrong."""
    draw, first = np.random.default_rng(8), date(2026, 6, 1)
    daily = np.tile([400, 90, 95, 80, 120, 60, 70], 20) * draw.normal(1, 0.03, 140)
    daily = [float(round(value)) for value in daily]
    daily[-7] = 900.0  # the last Monday
    imported(own_home, daily, first + timedelta(days=len(daily) - 1))
    monday, november = {"is.granularity_weekday": "1 Monday"}, {"is.granularity_month": "2026-10"}
    for params in (monday, november | {"start": "-7d", "end": "yesterday"}):
        for rule, bound in (("below", 50.0), ("changed", None)):
            set_up(kept("manager"), rule, bound, **params)
    for number in range(126, 140):
        today = first + timedelta(days=number + 1)
        monkeypatch.setattr(dates, "today", lambda timezone, now=None, today=today: today)
        watch.look(later(60 * number))
        below, changes, week_below, week_changes = sorted(
            kept("manager").alerts.mine(), key=lambda one: one.view_id
        )
        assert below.state != "firing" and changes.problem == below.problem == ""
        assert changes.state == ("firing" if number >= 133 else "ok")
        mondays = daily[: number + 1 : 7]
        past = np.log(mondays[-17:-1])
        assert np.log([changes.low, changes.high]).mean() == pytest.approx(past[-4:].mean())
        assert (changes.low, changes.high) == pytest.approx(watched.usual(mondays[-17:-1]))
        assert changes.value == below.value == mondays[-1]
        in_october = [
            daily[at] for at in range(number - 6, number + 1) if (first + timedelta(days=at)).month == 10
        ]
        assert week_below.value == pytest.approx(sum(in_october)) and week_below.state == "ok"
        assert week_changes.state == "new" and "Too little to compare with" in week_changes.problem


@pytest.mark.parametrize("daily", [[100.0] * 22 + [9000], [100.0] * 70 + [9000]])
def test_too_little_to_compare_with(own_home: Path, kept: Keeper, watch: Watch, daily: list[float]) -> None:
    """With too few earlier days, or figures that never varied, nothing fires."""
    imported(own_home, daily)
    set_up(kept("manager"), "changed", None)
    watch.look(NOW)
    assert alert(kept("manager")).state == "new"
    assert "Too little to compare with" in alert(kept("manager")).problem


@pytest.mark.parametrize("name", NOISES)
def test_false_alarms_are_rare(name: str) -> None:
    """Of figures in which nothing has changed, about one in a hundred is outside of its bounds; a half is."""
    false, detected, silent = alert_rates(NOISES[name], 300, 7)
    assert false <= 0.04 and detected >= 0.8 and silent == 0


def test_a_half_is_found_after_days_of_an_outage() -> None:
    """Sixteen weeks of 1,000 a day with a ripple of 5 %, eight days of them without anything: 500 is outside
    of the bounds, and 1,000 is not; without these days the bounds are about the same."""
    past = 1_000 * (1 + 0.05 * np.cos(2.4 * np.arange(112)))
    low, high = watched.usual(past.tolist(), season=7) or (0, 0)
    outages = past.copy()
    outages[[11, 18, 40, 41, 42, 77, 90, 97]] *= [0, 0.02, 0, 0, 0.1, 0.2, 0, 0]
    bounds = watched.usual(outages.tolist(), season=7)
    assert bounds is not None and 500 < bounds[0] < 1_000 < bounds[1]
    assert bounds == pytest.approx((low, high), rel=0.05)


@pytest.mark.parametrize(
    ("figures", "left"),
    [
        ([10, 11, 10, 1, 10, 11, 10], [10, 11, 10, 10, 10, 11, 10]),
        ([10, 11, 10, 0, 10, 11, 10], [10, 11, 10, 10, 10, 11, 10]),
        ([10, 11, 10, 7, 10, 11, 10], [10, 11, 10, 7, 10, 11, 10]),
        ([0, 9, 0, 0, 8, 0, 7], [0, 9, 0, 0, 8, 0, 7]),
        ([-1, 9, 0, 2, 8, 0, 7], [-1, 9, 0, 2, 8, 0, 7]),
    ],
)
def test_only_what_is_far_out_of_line_is_an_outage(figures: list[float], left: list[float]) -> None:
    """It is set to the median of the three figures on each side; what is often so, or negative, stays."""
    assert noise.without_outages(np.array(figures, float), 1) == pytest.approx(np.array(left, float))


def test_figures_of_any_sign_have_bounds() -> None:
    """A margin that is now and then below zero has bounds in its own unit, on both sides of its level."""
    past = np.random.default_rng(2).normal(1, 4, 70)
    bounds = watched.usual(past.tolist(), season=7)
    assert bounds is not None and bounds[0] < -5 < 5 < bounds[1] < 30


def test_earlier_periods_have_the_same_weekdays() -> None:
    """A period goes back by whole weeks, never into itself, and only as far as there are data."""
    days = (LAST_DAY - timedelta(days=9), LAST_DAY)
    slicer = Slicer(first_date=(LAST_DAY - timedelta(days=60)).isoformat(), last_date=LAST_DAY.isoformat())
    periods = watched.earlier(days, slicer)
    assert [(days[0] - start).days for start, _ in periods] == [42, 28, 14]
    assert {(days[1] - end).days % 7 for _, end in periods} == {0}


def test_a_figure_that_takes_too_long(own_home: Path, settings: Settings, kept: Keeper) -> None:
    """The problem of an alert names what its reader can change, the view; nothing of the API."""
    imported(own_home, [50, 120])
    set_up(kept("manager"), "above", 100.0)
    hurried = settings.model_copy(update={"deadline_seconds": 1e-9})
    Watch(hurried).look(NOW)
    said = "The figure took too long to compute; choose fewer days in the view."
    assert (alert(kept("manager")).state, alert(kept("manager")).problem) == ("new", said)


def test_data_that_are_late(own_home: Path, kept: Keeper, watch: Watch) -> None:
    """Days that have not been imported yet are waited for; an import is looked at soon."""
    imported(own_home, [500, 500], LAST_DAY - timedelta(days=1))
    set_up(kept("manager"), "below", 1000.0, start="-3d")
    watch.look(NOW)
    assert "not there yet" in alert(kept("manager")).problem
    assert watch.look(later(1)) == []
    imported(own_home, [100, 100, 100])
    assert len(watch.look(later(2))) == 1
    assert (alert(kept("manager")).state, alert(kept("manager")).problem) == ("firing", "")


def test_a_day_without_data_is_no_zero(own_home: Path, kept: Keeper, watch: Watch) -> None:
    """A day that lacks while later ones are there is unknown, and not below a bound; of days most of which
    are there the figure is their sum."""
    imported(own_home, [500, None, 500])
    day = (LAST_DAY - timedelta(days=1)).isoformat()
    views = [
        set_up(kept("manager"), "below", 1500.0, **period)
        for period in ({"start": day, "end": day}, {"start": "-3d"})
    ]
    watch.look(NOW)
    missing, three = sorted(kept("manager").alerts.mine(), key=lambda each: views.index(each.view_id))
    assert (missing.state, missing.value) == ("new", None) and "no value on these days" in missing.problem
    assert (three.state, three.value, three.problem) == ("firing", 1000, "")


def test_when_it_is_checked(own_home: Path, kept: Keeper, watch: Watch) -> None:
    """Soon after it is set, then every quarter of an hour."""
    imported(own_home, [100])
    number = set_up(kept("manager"))
    assert [len(watch.look(later(minutes))) for minutes in (0, 1, 14.9, 15, 16)] == [1, 0, 0, 1, 0]
    kept("manager").alerts.watch(number, "imps", IMPS, "above", 99.0)
    assert len(watch.look(later(17))) == 1
    assert alert(kept("manager")).state == "firing"


def test_changes_are_sent_once(own_home: Path, kept: Keeper, sending: Watch, receiver: Receiver) -> None:
    """A receiver is told, signed, when the alert fires and when it clears, and nothing in between."""
    imported(own_home, [120])
    set_up(kept("manager"))
    for minutes, figure in ((0, 120), (1, 130), (2, 90), (3, 80), (4, 150)):
        imported(own_home, [figure])
        sending.look(later(minutes))
        sending.look(later(minutes + 0.5))
    assert receiver.events == [("fired", 120), ("cleared", 90), ("fired", 150)]
    assert not receiver.wrong
    first = receiver.taken[0]
    assert first["alert"]["link"].startswith("http://127.0.0.1:8501/audience?project=demo&slicer=weeks&")
    assert len({message["id"] for message in receiver.taken}) == 3
    assert (first["alert"]["slicer"], first["alert"]["field"], first["alert"]["bound"]) == (
        "weeks",
        "imps",
        100,
    )


def test_an_owner_who_lost_access(
    own_home: Path, kept: Keeper, settings: Settings, sending: Watch, receiver: Receiver
) -> None:
    """It says so, shows and sends no figure any more, and goes on when access is back."""
    imported(own_home, [120])
    set_up(kept("manager"))
    sending.look(NOW)
    people = connect.installation(settings).people
    people.change("manager", grants=(Grant("demo", "delivery"),))
    imported(own_home, [777])
    sending.look(later(1))
    stored = alert(connect.connect(people.require("manager"), settings).view_store)
    assert (stored.state, stored.value) == ("lost", None)
    assert "can't see" in stored.problem
    assert [message["event"] for message in receiver.taken] == ["fired", "cleared"]
    assert set(receiver.taken[1]["alert"]) == {"id", "owner", "project", "slicer"}
    people.change("manager", grants=(Grant("demo"),))
    sending.look(later(30))
    assert receiver.events[-1] == ("fired", 777)


def test_a_view_that_is_not_shared_any_more(own_home: Path, kept: Keeper, watch: Watch) -> None:
    """Who watches another's view loses it, its name and its question when it is made private."""
    imported(own_home, [120])
    view = kept("admin").views.save(*SLICER, "Secret plans", YESTERDAY, is_shared=True)
    kept("manager").alerts.watch(view.id, "imps", IMPS, "above", 1.0)
    watch.look(NOW)
    assert alert(kept("manager")).view_name == "Secret plans"
    kept("admin").views.change(view.id, is_shared=False)
    watch.look(later(20))
    stored = alert(kept("manager"))
    assert (stored.state, stored.view_name, dict(stored.params)) == ("lost", "", {})
    kept("admin").views.delete(view.id)
    assert kept("manager").alerts.mine() == []


def test_somebody_who_is_gone(own_home: Path, kept: Keeper, settings: Settings, watch: Watch) -> None:
    """The alert of a person who was removed asks nothing."""
    imported(own_home, [120])
    set_up(kept("manager"))
    connect.installation(settings).people.remove("manager")
    watch.look(NOW)
    (stored,) = watch.store.everything()
    assert (stored.state, stored.value) == ("lost", None)


def test_a_receiver_that_fails(
    own_home: Path, kept: Keeper, sending: Watch, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    """A refused message is sent again after a minute and after more, then given up; the log has no secret."""
    imported(own_home, [120])
    set_up(kept("manager"))
    receiver.answers = [500, 302, 503]
    with caplog.at_level(logging.DEBUG, "lib"):
        for minutes in (0, 0.5, 1, 1.5, 6.1, 21.2, 40, 60):
            sending.look(later(minutes))
        assert receiver.events == [("fired", 120)]
        imported(own_home, [20])
        receiver.answers = [410] * 20
        for minutes in range(100, 400, 10):
            sending.look(later(minutes))
    assert len(receiver.answers) == 20 - 6
    assert "given up" in caplog.text
    assert SECRET not in caplog.text
    assert "token-in-path" not in caplog.text


def test_a_clock_that_is_set_back(own_home: Path, kept: Keeper, sending: Watch, receiver: Receiver) -> None:
    """After a day is set back alerts are checked at once, and a message that was to wait is sent."""
    imported(own_home, [120])
    set_up(kept("manager"))
    receiver.answers = [500]
    sending.look(NOW)
    assert receiver.events == []
    assert len(sending.look(later(-24 * 60))) == 1
    assert receiver.events == [("fired", 120)]
    assert sending.look(later(-24 * 60 + 1)) == []


def test_a_receiver_that_is_not_there(own_home: Path, kept: Keeper, settings: Settings) -> None:
    """While nobody listens, messages wait in their order, and checks go on."""
    address = f"http://127.0.0.1:{free_port()}"
    sending = Watch(changed(settings, **webhook(address)))
    imported(own_home, [120])
    set_up(kept("manager"))
    sending.look(NOW)
    imported(own_home, [20])
    sending.look(later(2))
    assert alert(kept("manager")).state == "ok"
    assert [waiting.attempts for waiting in sending.store.waiting(later(60))] == [2, 0]


def test_two_checkers_send_once(own_home: Path, kept: Keeper, sending: Watch, receiver: Receiver) -> None:
    """Even where two check the same alert, the change is written and sent by one."""
    imported(own_home, [120])
    set_up(kept("manager"))
    (seen,) = sending.store.everything()
    sending.look(NOW)
    assert not sending.store.settle(seen, Verdict("firing", 120.0), later(1), is_sent=True)
    sending.look(later(2))
    assert receiver.events == [("fired", 120)]


def test_a_message_that_another_process_took(
    own_home: Path, kept: Keeper, sending: Watch, receiver: Receiver
) -> None:
    """It is left to that one; where it ended amid sending, the message is sent a few minutes later."""
    imported(own_home, [120])
    set_up(kept("manager"))
    (seen,) = sending.store.everything()
    sending.store.settle(seen, Verdict("firing", 120.0), NOW, is_sent=True)
    (message,) = sending.store.waiting(NOW)
    assert [sending.store.claim(message, NOW) for _ in range(2)] == [True, False]
    sending.look(later(1))
    assert receiver.events == []
    sending.look(later(6))
    assert receiver.events == [("fired", 120)]


def test_what_the_store_refuses(own_home: Path, kept: Keeper) -> None:
    """A missing bound and a view that can't be seen are refused; a person has one alert per view."""
    imported(own_home, [120])
    view = kept("manager").views.save(*SLICER, "Mine", YESTERDAY)
    for bound in (None, float("nan"), float("inf")):
        with pytest.raises(BadRequest, match="bound is missing"):
            kept("manager").alerts.watch(view.id, "imps", IMPS, "above", bound)
    with pytest.raises(BadRequest, match="not there any more"):
        kept("viewer").alerts.watch(view.id, "imps", IMPS, "above", 1.0)
    for bound in (1.0, 2.0):
        kept("manager").alerts.watch(view.id, "imps", IMPS, "below", bound)
    assert (alert(kept("manager")).bound, kept("admin").alerts.mine()) == (2.0, [])
    kept("manager").alerts.remove(view.id)
    assert kept("manager").alerts.mine() == []


@pytest.mark.parametrize(
    ("address", "secret", "words"),
    [
        ("http://hooks.example/x", SECRET, "must be an https address"),
        ("ftp://127.0.0.1/x", SECRET, "must be an https address"),
        ("https://me:hidden@hooks.example", SECRET, "no password"),
        ("https://hooks.example/x", "short", "needs alerts_secret"),
        ("https://hooks.example/x", None, "needs alerts_secret"),
    ],
)
def test_webhooks_that_are_refused(tmp_path: Path, address: str, secret: str | None, words: str) -> None:
    """Messages leave this machine encrypted and signed or not at all; no refusal has a secret in it."""
    with pytest.raises(Misconfigured, match=words) as caught:
        Settings.load(home=tmp_path, alerts_webhook=address, alerts_secret=secret)
    assert "hidden" not in caught.value.reason
    fine = Settings.load(home=tmp_path, alerts_webhook="https://hooks.example/hidden", alerts_secret=SECRET)
    assert "hidden" not in repr(fine)
    assert SECRET not in repr(fine)


def test_secrets_are_kept_from_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A settings file with the webhook's secret that others can read is refused."""
    monkeypatch.setenv("TRANCHE_HOME", str(tmp_path))
    path = tmp_path / "tranche.toml"
    path.write_text(f'alerts_webhook = "https://hooks.example/x"\nalerts_secret = "{SECRET}"\n')
    path.chmod(0o644)
    with pytest.raises(Misconfigured, match="chmod 600"):
        Settings.load()
    path.chmod(0o600)
    assert Settings.load().alerts.alerts
