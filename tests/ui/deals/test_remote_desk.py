"""A desk that is pointed at another desk's APIs shows what that one shows, cell by cell, on every page."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boards
import pytest
from boards import components
from conftest import PEOPLE, copied
from dealing import SOLD, clean, clients, stock
from opening import opened
from peopled import add_people
from serving import serving
from streamlit.testing.v1 import AppTest

from lib import settings as settings_module
from lib.deals.models import DemandDeal, SupplyPackage
from lib.serving import connect
from lib.serving.health_watch import HealthWatch
from lib.settings import Settings
from lib.ui.deals import catalog, deal_rows
from lib.views import BoardCell
from lib.views.boards import BoardPart
from lib.wire import private

PAUSED = 2
DEALS = {"deals_kind": "Deals", "deal_columns": [*deal_rows.column_titles("Price, USD CPM").values()]}
PACKAGES = {"deals_kind": "Packages", "package_columns": DEALS["deal_columns"]}
PAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "deals": ("deals", DEALS),
    "packages": ("deals", PACKAGES),
    **{f"deal {number}": ("deals", {**DEALS, "open": f"demand_deals-{number}"}) for number in (1, PAUSED, 4)},
    **{f"package {number}": ("deals", {**PACKAGES, "open": f"supply_deals-{number}"}) for number in (1, 2)},
    "slicers": ("slicers", {}),
    "leaderboards": ("audience", {"lower": "cards"}),
    "split": ("audience", {"lower": "split", "split": "deal~geo.country"}),
    "what moved": ("audience", {"lower": "moved"}),
    "rows": ("audience", {"lower": "records"}),
    "boards": ("boards", {}),
    "export": ("export", {"split": "deal"}),
    "new package": ("new_package", {}),
    "lists": ("lists", {}),
    "app lists": ("lists", {"lists_kind": "Apps"}),
    "a list": ("lists", {"list": "domain_lists-1"}),
}  # fmt: skip


@pytest.fixture(scope="module")
def homes(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """A desk with deals, of which one and a package are paused; and another that is pointed at its APIs."""
    folder = tmp_path_factory.mktemp("desks")
    settings = stock(copied(home, folder / "embedded"))
    manager = clients(settings)
    manager.deals.change(DemandDeal, PAUSED, {"is_active": False})
    manager.deals.change(SupplyPackage, 2, {"is_active": False})
    HealthWatch(settings).look(dt.datetime.now(dt.UTC))
    shared = connect.installation(settings)
    tokens = {
        api: shared.access.issue("manager", service, "the desk", None)
        for api, service in settings.services.items()
    }
    add_people(f"sqlite:///{folder}/remote/tranche.db", PEOPLE, "no password of the demo")
    with serving(shared.api) as address:
        (folder / "remote" / "tranche.toml").write_text(
            f'''base_url = "{address}"
slicers = ["demo/{SOLD}"]
reporting_token = "{tokens["reporting"]}"
curate_url = "{address}"
deals_token = "{tokens["deals"]}"
deals_mapping_confirmed = true
fee_types = {{0 = 0, 1 = 1, 2 = 2, 3 = 3, 4 = 4}}
'''
        )
        (folder / "remote" / "tranche.toml").chmod(private.FILE_MODE)
        yield {"embedded": settings.home, "remote": folder / "remote"}


def page(home: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The page as the manager sees it on this desk, once all of its health has come."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    settings_module._current.cache_clear()
    screen, params = PAGES[name]
    if name == "boards":
        store = clients(Settings.current()).view_store
        view = store.views.save("demo", SOLD, "Week", {"start": "-7d", "end": "yesterday", "split": "deal"})
        parts: tuple[BoardPart, ...] = ("headline", "chart", "leaderboard", "table")
        store.boards.save("Monday", False, [BoardCell(view.id, part, 2) for part in parts], {})
    desk = clean(opened(screen, project="demo", slicer=SOLD, **params))
    if catalog.HEALTH in desk.session_state:
        for entry in [*desk.session_state[catalog.HEALTH]._entries.values()]:
            entry.future.result(60)
        desk = clean(desk.run())
    return desk


def cells(desk: AppTest) -> list[Any]:
    """All cells of the page: of lists, tables, frames and the board, in their order."""
    lists = [
        ([column["title"] for column in data.get("columns", ())], [cell["text"] for cell in row["cells"]])
        for data in components(desk)
        if "rows" in data
        for row in data["rows"]
    ]
    tables = [table["rows"] for table in boards.drawn(desk)]
    frames = [node.value.astype(str).to_dict("split") for node in (*desk.table, *desk.dataframe)]
    figures = boards.answer(desk).get("head", {}).get("figures", [])
    board = [data["html"] for data in components(desk) if "html" in data]
    return [lists, tables, frames, figures, board]


@pytest.mark.parametrize("name", PAGES)
def test_each_cell(name: str, homes: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """What a person reads does not depend on where the services are: figures of paused deals neither."""
    embedded, remote = (cells(page(homes[kind], name, monkeypatch)) for kind in ("embedded", "remote"))
    assert remote == embedded
    assert any(embedded), "the page has cells"


def test_a_paused_deal_has_health_and_figures(
    homes: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the remote desk the deal that is paused itself says so, with its impressions and spend."""
    lists = cells(page(homes["remote"], "deals", monkeypatch))[0]
    titles, row = next(entry for entry in lists if str(PAUSED) == entry[1][entry[0].index("Id")])
    shown = dict(zip(titles, row, strict=True))
    assert shown["Health"] == "Paused"
    assert shown["Impressions, 7 days"] not in ("", "0")
    assert shown["Spend, 7 days"] not in ("", "0.00")
