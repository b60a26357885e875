"""Money in several currencies has no figure in any place that shows one; a filter or a split settles it."""

import datetime as dt
import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from opening import nodes, opened

from lib.agents.python_client import Desk
from lib.agents.toolbox import Toolbox
from lib.cli import main
from lib.figures.numbers import Numbers, in_currency
from lib.figures.overview.overview_answers import OverviewAnswers
from lib.figures.query.compared_answers import change
from lib.people import Person
from lib.reporting.answers import Estimate
from lib.reporting.models import AudienceQuery, ExportQuery, InfoQuery
from lib.reporting.watched import FigureHistory, FigureUnavailable
from lib.serving import connect
from lib.serving.front.overview_route import OverviewRequest
from lib.settings import Settings
from lib.share import LinkPages
from lib.share.alerts.check import check
from lib.share.documents.documents import Documents
from lib.share.mail.digest import Digest
from lib.slicers.definition import Definition
from lib.slicers.models import Direction, Order, Slicer
from lib.slicers.warehouse import Warehouse
from lib.ui.explore import explorer
from lib.ui.explore.top_values import top_values
from lib.ui.query.export_menu import answer_csv_text
from lib.views.board_copies import BoardCopy, BoardItem
from lib.wire.deadline import Deadline

ADA = Person("ada", "Ada", None, "admin")
FIRST, LAST = dt.date(2026, 11, 2), dt.date(2026, 11, 6)
REASON = "3 currencies: split or filter by currency_code"
DEFINITION = Definition.model_validate(
    {
        "time": {"column": "day"},
        "key_fields": [{"name": "account"}, {"name": "country"}, {"name": "currency_code"}],
        "data_fields": [
            {"name": "imps"},
            {"name": "spend", "currency": "currency_code", "display_type": "float"},
            {"name": "cpm", "formula": "1000 * spend / imps"},
        ],
    }
)


def rows() -> pd.DataFrame:
    """Spend of 606.20 EUR, 404.95 USD and 77,003.70 JPY; Switzerland pays in euros and in dollars."""
    parts = []
    for number in range(5):
        cents = number * 0.37
        parts += [
            (FIRST + dt.timedelta(days=number), "701", "DE", "EUR", 1000 + 10 * number, 120.5 + cents),
            (FIRST + dt.timedelta(days=number), "702", "CH", "USD", 1000 + 10 * number, 80.25 + cents),
            (FIRST + dt.timedelta(days=number), "703", "JP", "JPY", 1000 + 10 * number, 15400 + cents),
            (FIRST + dt.timedelta(days=number), "701", "CH", "EUR", 0, 0.0),
        ]
    columns = ["day", "account", "country", "currency_code", "imps", "spend"]
    return pd.DataFrame(parts, columns=columns).round(2)


MICROS = pd.DataFrame(
    {
        "segments.date": ["2026-11-02", "2026-11-03", "2026-11-03", "2026-11-04"],
        "campaign.id": [66001, 66001, 66002, 66002],
        "metrics.clicks": [410, 210, 90, 77],
        "metrics.costMicros": [102_510_000, 52_500_000, 72_340_000, 19_250_000],
        "metrics.averageCpc": [250_024.39, 250_000.0, 803_777.78, 250_000.0],
    }
)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """A desk with that slicer, and one of money in millionths, as `tranche import` infers them."""
    settings = Settings(home=tmp_path_factory.mktemp("currencies"), demo=True)
    connect.installation(settings).people.add(ADA, "a password")
    money = rows().assign(cpm=lambda frame: (1000 * frame["spend"] / frame["imps"]).round(6))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRANCHE_HOME", str(settings.home))
        patch.chdir(tmp_path_factory.mktemp("files"))
        for name, frame in (("money", money), ("micros", MICROS)):
            frame.to_csv(f"{name}.csv", index=False)
            command = ["import", f"{name}.csv", "--project", "p", "--slicer", name]
            result = CliRunner().invoke(main, command)
            assert result.exit_code == 0, result.output
        yield settings


