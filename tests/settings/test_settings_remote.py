"""Settings of remote services: what belongs together, what is refused, and that secrets stay secret."""

import re
from pathlib import Path

import pytest

from lib.deals.compat.dialect import Dialect
from lib.deals.models import GeoTarget, SupplyPackage
from lib.settings import ConfiguredSeat, Settings
from lib.wire.errors import Misconfigured
from settings.test_settings import DOCS, home, told

__all__ = ["home"]
REPORTING = 'base_url = "https://reports.example"\nslicers = ["acme/auctions"]\n'
GRANT = 'auth_url = "https://sso.example"\nservice_username = "desk"\nservice_password = "hidden"\n'


def told_alone(home: Path, text: str) -> None:
    """Write the settings file, for its owner's eyes."""
    told(home, text)
    (home / "tranche.toml").chmod(0o600)


def refused(home: Path, text: str) -> str:
    """Why these settings are refused."""
    told_alone(home, text)
    with pytest.raises(Misconfigured) as caught:
        Settings.load()
    return caught.value.reason


def test_a_remote_reporting_service(home: Path) -> None:
    """An address, a token and the slicers are enough; a slash at the address's end does not matter."""
    told_alone(home, REPORTING.replace("example", "example/") + 'reporting_token = "hidden"')
    settings = Settings.load()
    assert (settings.remote.base_url, settings.remote.slicers) == (
        "https://reports.example",
        ("acme/auctions",),
    )
    assert settings.remote.curate_url == ""


def test_slicers_in_the_environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the environment slicers stand behind one another, with commas."""
    monkeypatch.setenv("TRANCHE_SLICERS", "acme/auctions, acme/deals,")
    assert Settings.load().remote.slicers == ("acme/auctions", "acme/deals")


def test_mappings_in_the_environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mappings and seats are JSON there; what is none is said."""
    monkeypatch.setenv("TRANCHE_FEE_TYPES", '{"1": 7}')
    monkeypatch.setenv("TRANCHE_SEATS", '[{"id": 3, "name": "Alpha"}]')
    settings = Settings.load()
    assert (settings.remote.fee_types, settings.remote.seats) == (
        {1: 7},
        (ConfiguredSeat(id=3, name="Alpha"),),
    )
    monkeypatch.setenv("TRANCHE_FEE_TYPES", "{1: 7}")
    with pytest.raises(Misconfigured, match=r'not valid JSON: .*"fee_types"'):
        Settings.load()


@pytest.mark.parametrize("name", ["base_url", "curate_url", "auth_url"])
@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("reports.example", "begins with https://"),
        ("ftp://reports.example", "begins with https://"),
        ("https://ada:hidden@reports.example", "no password"),
        ("https://reports.example?token=hidden", "no password"),
        ("http://reports.example", "unencrypted"),
    ],
)
def test_addresses(home: Path, name: str, address: str, reason: str) -> None:
    """An address is http(s), with nothing secret in it, and sealed unless it is this machine."""
    said = refused(home, f'{name} = "{address}"')
    assert reason in said
    assert "hidden" not in said


@pytest.mark.parametrize("address", ["http://127.0.0.1:8502", "http://localhost:8502", "https://sso.example"])
def test_sealed_addresses(home: Path, address: str) -> None:
    """https anywhere and http on this machine are taken."""
    told(home, f'auth_url = "{address}"')
    assert Settings.load().remote.auth_url == address


def test_open_addresses(home: Path) -> None:
    """Who says so gets http anywhere."""
    told(home, 'auth_url = "http://sso.example"\nplain_http = true')
    assert Settings.load().remote.auth_url == "http://sso.example"


def test_what_belongs_together(home: Path) -> None:
    """A remote service needs a token or what it is asked for with, and reports need slicers."""
    assert "base_url needs reporting_token, or auth_url with" in refused(home, REPORTING)
    curate = 'curate_url = "https://deals.example"\n'
    assert "curate_url needs deals_token, or auth_url with" in refused(home, curate)
    assert "base_url needs slicers" in refused(home, 'base_url = "https://reports.example"')
    assert "project/slicer, not 'auctions'" in refused(home, 'slicers = ["auctions"]')
    told_alone(home, REPORTING + curate + GRANT)
    assert Settings.load().remote.service_username == "desk"


def test_secrets_stay_secret(home: Path) -> None:
    """Neither the settings as text nor a refusal shows a password or a token."""
    told_alone(home, REPORTING + GRANT)
    assert "hidden" not in repr(Settings.load())
    assert "hidden" not in refused(home, 'service_password = ["hidden"]')
    assert "hidden" not in refused(home, GRANT + "port = 0")


def test_secrets_in_a_file_for_everybody(home: Path) -> None:
    """A file with a secret in it that others can read is refused, with what to do."""
    told(home, REPORTING + GRANT)
    (home / "tranche.toml").chmod(0o640)
    with pytest.raises(Misconfigured, match=r"holds service_password and others can read it: chmod 600"):
        Settings.load()
    (home / "tranche.toml").chmod(0o600)
    assert Settings.load().remote.base_url


@pytest.mark.parametrize("header", ["X-Token", "Authorization"])
def test_headers(home: Path, header: str) -> None:
    """A header's name is one."""
    told(home, f'token_header = "{header}"\ntoken_scheme = ""')
    assert Settings.load().remote.token_header == header
    assert "token_header" in refused(home, 'token_header = "X Token:"')


def test_equal_settings_have_equal_hashes() -> None:
    """Mappings among them do not keep settings from being a key."""
    first, other = (Settings(fee_types={1: 7}, home=Path("x")) for _ in range(2))
    assert (first == other, hash(first) == hash(other)) == (True, True)
    assert first != Settings(fee_types={1: 8}, home=Path("x"))


def documented(home: Path, page: str) -> Settings:
    """The settings that a page of the documentation shows, all of them in one file."""
    text = (DOCS / page).read_text(encoding="utf-8")
    told_alone(home, "\n".join(re.findall(r"```toml\n(.*?)```", text, re.S)))
    return Settings.load()


def test_the_documented_proxy(home: Path) -> None:
    """The settings behind a proxy, as docs/deployment.md shows them, are accepted."""
    settings = documented(home, "deployment.md")
    assert (settings.origins, settings.trusted_proxies) == (("https://desk.example",), ("127.0.0.1",))


def test_the_documented_services(home: Path) -> None:
    """The settings of docs/remote-services.md are accepted together, and the mapping reads and writes."""
    settings = documented(home, "remote-services.md")
    assert (settings.remote.base_url, settings.remote.curate_url) == (
        "https://reports.example",
        "https://deals.example",
    )
    dialect = Dialect.of(settings.remote.targeting_names, settings.remote.fee_types)
    element = {"geo": {"kind": "COUNTRY", "code": "US"}, "operator": "EXCLUDE"}
    package = dialect.read(SupplyPackage, {"id": 1, "geo_targetings": [element]})
    assert package.geo_targetings == (GeoTarget(type="country", value="US", is_excluded=True),)
