"""Money in several currencies has no figure in any place that shows one; a filter or a split settles it."""

import datetime as dt
import json
from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from lib.agents.python_client import Desk
from lib.agents.toolbox import Toolbox
from lib.figures.board.board_answers import BoardAnswers
from lib.people import Person
from lib.reporting.models import AudienceQuery, ExportQuery
from lib.serving import connect
from lib.serving.front.board_route import BoardRequest
from lib.settings import Settings
from lib.share.alerts.check import check
from lib.share.documents.documents import Documents
from lib.share.mail.digest import Digest
from lib.slicers.definition import Definition
from lib.slicers.warehouse import Warehouse
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


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A desk with that slicer."""
    settings = Settings(home=tmp_path_factory.mktemp("currencies"), demo=True)
    connect.installation(settings).people.add(ADA, "a password")
    frame = rows().rename(columns={"day": "time"})
    frame["time"] = pd.to_datetime(frame["time"]).dt.tz_localize("UTC")
    table = pa.Table.from_pandas(frame, schema=DEFINITION.schema(), preserve_index=False)
    with Warehouse(settings.warehouse).writer("p", "money", DEFINITION, {}) as writer:
        writer.write(table)
        writer.commit("made by a test", "0")
    return settings


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
    request = BoardRequest(project="p", slicer="money", params=page(params), parts=[name])
    lines = BoardAnswers(settings).lines(request, ADA, Deadline(60))
    return [line[name] for line in lines if name in line][-1]


def clients(settings: Settings) -> connect.Clients:
    """What the person asks by."""
    return connect.connect(ADA, settings)


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
    return repr(Documents(settings).question(ADA, ABOUT, page(params)))


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
    return repr(Documents(settings).board(ADA, BoardCopy(items, {}), "Board"))


def _alert(settings: Settings, params: dict[str, str]) -> Any:
    store = clients(settings).view_store
    view = store.views.save(*ABOUT, f"Alert {params}", page(params))
    store.alerts.watch(view.id, "spend", {"name": "spend"}, "above", 1.0)
    verdicts = [check(alert, ADA, settings) for alert in store.alerts.mine()]
    store.views.delete(view.id)
    return verdicts


def _agent(settings: Settings, params: dict[str, str]) -> Any:
    toolbox = Toolbox("ada", Desk.local("ada", settings=settings), lambda _: None)
    days = {"start": QUERY["start"], "end": QUERY["end"]}
    filters = [{"field": name, "values": [text]} for name, text in params.items()]
    asked = {"slicer": "p/money", "fields": ["spend"], "split": ["account"], "filters": filters, **days}
    return toolbox.call("ask", asked).answer


PLACES: dict[str, Place] = {
    "API": _api, "headline": _headline, "leaderboard": _leaderboard, "split": _split, "pivot": _pivot,
    "file": _file, "snapshot": _snapshot, "mail": _mail, "board": _board, "alert": _alert, "agent": _agent,
}  # fmt: skip
SUMS = ("78014.85", "78,014.85", "78.0 k", "78,015")


@pytest.mark.parametrize("place", PLACES)
def test_no_place_shows_a_sum_over_currencies(settings: Settings, place: str) -> None:
    """Each says why there is no figure, and shows neither the sum of amounts nor a share of it."""
    text = json.dumps(PLACES[place](settings, MIXED), default=str, ensure_ascii=False)
    assert "currencies: split or filter by currency_code" in text, text
    assert not [one for one in SUMS if one in text], text


@pytest.mark.parametrize("place", PLACES)
def test_a_filter_by_currency_settles_it(settings: Settings, place: str) -> None:
    """With one currency, each place has its figure."""
    text = json.dumps(PLACES[place](settings, EUR), default=str, ensure_ascii=False)
    assert "606.2" in text or "606 EUR" in text, text
    assert "currencies" not in text.replace("currencies=", ""), text