def add(settings: Settings, name: str, frame: pd.DataFrame) -> None:
    """Store a slicer with these rows."""
    table = pa.Table.from_pandas(frame, schema=DEFINITION.schema(), preserve_index=False)
    with Warehouse(settings.warehouse).writer("p", name, DEFINITION, {}) as writer:
        writer.write(table)
        writer.commit("made by a test", "0")


QUERY = {"start": FIRST.isoformat(), "end": LAST.isoformat(), "field": "spend", "compare": ""}
EUR, MIXED = {"currency_code": "EUR"}, dict[str, str]()
ABOUT = ("p", "money")
Place = Callable[[Settings, dict[str, str]], Any]


def page(params: dict[str, str]) -> dict[str, str]:
    """The parameters of a page with these: a key field's name stands for a filter on it."""
    keys = {field.name for field in DEFINITION.key_fields}
    return (
        QUERY
        | {"cards": "country"}
        | {f"is.{name}" if name in keys else name: text for name, text in params.items()}
    )


def part(settings: Settings, params: dict[str, str], name: str) -> Any:
    """A part of the board's answer."""
    request = OverviewRequest(project="p", slicer="money", params=page(params), parts=[name])
    lines = OverviewAnswers(settings).lines(request, ADA, Deadline(60))
    return [line[name] for line in lines if name in line][-1]


def clients(settings: Settings) -> connect.Clients:
    """What the person asks by."""
    return connect.connect(ADA, settings)


def settings_slicer(settings: Settings) -> Slicer:
    """What the slicer is."""
    return clients(settings).reporting.info(InfoQuery(project_name="p", slicer_name="money"))


def question(params: dict[str, str], **changes: Any) -> dict[str, Any]:
    """The fields of a query of the API about these days."""
    filters = [{"name": name, "match": "equals", "value": [text]} for name, text in params.items()]
    days = {"start_date": QUERY["start"], "end_date": QUERY["end"]}
    return {"project_name": "p", "slicer_name": "money", "filters": filters, **days, **changes}


def _api(settings: Settings, params: dict[str, str]) -> Any:
    query = AudienceQuery(**question(params, data_fields=("spend",), split_by=("account",)))
    audience = clients(settings).reporting.audience(query)
    return audience.total.values, audience.total.currencies, [*audience.percents["spend"]]


def _headline(settings: Settings, params: dict[str, str]) -> Any:
    return part(settings, params, "head")["figures"]


def _leaderboard(settings: Settings, params: dict[str, str]) -> Any:
    return part(settings, {**params, "cards": "country"}, "cards")


def _split(settings: Settings, params: dict[str, str]) -> Any:
    return part(settings, {**params, "split": "country"}, "split")


def _pivot(settings: Settings, params: dict[str, str]) -> Any:
    return part(settings, {**params, "split": "country~account", "chart": "pivot"}, "split")


def _file(settings: Settings, params: dict[str, str]) -> Any:
    more = {"data_fields": ("spend",), "split_by": ("account",), "include_total": 1, "export_format": "csv"}
    query = ExportQuery(**question(params, **more))
    return clients(settings).reporting.export(query).content.read().decode()


def _snapshot(settings: Settings, params: dict[str, str]) -> Any:
    return repr(Documents(settings).of_question(ADA, ABOUT, page(params)))


def _mail(settings: Settings, params: dict[str, str]) -> Any:
    mine = clients(settings)
    view = mine.view_store.views.save(*ABOUT, f"Spend {params}", page(params))
    letter = Digest(settings).of_view(view, view.params, ADA, mine, with_snapshot=False)
    mine.view_store.views.delete(view.id)
    return repr(letter.parts)


def _board(settings: Settings, params: dict[str, str]) -> Any:
    items = [
        BoardItem(kind, 1, "country", *ABOUT, "Spend", page({**params, "split": "country"}))
        for kind in ("headline", "leaderboard", "table")
    ]
    return repr(Documents(settings).of_board(ADA, BoardCopy(items, {}), "Board"))


