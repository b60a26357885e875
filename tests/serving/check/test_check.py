"""The check: each service is tried step by step; what answers, what is refused, and what would mend it."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from connected import CONNECTION, connected
from dealing import package
from standin.app import Standin
from standin.book import SETTINGS
from standin.state import PASSWORD, TOKEN, USERNAME
from streamlit.testing.v1 import AppTest
from test_desk import DESK, sign_in

from lib.cli import main
from lib.deals.models import SupplyPackage
from lib.engines.connected_slicers import ConnectedSlicers
from lib.people import Person
from lib.serving import connect
from lib.serving.check import Step, check
from lib.serving.front import server
from lib.settings import Settings
from lib.slicers.definition import Definition
from lib.slicers.warehouse import Warehouse
from lib.wire.errors import InternalError

SyncState = Callable[..., Settings]


@pytest.fixture
def told(own_home: Path, standin: Standin) -> SyncState:
    """Settings of a desk whose services are the stand-in."""

    def settings(**more: object) -> Settings:
        elsewhere = {
            "base_url": standin.address,
            "curate_url": standin.address,
            "reporting_token": TOKEN,
            "deals_token": TOKEN,
            "slicers": ("demo/delivery",),
            "deals_mapping_confirmed": True,
            **SETTINGS,
        }
        return Settings(**({"home": own_home} | elsewhere | more))

    return settings


def steps_of(settings: Settings, service: str) -> dict[str, Step]:
    """The steps of one service by what they tried; of several of a name, the last."""
    return {step.what: step for step in check(settings) if step.service == service}


def test_services_of_this_desk(own_home: Path) -> None:
    """A desk of its own is found to be whole, without asking anybody."""
    steps = [*check(Settings(home=own_home))]
    assert [(step.service, step.what, step.state) for step in steps] == [
        ("Time zones", "Data", "ok"),
        ("Reporting", "Part of this desk", "ok"),
        ("Deals", "Part of this desk", "ok"),
    ]
    assert "2 slicers" in steps[1].result


def test_everything_answers(told: SyncState) -> None:
    """Where all is well each service is reached, its token taken, a day's figures and its file read."""
    steps = [*check(told())]
    assert all(step.is_good for step in steps), steps
    reporting = {step.what: step for step in steps if step.service == "Reporting"}
    assert [*reporting] == ["Connection", "Token", "demo/delivery", "Figures", "File"]
    assert "9 key fields, 5 data fields" in reporting["demo/delivery"].result
    assert "Tranche emulates data_fields, " in reporting["demo/delivery"].result


def test_nobody_answers(told: SyncState) -> None:
    """Where nobody listens the setting of the address is named, and nothing more is tried."""
    with server.listening("127.0.0.1", 0) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    steps = steps_of(told(base_url=address), "Reporting")
    assert [*steps] == ["Connection"]
    assert (steps["Connection"].state, "base_url" in steps["Connection"].remedy) == ("failed", True)


def test_a_host_that_is_none(told: SyncState) -> None:
    """A host that nobody knows is told from one that does not answer."""
    step = steps_of(told(base_url="https://nowhere.invalid"), "Reporting")["Connection"]
    assert step.remedy == "Check the host in base_url."


def test_another_service(told: SyncState, standin: Standin) -> None:
    """An address with something else behind it is found out, and which setting to mend."""
    step = steps_of(told(base_url=f"{standin.address}/elsewhere"), "Reporting")["demo/delivery"]
    assert (step.state, "base_url must be given without the API's path" in step.remedy) == ("failed", True)


def test_a_refused_token(told: SyncState) -> None:
    """A wrong permanent token is found refused by each API, with the settings to look at."""
    reporting = steps_of(told(reporting_token="wrong"), "Reporting")["demo/delivery"]
    assert reporting.state == "refused"
    assert reporting.remedy.startswith("Check this name in slicers. Check reporting_token,")
    deals = steps_of(told(deals_token="wrong"), "Deals")["Deals"]
    assert (deals.state, deals.remedy.startswith("Check deals_token,")) == ("refused", True)


