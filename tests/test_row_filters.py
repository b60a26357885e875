"""A person whose grant has filters: every way in which the desk shows figures, and what is open meanwhile.

What the service answers is tested in tests/conformance/reporting/test_row_filters.py.
"""

import csv
import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest
from conftest import LAST_DAY, small_rows
from keeping import keeper
from opening import opened
from standin.app import Standin
from standin.state import TOKEN
from watched import IMPS

from lib.agents.python_client import Desk
from lib.agents.toolbox import Toolbox
from lib.figures.context import RequestContext
from lib.figures.query import values
from lib.people import Grant
from lib.reporting.models import AudienceQuery, ExportQuery, InfoQuery
from lib.serving import connect
from lib.settings import Settings
from lib.share import LinkPages
from lib.share.alerts.watch import Watch
from lib.share.documents.documents import Documents
from lib.share.mail.digest import Digest
from lib.share.snapshot import page
from lib.wire.errors import AccessError
from lib.wire.filters import Filter

SLICER = ("demo", "delivery")
ABOUT = {"project_name": "demo", "slicer_name": "delivery"}
GERMANY = Filter(
    name="geo.country", value=("germany",), match="equals", case_insensitive=1, search_mappings=1
)
NO_NEWS = Filter(name="categories", value=("news",), match="not equals")
LIMITS = {"one filter": (GERMANY,), "two, one negative and segmented": (GERMANY, NO_NEWS), "none": ()}
WEEK = {"start": "-7d", "end": "yesterday"}
Way = Callable[[Settings, Path], float | None]