def _alert(settings: Settings, params: dict[str, str]) -> Any:
    store = clients(settings).view_store
    view = store.views.save(*ABOUT, f"Alert {params}", page(params))
    store.alerts.watch(view.id, "spend", {"name": "spend"}, "above", 1.0)
    verdicts = [check(alert, ADA, settings) for alert in store.alerts.mine()]
    store.views.delete(view.id)
    return verdicts


def _workbook(settings: Settings, params: dict[str, str]) -> Any:
    more = {"data_fields": ("spend",), "split_by": ("country",), "include_total": 1, "export_format": "xlsx"}
    file = clients(settings).reporting.export(ExportQuery(**question(params, **more))).content
    return pd.read_excel(io.BytesIO(file.read()), engine="openpyxl", header=None).to_csv()


def _share_link(settings: Settings, params: dict[str, str]) -> Any:
    _, key = clients(settings).view_store.share_links.make(*ABOUT, "Spend", page(params))
    number, secret = key.split(".", 1)
    return LinkPages(settings).page(int(number), secret).html


def _agent(settings: Settings, params: dict[str, str]) -> Any:
    toolbox = Toolbox("ada", Desk.local("ada", settings=settings), lambda _: None)
    days = {"start": QUERY["start"], "end": QUERY["end"]}
    filters = [{"field": name, "values": [text]} for name, text in params.items()]
    asked = {"slicer": "p/money", "fields": ["spend"], "split": ["account"], "filters": filters, **days}
    return toolbox.call("ask", asked).answer


PLACES: dict[str, Place] = {
    "API": _api, "headline": _headline, "leaderboard": _leaderboard, "split": _split, "pivot": _pivot,
    "file": _file, "snapshot": _snapshot, "mail": _mail, "board": _board, "alert": _alert, "agent": _agent,
    "workbook": _workbook, "share link": _share_link,
}  # fmt: skip
SUMS = ("78014.85", "78,014.85", "78.0k", "78,015")


@pytest.mark.parametrize("place", PLACES)
def test_no_place_shows_a_sum_over_currencies(settings: Settings, place: str) -> None:
    """Each says why there is no figure, and shows neither the sum of amounts nor a share of it."""
    text = json.dumps(PLACES[place](settings, MIXED), default=str, ensure_ascii=False)
    assert "currencies: split or filter by currency_code" in text, text
    assert not [figure for figure in SUMS if figure in text], text


@pytest.mark.parametrize("place", PLACES)
def test_a_filter_by_currency_settles_it(settings: Settings, place: str) -> None:
    """With one currency, each place has its figure."""
    text = json.dumps(PLACES[place](settings, EUR), default=str, ensure_ascii=False)
    assert "606.2" in text or "606 EUR" in text, text
    assert "currencies" not in text.replace("currencies=", ""), text


def test_rows_in_several_currencies_name_theirs(settings: Settings) -> None:
    """A file split by something else has a column of currencies, since nothing else tells euros from yen."""
    more = {"data_fields": ("spend", "cpm"), "include_total": 1, "export_format": "tsv2"}
    by_account = ExportQuery(**question({}, split_by=("account",), **more))
    file = pd.read_csv(clients(settings).reporting.export(by_account).content, sep="\t", dtype=str)
    assert file["spend.currency"].tolist()[:3] == file["cpm.currency"].tolist()[:3] == ["EUR", "JPY", "USD"]
    assert file["spend"].tolist() == ["606.2", "77003.7", "404.95", "\\N"]
    by_currency = ExportQuery(**question({}, split_by=("currency_code",), **more))
    header = clients(settings).reporting.export(by_currency).content.read().decode().splitlines()[0]
    assert header == "currency_code\tspend\tcpm"