@pytest.mark.parametrize(("password", "state"), [(PASSWORD, "ok"), ("wrong", "refused")])
def test_name_and_password(told: SyncState, standin: Standin, password: str, state: str) -> None:
    """Name and password are tried before anything else; a wrong one stops the check, and stays unsaid."""
    asked = {"auth_url": standin.address, "service_username": USERNAME, "service_password": password}
    steps = steps_of(told(reporting_token=None, **asked), "Reporting")
    assert steps["Token"].state == state
    assert ("Figures" in steps) == (state == "ok")
    assert "wrong" not in str(steps)
    assert standin.state.grants == (state == "ok")


@pytest.fixture
def lake(tmp_path: Path) -> Settings:
    """Settings with a connection to a folder of Parquet files, and a slicer over a table there."""
    (tmp_path / "lake").mkdir()
    rows = pa.table({"day": [dt.date(2026, 1, 1)], "bids": [3]})
    pq.write_table(rows, tmp_path / "lake" / "sales.parquet")
    connections = {CONNECTION: {"url": f"parquet://{tmp_path}/lake"}}
    settings = Settings(home=tmp_path / "home", connections=connections)
    definition = Definition.model_validate({"time": {"column": "day"}, "data_fields": [{"name": "bids"}]})
    warehouse = Warehouse(settings.warehouse, ConnectedSlicers(settings.connection_urls).current)
    warehouse.connect("p", "sales", connected(definition, "sales"))
    assert warehouse.open("p", "sales").row_count == 1
    return settings


