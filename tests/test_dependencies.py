"""What a desk depends on beside its services: named where it is missing, and never taking the rest down."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from file_settings import changed
from serving import serving
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from test_connected_plans import rows

from lib.cli import main
from lib.serving import connect
from lib.serving.check import Step, check
from lib.settings import Settings
from lib.slicers.definition import Definition
from lib.slicers.warehouse import Warehouse

RULES = {"claim": "groups", "value": "staff", "role": "viewer"}
CLOSED = "127.0.0.1:1"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A desk with a slicer of its own kind in each of three connections, two of which are broken."""
    lake = tmp_path / "lake"
    lake.mkdir()
    pq.write_table(pa.table(rows()), lake / "sales.parquet")
    own_settings = Settings(
        home=tmp_path / "home",
        connections={
            "lake": {"url": f"parquet://{lake}"},
            "gone": {"url": f"parquet://{tmp_path}/gone"},
            "silent": {"url": f"postgresql://reader:hushhush@{CLOSED}/rows"},
        },
    )
    warehouse = Warehouse(own_settings.warehouse)
    for name in own_settings.connection_urls:
        source = {"connection": name, "table": "sales"}
        fields = [{"name": "bids"}]
        content = {"time": {"column": "at"}, "key_fields": [], "data_fields": fields, "source": source}
        warehouse.connect("p", name, Definition.model_validate(content))
    return own_settings


@pytest.fixture
def provider() -> Iterator[str]:
    """The address of something that describes itself as a provider of that address."""
    own: list[str] = []

    async def described(request: object) -> JSONResponse:
        return JSONResponse({"issuer": own[0]})

    app = Starlette(routes=[Route("/.well-known/openid-configuration", described)])
    with serving(app) as address:
        own.append(address)
        yield address


def steps(settings: Settings) -> dict[str, Step]:
    """The steps of `tranche check` by what they tried."""
    return {step.what: step for step in check(settings)}


def test_slicers_are_listed_beside_a_broken_one(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """`tranche slicers` lists all slicers, and says of which connection there is no answer, and why."""
    monkeypatch.setattr(Settings, "load", classmethod(lambda _: settings))
    result = CliRunner().invoke(main, ["slicers"])
    assert result.exit_code == 1
    assert "20,000" in next(line for line in result.stdout.splitlines() if " lake " in line)
    assert "lake: sales" in result.stdout
    for name, words in (("gone", "There is no folder"), ("silent", "database of silent does not answer")):
        assert f"{name}: sales" in result.stdout
        assert any(name in line and words in line for line in result.stderr.splitlines())
    assert "hushhush" not in result.output


def test_every_connection_is_checked(settings: Settings) -> None:
    """`tranche check` tries each connection, and the table of each slicer that has one."""
    by_name = steps(settings)
    states = {name: by_name[name].state for name in ("lake", "gone", "silent", "p/lake")}
    assert states == {"lake": "ok", "gone": "failed", "silent": "failed", "p/lake": "ok"}
    assert "[connections.silent]" in by_name["silent"].remedy
    pq.write_table(pa.table({"at": []}), settings.home.parent / "lake" / "sales.parquet")
    assert "no column 'bids'" in steps(settings)["p/lake"].result


def test_a_desk_is_ready_without_a_connection(settings: Settings) -> None:
    """`/readyz` says that a connection, the sign-in or the webhook fails, and stays ready for the rest."""
    url = f"https://{CLOSED}"
    more = {"oidc": {"issuer": url, "client_id": "x", "rules": [RULES]}, "oidc_secret": "x" * 20}
    more |= {"alerts_webhook": f"{url}/token", "alerts_secret": "x" * 40, "origins": ["https://desk.example"]}
    all_ = changed(settings, **more)
    with serving(connect.installation(all_).api) as address:
        import httpx

        answer = httpx.get(f"{address}/readyz", timeout=60)
    assert (answer.status_code, answer.json()["status"]) == (200, "ready")
    parts = dict.fromkeys(("company sign-in", "alert webhook", "connections"), "failed")
    assert answer.json()["parts"] == {"database": "ok", "warehouse": "ok"} | parts


def test_sign_in_and_webhook_are_checked(tmp_path: Path, provider: str) -> None:
    """`tranche check` tries the provider's description and the webhook's host, and sends it nothing."""
    with socket.create_server(("127.0.0.1", 0)) as receiver:
        port = receiver.getsockname()[1]
        settings = Settings(
            home=tmp_path / "home",
            oidc={"issuer": provider, "client_id": "x", "rules": [RULES]},
            oidc_secret="x" * 20,
            alerts_webhook=f"http://127.0.0.1:{port}/token",
            alerts_secret="x" * 40,
        )
        by_name = steps(settings)
        states = {name: by_name[name].result for name in by_name if not by_name[name].is_good}
        assert states == {}
        taken, _ = receiver.accept()
        with taken:
            assert taken.recv(1) == b""
    by_name = steps(settings)
    assert (by_name["Alert webhook"].state, f"127.0.0.1:{port}" in by_name["Alert webhook"].result) == (
        "failed",
        True,
    )
    assert "token" not in by_name["Alert webhook"].result
    oidc = settings.company.oidc.model_copy(update={"issuer": f"{provider}/other"})
    away = settings.model_copy(update={"company": settings.company.model_copy(update={"oidc": oidc})})
    assert steps(away)["Company sign-in"].state == "failed"