def test_millionths_are_money_everywhere(settings: Settings) -> None:
    """Cost and its average per click come to those of pandas in answers, files, mails, links and screens."""
    cost, clicks = MICROS["metrics.costMicros"].sum() / 1e6, MICROS["metrics.clicks"].sum()
    days = {"start_date": "2026-11-02", "end_date": "2026-11-04"}
    where = {"project_name": "p", "slicer_name": "micros", **days}
    fields = ("metrics.costMicros", "metrics.averageCpc")
    answer = clients(settings).reporting.audience(
        AudienceQuery(**where, data_fields=fields, split_by=("campaign.id",))
    )
    assert [*answer.total.values.values()] == pytest.approx([cost, cost / clicks])
    sums = MICROS.groupby("campaign.id")[["metrics.costMicros", "metrics.clicks"]].sum()
    assert answer.values["metrics.costMicros"].tolist() == pytest.approx(
        (sums["metrics.costMicros"] / 1e6).sort_values(ascending=False).tolist()
    )
    params = {"start": "2026-11-02", "end": "2026-11-04", "field": "metrics.costMicros", "compare": ""}
    about, mine = ("p", "micros"), clients(settings)
    view = mine.view_store.views.save(*about, "Cost", params)
    letter = repr(Digest(settings).of_view(view, view.params, ADA, mine, with_snapshot=False).parts)
    _, key = mine.view_store.share_links.make(*about, "Cost", params)
    number, secret = key.split(".", 1)
    shared = LinkPages(settings).page(int(number), secret).html
    mine.view_store.alerts.watch(
        view.id, "metrics.costMicros", {"name": "metrics.costMicros"}, "above", 200.0
    )
    verdict = repr([check(alert, ADA, settings) for alert in mine.view_store.alerts.mine()])
    mine.view_store.views.delete(view.id)
    file = ExportQuery(
        **where, data_fields=fields, split_by=("campaign.id",), include_total=1, export_format="csv"
    )
    text = mine.reporting.export(file).content.read().decode()
    assert f'"Total",{cost:.2f},{cost / clicks:.2f}' in text
    for content in (letter, shared, verdict, text):
        assert "246.6" in content and "246600000" not in content.replace(",", ""), content[:2000]


@pytest.mark.parametrize("screen", ["slicers", "audience", "export"])
@pytest.mark.parametrize(
    ("slicer", "field", "wrong"), [("money", "spend", SUMS), ("micros", "metrics.costMicros", ("246,600",))]
)
def test_screens_of_imported_money(
    settings: Settings, screen: str, slicer: str, field: str, wrong: tuple[str, ...]
) -> None:
    """Each screen draws, with the figure or the reason for none, and without a sum over currencies."""
    days = {name: QUERY[name] for name in ("start", "end")}
    page = opened(screen, "ada", project="p", slicer=slicer, field=field, fields=field, **days)
    assert not page.exception
    parts = [getattr(node, name, "") for node in nodes(page._tree) for name in ("value", "proto")]
    text = json.dumps([str(part) for part in parts])
    assert not [part for part in wrong if part in text]
    if screen == "slicers":
        assert ("3 currencies" if slicer == "money" else "246.60") in text


def test_top_values_of_a_slicer_name_their_currencies(settings: Settings) -> None:
    """A row of the table on Slicers has its amount with its currency."""
    reporting, query = clients(settings).reporting, AudienceQuery(**question({}))
    top = top_values(reporting.audience, query, settings_slicer(settings), "account", "spend")
    texts = [[cell.text for cell in row.cells] for row in explorer.board(top, Numbers()).rows]
    assert [(row[0], row[1]) for row in texts] == [
        ("701", "606.20 EUR"), ("703", "77,004 JPY"), ("702", "404.95 USD"),
    ]  # fmt: skip


def test_what_is_copied_from_a_split_names_currencies(settings: Settings) -> None:
    """The file of a split's rows has their currencies before their amounts; one by currency needs none."""
    fields = [settings_slicer(settings).data_field("spend")]
    texts = {}
    for key in ("account", "currency_code"):
        query = AudienceQuery(**question({}, data_fields=("spend",), split_by=(key,)))
        texts[key] = answer_csv_text(
            clients(settings).reporting.audience(query), fields, settings_slicer(settings), []
        )
    assert texts["account"].splitlines()[:2] == ['"Account","Spend, currency","Spend"', '"701","EUR",606.2']
    assert texts["currency_code"].splitlines()[:2] == ['"Currency code","Spend"', '"EUR",606.2']
    query = AudienceQuery(**question(EUR, data_fields=("spend",), split_by=("account",)))
    euros = answer_csv_text(
        clients(settings).reporting.audience(query), fields, settings_slicer(settings), []
    )
    assert euros.splitlines()[:2] == ['"Account","Spend, EUR"', '"701",606.2']