@pytest.fixture
def settings(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The settings of a desk of its own."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    return Settings(home=own_home, demo=True)


def limit(settings: Settings, *filters: Filter) -> None:
    """Let the manager see of the slicer the rows that pass; they may make share links."""
    grants = [Grant("demo"), Grant(*SLICER, filters)]
    connect.installation(settings).access.change("manager", "a test", grants=grants, shares=True)


def impressions(*filters: Filter) -> float:
    """Those of the last seven days, by pandas."""
    rows = small_rows(seed=0).to_pandas()
    rows = rows[rows["time"].dt.date > LAST_DAY - timedelta(days=7)]
    if GERMANY in filters:
        rows = rows[rows["geo.country"] == "DE"]
    if NO_NEWS in filters:
        rows = rows[~rows["categories"].map(lambda names: "news" in names)]
    return float(rows["imps"].sum())


def clients(settings: Settings) -> connect.Clients:
    """Those of the manager as they are now."""
    return connect.connect(connect.installation(settings).people.require("manager"), settings)


def _client(settings: Settings, folder: Path) -> float | None:
    query = AudienceQuery(**ABOUT, start_date="-7d", end_date="yesterday")
    return clients(settings).reporting.audience(query).total.values["imps"]


def _file(settings: Settings, folder: Path) -> float | None:
    query = ExportQuery(
        **ABOUT, start_date="-7d", end_date="yesterday", export_format="tsv2", data_fields=("imps",)
    )
    text = clients(settings).reporting.export(query).content.read().decode()
    return float(list(csv.reader(io.StringIO(text), delimiter="\t"))[-1][-1])


def _python(settings: Settings, folder: Path) -> float | None:
    desk = Desk.local("manager", settings=settings)
    frame = pd.read_csv(desk.export("demo/delivery", folder / "a.csv", split="geo.country", **WEEK))
    assert desk.ask("demo/delivery", fields=["imps"], **WEEK).total["imps"] == frame["Impressions"].sum()
    return float(frame["Impressions"].sum())


def _agent(settings: Settings, folder: Path) -> float | None:
    toolbox = Toolbox("manager", Desk.local("manager", settings=settings), lambda _: None)
    asked = {"slicer": "demo/delivery", "fields": ["imps"], "split": ["geo.country"], **WEEK}
    answer = toolbox.call("ask", asked).answer
    countries = toolbox.call("find_values", {"slicer": "demo/delivery", "field": "geo.country"}).answer
    moved = toolbox.call("what_moved", {"slicer": "demo/delivery", "field": "imps", **WEEK}).answer
    assert moved["now"] == answer["totals"]["imps"]
    assert len(answer["rows"]) == len(countries["values"]) == countries["count"]
    return float(answer["totals"]["imps"]["value"])


def _alert(settings: Settings, folder: Path) -> float | None:
    store = keeper(settings)("manager")
    view = store.views.save(*SLICER, "Week", WEEK)
    store.alerts.watch(view.id, "imps", IMPS, "above", 0.0)
    Watch(settings).look(datetime.now(UTC))
    (alert,) = store.alerts.mine()
    return alert.value


def _snapshot(settings: Settings, folder: Path) -> float | None:
    person = connect.installation(settings).people.require("manager")
    snapshot = Documents(settings).of_question(
        person, SLICER, WEEK | {"field": "imps", "split": "geo.country"}
    )
    if person.row_filters(*SLICER):
        assert "Germany" in page.html(snapshot)
        assert "United States" not in page.html(snapshot)
        assert dict(snapshot.facts)["Limited to"].startswith("Country is germany")
    assert snapshot.chart is not None
    return sum(value or 0 for value in snapshot.chart.lines[0].values)


def _mail(settings: Settings, folder: Path) -> float | None:
    person = connect.installation(settings).people.require("manager")
    store = keeper(settings)("manager")
    view = store.views.save(*SLICER, "Week", WEEK | {"field": "imps"})
    letter = str(Digest(settings).of_view(view, view.params, person, clients(settings), with_snapshot=True))
    is_limited = bool(person.row_filters(*SLICER))
    assert ("United States" not in letter) == is_limited
    return None


def _share_link(settings: Settings, folder: Path) -> float | None:
    _, key = clients(settings).view_store.share_links.make(*SLICER, "Week", WEEK | {"field": "imps"})
    number, _, secret = key.partition(".")
    html = LinkPages(settings).page(int(number), secret).html
    is_limited = bool(connect.installation(settings).people.require("manager").row_filters(*SLICER))
    assert ("United States" not in html) == is_limited
    return None


def _picker(settings: Settings, folder: Path) -> float | None:
    person, own = connect.installation(settings).people.require("manager"), clients(settings)
    context = RequestContext(person, *SLICER, own.reporting.info(InfoQuery(**ABOUT)), own)
    query = AudienceQuery(**ABOUT, start_date="-7d", end_date="yesterday")
    options = values.value_options(context, query, "geo.country")
    is_limited = bool(person.row_filters(*SLICER))
    assert (list(options.descriptions) == ["DE"], options.count == 1) == (is_limited, is_limited)
    assert values.check(context, query, "geo.country", ["US", "DE"]) == {"US": not is_limited, "DE": True}
    return None


WAYS: dict[str, Way] = {
    "client": _client,
    "file": _file,
    "Python client": _python,
    "agent": _agent,
    "alert": _alert,
    "snapshot": _snapshot,
    "mail": _mail,
    "share link": _share_link,
    "picker": _picker,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", LIMITS)
def test_every_way_to_ask(settings: Settings, tmp_path: Path, name: str, way: str) -> None:
    """Each way gives the figure of plain pandas on the rows that pass, and nothing of other rows."""
    limit(settings, *LIMITS[name])
    figure = WAYS[way](settings, tmp_path)
    assert figure is None or figure == pytest.approx(impressions(*LIMITS[name]))


@pytest.mark.parametrize("screen", ["audience", "export", "slicers"])
def test_screens_say_that_rows_are_limited(settings: Settings, screen: str) -> None:
    """Every screen about a slicer says that it shows some rows only; without a limit none does."""
    for filters in ((GERMANY,), ()):
        limit(settings, *filters)
        desk = opened(screen, "manager", project="demo", slicer="delivery")
        assert not desk.exception
        assert any("some rows only" in caption.value for caption in desk.caption) == bool(filters)


@pytest.mark.parametrize("screen", ["audience", "export", "slicers"])
def test_screens_say_that_a_grant_is_closed(settings: Settings, screen: str) -> None:
    """Where the field of a filter is gone, a screen shows no figures, and says which field it is."""
    limit(settings, Filter(name="gone", value=("x",), match="not equals"))
    desk = opened(screen, "manager", project="demo", slicer="delivery")
    assert not desk.exception
    shown = " ".join(part.value for part in (*desk.error, *desk.warning, *desk.info)).replace("\\", "")
    assert "by a filter on gone" in shown
    assert not desk.metric


def test_a_limit_that_comes_while_a_tab_is_open(settings: Settings) -> None:
    """Figures that a session keeps from before are not shown once its person may see some rows only."""
    limit(settings)
    desk = opened("slicers", "manager", project="demo", slicer="delivery")
    before = [metric.value for metric in desk.metric]
    limit(settings, GERMANY)
    desk.run()
    after = [metric.value for metric in desk.metric]
    assert len(after) == len(before) > 0
    assert before != after
    assert any("only rows where" in text.value for text in desk.markdown)


def test_a_share_link_made_before_a_limit(settings: Settings) -> None:
    """A page that was kept for a link is not shown once its owner may see some rows only."""
    limit(settings)
    _, key = clients(settings).view_store.share_links.make(*SLICER, "Week", WEEK | {"field": "imps"})
    number, _, secret = key.partition(".")
    pages = LinkPages(settings)
    assert "United States" in pages.page(int(number), secret).html
    limit(settings, GERMANY)
    assert "United States" not in pages.page(int(number), secret).html
    limit(settings)
    assert "United States" in pages.page(int(number), secret).html
    limit(settings, Filter(name="gone", value=("x",), match="not equals"))
    assert pages.page(int(number), secret) == pages.dead_link()


def test_an_alert_on_a_closed_grant_is_lost(settings: Settings) -> None:
    """Where the field of a filter is gone, an alert fires no more and says that its owner has no access."""
    limit(settings)
    store = keeper(settings)("manager")
    view = store.views.save(*SLICER, "Week", WEEK)
    store.alerts.watch(view.id, "imps", IMPS, "above", 0.0)
    limit(settings, Filter(name="gone", value=("x",), match="not equals"))
    Watch(settings).look(datetime.now(UTC))
    (alert,) = clients(settings).view_store.alerts.mine()
    assert (alert.state, "can't see" in alert.problem) == ("lost", True)


def test_a_remote_service_opens_nothing_of_a_limited_slicer(own_home: Path, standin: Standin) -> None:
    """A remote service can't be asked for some rows alone, so that such a grant opens nothing there."""
    settings = Settings(
        home=own_home, demo=True, base_url=standin.address, reporting_token=TOKEN, slicers=["demo/delivery"]
    )
    limit(settings, GERMANY)
    query = AudienceQuery(**ABOUT, start_date="-7d", end_date="yesterday")
    file = ExportQuery(**ABOUT, start_date="-7d", end_date="yesterday", export_format="csv")
    reporting = clients(settings).reporting
    for ask in (
        lambda: reporting.info(InfoQuery(**ABOUT)),
        lambda: reporting.audience(query),
        lambda: reporting.export(file),
    ):
        with pytest.raises(AccessError, match="limited to some rows"):
            ask()
    limit(settings)
    assert clients(settings).reporting.info(InfoQuery(**ABOUT)).key_fields