def test_checks_cover_a_slicer_whose_connection_is_gone(
    lake: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slicer whose connection left the settings fails in every check, and a question about it says why."""
    sentence = f"The settings have no connection '{CONNECTION}'"
    settings = Settings(home=lake.home)
    steps = {step.what: step for step in check(settings) if step.service == "Databases"}
    assert {name: step.state for name, step in steps.items()} == {CONNECTION: "failed", "p/sales": "failed"}
    assert sentence in steps[CONNECTION].result
    assert "remove" not in steps[CONNECTION].remedy + steps["p/sales"].remedy
    monkeypatch.setenv("TRANCHE_HOME", str(settings.home))
    listed = CliRunner().invoke(main, ["slicers"])
    assert listed.exit_code == 1
    assert f"p/sales: {sentence}" in listed.output
    installation = connect.installation(settings)
    assert installation.http.get("/readyz").json()["parts"]["connections"] == "failed"
    installation.people.add(Person("ada", "Ada", None, "admin"), "a password")
    token = installation.access.issue("ada", settings.reporting_service, "test", dt.timedelta(hours=1))
    days = {"start_date": "2026-01-01", "end_date": "2026-01-01"}
    body = {"token": token, "project_name": "p", "slicer_name": "sales", **days}
    for verb, more in (("audience", {}), ("export", {"export_format": "csv"})):
        answer = installation.http.post(f"/API/v2/{verb}", json=body | more)
        assert (answer.status_code, answer.json()["status"]) == (503, "internal_error")
        assert sentence in answer.json()["reason"]


def test_a_table_that_has_changed(lake: Settings, tmp_path: Path) -> None:
    """A table without a column of the slicer is named, and what to do; readiness tells of it too."""
    pq.write_table(pa.table({"day": [dt.date(2026, 1, 1)]}), tmp_path / "lake" / "sales.parquet")
    (step,) = [step for step in check(lake) if step.what == "p/sales"]
    assert (step.state, "no column 'bids'" in step.result) == ("failed", True)
    assert "tranche connect --replace" in step.remedy
    answer = connect.installation(lake).http.get("/readyz")
    assert answer.json()["parts"]["connections"] == "failed"


def test_a_table_that_did_not_answer_is_not_to_be_removed(
    lake: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a table that was read, and does not fit, is a reason to connect again or to remove the slicer."""

    def refuse(*given: object) -> None:
        raise InternalError("The database of the connection rows refused the query; the log has the details")

    monkeypatch.setattr(ConnectedSlicers, "check", refuse)
    (step,) = [step for step in check(lake) if step.what == "p/sales"]
    assert step.state == "failed"
    assert "remove" not in step.remedy


def test_slicers_that_are_not_there(told: SyncState) -> None:
    """One wrong name among the slicers is named; the others are tried all the same."""
    steps = steps_of(told(slicers=("demo/nothing", "demo/delivery")), "Reporting")
    assert (steps["demo/nothing"].state, steps["demo/delivery"].state) == ("refused", "ok")
    assert steps["Figures"].state == "ok"


def test_deals_are_read_only_at_first(told: SyncState) -> None:
    """What is not confirmed, and without fees and seats, is noted with the setting that changes it."""
    steps = steps_of(told(deals_mapping_confirmed=False, fee_types={}, seats=()), "Deals")
    assert {step.state for step in steps.values()} <= {"ok", "note"}
    assert "deals_mapping_confirmed" in steps["Changes"].remedy
    assert "fee_types" in steps["Fees"].remedy
    assert "seats" in steps["Seats"].remedy
    assert "not compared with won prices, prices of other deals of a package, " in steps["Slips"].result


def test_shapes_that_differ(told: SyncState, installation: connect.Installation) -> None:
    """What the service wrote otherwise than the settings say is found, with the fields on both sides."""
    settings = told()
    person = connect.installation(settings).people.get("manager")
    foreign_package = package("Abroad", {}, geo_targetings=[{"type": "country", "value": "US"}])
    connect.connect(person, settings).deals.create(
        SupplyPackage, SupplyPackage(**foreign_package.model_dump())
    )
    assert steps_of(settings, "Deals")["Targeting and fees"].state == "ok"
    step = steps_of(told(targeting_names={}), "Deals")["Targeting and fees"]
    assert (step.state, step.result.startswith("geo_targetings: 1 of 1 elements have ")) == ("failed", True)


def test_a_service_with_lists(own_home: Path, remote: httpx.Client) -> None:
    """A deals service that lists is found to, and its packages are compared with the settings."""
    settings = Settings(
        home=own_home,
        curate_url=str(remote.base_url),
        auth_url=str(remote.base_url),
        service_username="manager",
        service_password="demo",
    )
    steps = steps_of(settings, "Deals")
    assert (steps["Token"].state, steps["Lists"].state, "Seats" in steps) == ("ok", "ok", False)


def test_the_command(told: SyncState, standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    """`tranche check` prints a line for the settings and each step, how to fix it, and fails if one did."""
    settings = told()
    monkeypatch.setenv("TRANCHE_HOME", str(settings.home))
    whole = CliRunner().invoke(main, ["check"])
    assert (whole.exit_code, whole.output.count("\n")) == (0, 4)
    monkeypatch.setenv("TRANCHE_BASE_URL", standin.address)
    monkeypatch.setenv("TRANCHE_SLICERS", "demo/delivery")
    monkeypatch.setenv("TRANCHE_REPORTING_TOKEN", "wrong")
    broken = CliRunner().invoke(main, ["check"])
    assert broken.exit_code == 1
    assert "REFUSED Reporting  demo/delivery: " in broken.output
    assert "Check reporting_token" in broken.output


@pytest.fixture
def visit(told: SyncState, standin: Standin, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], AppTest]:
    """The desk as a person sees it who has signed in."""
    monkeypatch.setenv("TRANCHE_HOME", str(told().home))
    monkeypatch.setenv("TRANCHE_BASE_URL", standin.address)
    monkeypatch.setenv("TRANCHE_SLICERS", "demo/delivery")
    monkeypatch.setenv("TRANCHE_REPORTING_TOKEN", TOKEN)
    return lambda name: sign_in(AppTest.from_file(DESK, default_timeout=60).run(), name)


def test_the_screen(visit: Callable[[str], AppTest], standin: Standin) -> None:
    """Administrators see the same steps, and check again by a click."""
    desk = visit("admin").switch_page("../pages/services.py").run()
    assert not desk.exception
    assert [success.value for success in desk.success] == ["Everything works"]
    result = "\n".join(markdown.value for markdown in desk.markdown)
    assert "demo/delivery" in result
    standin.state.token = "another"
    desk.button(key="services_check").click().run()
    assert [error.value for error in desk.error] == ["One thing needs fixing"]


def test_the_screen_is_for_administrators(visit: Callable[[str], AppTest]) -> None:
    """Nobody else has the screen at all."""
    with pytest.raises(ValueError, match="Could not find a navigation page"):
        visit("manager").switch_page("../pages/services.py")