@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_amounts_are_ordered_within_their_currency(settings: Settings, direction: Direction) -> None:
    """The currency of most records leads: no yen stand above euros; what is in several comes last."""
    query = AudienceQuery(
        **question({}, split_by=("country", "account"), data_fields=("spend",)),
        order_by=(Order(name="spend", direction=direction),),
    )
    answer = clients(settings).reporting.audience(query)
    euros = [("DE", "701"), ("CH", "701")]
    assert [*answer.names.itertuples(index=False, name=None)] == [
        *(euros if direction == "desc" else euros[::-1]),
        ("JP", "703"),
        ("CH", "702"),
    ]
    by_country = query.model_copy(update={"split_by": ("country",)})
    names = clients(settings).reporting.audience(by_country).names["country"]
    assert names.tolist() == ["DE", "JP", "CH"]


def test_a_sample_reads_the_currency_of_every_record(settings: Settings) -> None:
    """One record of a cent in another currency among 40,000 withholds an estimate, of which it is no part."""
    count = 40_000
    frame = pd.DataFrame(
        {
            "time": [dt.datetime(2026, 11, 2, tzinfo=dt.UTC)] * count,
            "account": ["1"] * count,
            "country": ["DE", "JP"] * (count // 2),
            "currency_code": ["EUR"] * (count - 1) + ["JPY"],
            "imps": [1.0] * count,
            "spend": [5.0] * (count - 1) + [0.01],
        }
    )
    add(settings, "sampled", frame)
    where = {
        "project_name": "p",
        "slicer_name": "sampled",
        "start_date": "2026-11-02",
        "end_date": "2026-11-02",
    }
    split = {"data_fields": ("imps", "spend"), "split_by": ("country",), "audience_rows_limit": 10_000}
    answer = clients(settings).reporting.audience(AudienceQuery(**where, **split))
    assert answer.is_sampled
    spend = dict(zip(answer.names["country"], answer.rows_of("spend"), strict=True))
    assert spend["JP"].value is None and spend["JP"].currency.startswith("2 currencies")
    assert spend["DE"].value == pytest.approx(100_000, rel=0.2) and spend["DE"].currency == "EUR"
    assert answer.total_of("spend").value is None
    assert "spend" not in answer.total.missing


def test_files_and_boards_say_why_there_is_no_chart(settings: Settings) -> None:
    """Where money has no figure there is no scale to draw, but the reason; and the chart in one currency."""
    for params, reason in (({}, f"Spend: {REASON}."), ({"is.currency_code": "EUR"}, "")):
        snapshot = Documents(settings).of_question(ADA, ABOUT, page(params))
        assert (snapshot.chart is None, [*snapshot.notes[:1]] == [reason]) == (bool(reason), bool(reason))
        item = BoardItem("chart", 1, "", *ABOUT, "Spend", page(params))
        (cell,) = Documents(settings).of_board(ADA, BoardCopy([item], {}), "Board").blocks
        assert (cell.chart is None, cell.message) == (bool(reason), reason)


@pytest.fixture(scope="module")
def changed(settings: Settings) -> Settings:
    """The same with a slicer in euros in the first week and in dollars in the second."""
    days = [dt.datetime(2026, 11, 2, tzinfo=dt.UTC) + dt.timedelta(days=number) for number in range(14)]
    frame = pd.DataFrame({"time": days, "account": "1", "country": "DE", "imps": 10.0, "spend": 5.0})
    add(settings, "changed", frame.assign(currency_code=["EUR"] * 7 + ["USD"] * 7))
    return settings


def test_figures_of_two_currencies_are_not_compared(changed: Settings) -> None:
    """From 35 EUR to 35 USD there is no change: not in headline and rows, nor in what moved."""
    params = {"start": "2026-11-09", "end": "2026-11-15", "field": "spend", "cards": "country"}
    request = OverviewRequest(project="p", slicer="changed", params=params, parts=["head", "cards"])
    lines = {line["part"]: line for line in OverviewAnswers(changed).lines(request, ADA, Deadline(60))}
    figures = {figure["name"]: figure for figure in lines["head"]["head"]["figures"]}
    assert (figures["spend"]["text"], figures["spend"]["delta"]) == ("35.00 USD", "–")
    assert figures["imps"]["delta"] == "0.0 %"
    ((card),) = lines["cards"]["cards"]
    change = [column["id"] for column in card["columns"]].index("change")
    assert card["rows"][0]["cells"][change]["text"] == "–"
    desk = Desk.local("ada", settings=changed)
    moved = desk.what_moved("p/changed", "spend", start="2026-11-09", end="2026-11-15").moved
    assert (moved.withheld, moved.moves) == ("in EUR and USD", ())


def test_no_spend_is_compared_with_some() -> None:
    """The zero of no records is in any currency: none after 35 EUR is a change of -100 %, 0 USD is none."""
    nothing, spend = Estimate(0.0), Estimate(35.0, currency="EUR")
    assert change(nothing, spend).ratio == -1.0 and change(spend, nothing).amount == 35.0
    assert change(Estimate(0.0, currency="USD"), spend).ratio is None


def test_an_alert_fires_when_spend_stops() -> None:
    """A day without records has no currency, and is held against earlier days that have one."""
    days = [dt.date(2026, 9, 1) + dt.timedelta(days=number) for number in range(62)]
    figures = [Estimate(100.0 + number % 7 + number % 3, currency="EUR") for number in range(61)]
    spans = [(day, day) for day in days]
    judge = FigureHistory(spans, [*figures, Estimate(0.0)], season=7).judge
    assert judge("changed", None).fires
    with pytest.raises(FigureUnavailable):
        FigureHistory(spans, [*figures, Estimate(106.0, currency="USD")], season=7).judge("changed", None)


def test_days_of_several_currencies_have_no_forecast(changed: Settings) -> None:
    """Days that have one currency each, but not the same, are no course of one figure."""
    where = {"project_name": "p", "slicer_name": "changed", "split_by": ("granularity_day",)}
    weeks = {"first": ("2026-11-02", "2026-11-15"), "second": ("2026-11-09", "2026-11-15")}
    values = {}
    for name, (start, end) in weeks.items():
        query = AudienceQuery(**where, start_date=start, end_date=end, data_fields=("spend",))
        days = dt.date.fromisoformat(start), dt.date.fromisoformat(end)
        answer = clients(changed).reporting.audience(query)
        values[name] = {day.figure.value for day in answer.by_day("spend", days)}
    assert values == {"first": {None}, "second": {5.0}}


@pytest.mark.parametrize(("last", "value"), [("2026-11-08", 5.0), ("2026-11-15", None)])
def test_days_of_several_currencies_are_no_line(changed: Settings, last: str, value: float | None) -> None:
    """The chart draws euros after dollars as no line, as a table has no total of them."""
    params = {"start": "2026-11-02", "end": last, "field": "spend", "compare": ""}
    request = OverviewRequest(project="p", slicer="changed", params=params, parts=["head"])
    lines = {line["part"]: line for line in OverviewAnswers(changed).lines(request, ADA, Deadline(60))}
    assert {*lines["head"]["head"]["fields"]["spend"]["now"]["values"]} == {value}


@pytest.mark.parametrize(
    ("code", "text"),
    [("JPY", "1,235 JPY"), ("KWD", "1,234.568 KWD"), ("EUR", "1,234.57 EUR"), ("Euro", "1,234.57")],
)
def test_amounts_have_the_decimals_of_their_currency(code: str, text: str) -> None:
    """A yen has no cents, and a dinar a thousand fils."""
    field = DEFINITION.slicer(None, None).data_field("spend")
    assert Numbers().full(1234.5678, in_currency(field, code)) == text
