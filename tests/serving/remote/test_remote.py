"""The desk over remote services: the same answers, in the desk's name; a person sees what they may."""

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from certificates import signed
from conftest import PASSWORD
from peopled import people_in
from serving import serving

from lib.deals.models import Seat
from lib.people import Grant, Person
from lib.reporting.models import AudienceQuery, ExportQuery, InfoQuery
from lib.serving import connect
from lib.serving.front import server
from lib.settings import Settings
from lib.wire.errors import CircuitOpen, Misconfigured, Unreachable

ADA = Person("ada", "Ada", None, "manager", (Grant("demo", "delivery"),))
ROOT = Person("root", "Root", None, "admin")
DELIVERY = {"project_name": "demo", "slicer_name": "delivery"}
WEEK = {"start_date": "-7d", "end_date": "yesterday", "split_by": ("geo.country",)}
SLICERS = ("demo/delivery", "demo/curation")
SyncState = Callable[..., Settings]


@pytest.fixture
def told(tmp_path: Path, remote: httpx.Client, token: Callable[[str], str]) -> SyncState:
    """Settings of a desk with an empty home, whose reporting service is the one in another process."""

    def settings(**more: object) -> Settings:
        address = str(remote.base_url)
        usual = {"base_url": address, "reporting_token": token("manager"), "slicers": SLICERS}
        return Settings(**({"home": tmp_path / "desk"} | usual | more))

    return settings


def temporary(remote: httpx.Client) -> dict[str, object]:
    """Settings for tokens that are asked for with a name and a password."""
    asked = {"service_username": "manager", "service_password": PASSWORD, "auth_url": str(remote.base_url)}
    return asked | {"reporting_token": None}


def test_the_same_answers(told: SyncState, embedded: httpx.Client, token: Callable[[str], str]) -> None:
    """Info, figures and file of a remote service are those that it gives anybody."""
    from lib.reporting.client import Reporting

    there, context = connect.connect(ADA, told()).reporting, Reporting(embedded, token("manager"))
    asked, info = AudienceQuery(**DELIVERY, **WEEK), InfoQuery(**DELIVERY)
    assert there.info(info) == context.info(info)
    assert there.audience(asked).values.equals(context.audience(asked).values)
    file = ExportQuery(**DELIVERY, **WEEK, export_format="csv")
    assert there.export(file).content.read() == context.export(file).content.read()


def test_a_person_sees_their_own(told: SyncState) -> None:
    """Of the slicers that the settings name, each person sees those that they were granted."""
    settings = told()
    assert connect.connect(ADA, settings).slicers == (("demo", "delivery"),)
    assert connect.connect(ROOT, settings).slicers == (("demo", "delivery"), ("demo", "curation"))


def test_name_and_password(told: SyncState, remote: httpx.Client) -> None:
    """Without a permanent token the desk asks for temporary ones."""
    clients = connect.connect(ADA, told(**temporary(remote)))
    assert clients.reporting.info(InfoQuery(**DELIVERY)).last_date


def test_one_remote_one_embedded(told: SyncState, remote: httpx.Client) -> None:
    """Reports may come from elsewhere while deals are kept here, and the other way round."""
    clients = connect.connect(added(ROOT, told()), told())
    assert clients.deals.list(Seat).count == 0
    assert (clients.reporting_address, clients.deals_address) == (str(remote.base_url).rstrip("/"), "")
    deals = {"curate_url": str(remote.base_url), "base_url": "", "slicers": ()}
    clients = connect.connect(ROOT, told(**temporary(remote) | deals))
    assert (clients.slicers, clients.reporting_address) == ((), "")
    assert clients.deals.list(Seat).count == 0


def test_a_dead_service(told: SyncState) -> None:
    """A service that nobody answers for is found dead, and after some tries not asked for a while."""
    with server.listening("127.0.0.1", 0) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    reporting = connect.connect(ADA, told(base_url=address)).reporting
    with pytest.raises(Unreachable):
        reporting.info(InfoQuery(**DELIVERY))
    with pytest.raises(CircuitOpen):
        reporting.info(InfoQuery(**DELIVERY))


def test_redirects_are_not_followed(told: SyncState) -> None:
    """A service that sends the caller elsewhere gets no second request: the token would go along."""
    asked: list[str] = []

    async def redirecting(scope: dict, receive: Callable, send: Callable) -> None:
        asked.append(scope["path"])
        headers = [(b"location", b"/elsewhere")]
        await send({"type": "http.response.start", "status": 307, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    with serving(redirecting) as address:
        reporting = connect.connect(ADA, told(base_url=address)).reporting
        with pytest.raises(Exception, match="307"):
            reporting.info(InfoQuery(**DELIVERY))
    assert asked == ["/API/v2/info"]


def test_certificates_are_verified(
    told: SyncState, tmp_path: Path, installation: connect.Installation
) -> None:
    """A certificate that nobody vouches for is refused; with `ca_file` it is the one to trust."""
    certificate, key = signed(tmp_path)
    with serving(installation.api, ssl_certfile=str(certificate), ssl_keyfile=str(key)) as address:
        secure = address.replace("http://127.0.0.1", "https://localhost")
        with pytest.raises(Unreachable, match="certificate"):
            connect.connect(ADA, told(base_url=secure)).reporting.info(InfoQuery(**DELIVERY))
        trusting = told(base_url=secure, ca_file=certificate, home=tmp_path / "trusting")
        assert connect.connect(ADA, trusting).reporting.info(InfoQuery(**DELIVERY)).key_fields


def test_certificates_that_are_none(told: SyncState, tmp_path: Path) -> None:
    """A `ca_file` that holds no certificates is named."""
    (tmp_path / "none.pem").write_text("none")
    with pytest.raises(Misconfigured, match=r"ca_file .*none\.pem can't be read as certificates"):
        connect.connect(ADA, told(ca_file=tmp_path / "none.pem"))


def test_proxies(told: SyncState, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy that the environment names is the one that is asked."""
    asked: list[str] = []
    with serving(_noting(asked)) as address:
        monkeypatch.setenv("HTTP_PROXY", address)
        monkeypatch.setenv("NO_PROXY", "")
        settings = told(base_url="http://reports.example", plain_http=True)
        with pytest.raises(Unreachable):
            connect.connect(ADA, settings).reporting.info(InfoQuery(**DELIVERY))
    assert set(asked) == {"reports.example"}


def test_services_on_this_machine_need_no_proxy(told: SyncState, monkeypatch: pytest.MonkeyPatch) -> None:
    """A token for a service on this machine, which may be unencrypted, is given to no proxy."""
    proxied, direct = [], []
    with serving(_noting(proxied)) as proxy, serving(_noting(direct)) as address:
        monkeypatch.setenv("HTTP_PROXY", proxy)
        monkeypatch.setenv("NO_PROXY", "")
        with pytest.raises(Unreachable):
            connect.connect(ADA, told(base_url=address)).reporting.info(InfoQuery(**DELIVERY))
    assert (proxied, set(direct)) == ([], {address.removeprefix("http://")})


def _noting(hosts: list[str]) -> Callable:
    """A service that notes each `Host` and answers 502."""

    async def answer(scope: dict, receive: Callable, send: Callable) -> None:
        hosts.append(dict(scope["headers"])[b"host"].decode())
        await send({"type": "http.response.start", "status": 502, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    return answer


def added(person: Person, settings: Settings) -> Person:
    """The person, known to the desk of these settings."""
    people_in(settings.home).add(person, PASSWORD)
    return connect.installation(settings).people.get(person.username)
