"""Share links: who may make, see and revoke them, what they open, and when they end."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from conftest import DEFINITION, rows_by_week, small_rows
from hypothesis import HealthCheck, given
from hypothesis import settings as limits
from hypothesis import strategies as some
from needs import draws
from peopled import signed_in
from sqlalchemy import select, update
from starlette.responses import PlainTextResponse

from lib.people import Grant, Person
from lib.serving import connect
from lib.serving.connect import Installation, dependents
from lib.serving.front.shared_route import PREFIX, SharedRoute
from lib.settings import Settings
from lib.share import LinkPages
from lib.views import BoardCell
from lib.views.board_copies import BoardCopy, BoardItem, copy_board
from lib.views.share_links import LONGEST, MOST, ShareLinks
from lib.views.tables import share_links
from lib.wire.errors import AccessError, BadRequest
from lib.wire.policy import SecurityHeaders
from lib.wire.transport import InProcess

GERMANY = {"is.geo.country": "DE", "start": "-7d", "end": "yesterday"}
Links = Callable[[str], ShareLinks]


@pytest.fixture
def settings(own_home: Path) -> Settings:
    """The settings of a desk of its own."""
    return Settings(home=own_home, demo=True)


@pytest.fixture
def installation(settings: Settings) -> Installation:
    """That desk; its manager may make share links."""
    opened = connect.installation(settings)
    opened.access.change("manager", "test", shares=True)
    return opened


@pytest.fixture
def links(installation: Installation, settings: Settings) -> Links:
    """The share links of a person, as they are now."""

    def of(name: str) -> ShareLinks:
        person = installation.people.require(name)
        return connect.connect(person, settings).view_store.share_links

    return of


@pytest.fixture
def desk(installation: Installation, settings: Settings) -> Iterator[httpx.Client]:
    """A client of the route, in front of an application that answers everything else."""
    yield client(settings)


def client(settings: Settings, a_minute: int = 10_000) -> httpx.Client:
    """A client of the route over these settings."""
    route = SharedRoute(PlainTextResponse("The desk"), LinkPages(settings), a_minute)
    return httpx.Client(transport=InProcess(SecurityHeaders(route)), base_url="http://desk", timeout=60)


@pytest.fixture
def key(links: Links) -> str:
    """The key of a link that the manager made, to last week's figures of Germany."""
    return links("manager").make("demo", "delivery", "Germany", GERMANY)[1]


def opened(desk: httpx.Client, key: str, **headers: str) -> httpx.Response:
    """What a link opens."""
    return desk.get(f"{PREFIX}{key}", headers=headers)


def assert_closed(answer: httpx.Response, desk: httpx.Client) -> None:
    """The answer is that to a key which was never there, to the byte."""
    unknown = opened(desk, f"999999.{'a' * 32}")
    assert (answer.status_code, answer.text) == (404, unknown.text)
    assert answer.headers.items() == unknown.headers.items()
    assert "This link does not work" in answer.text


def test_a_link_opens_the_figures_without_an_account(desk: httpx.Client, key: str) -> None:
    """The page has the figures of the rows that pass its filters, and is got without any cookie."""
    answer = opened(desk, key)
    rows = rows_by_week("geo.country").query("week == 0 and `geo.country` == 'DE'")
    assert answer.status_code == 200
    assert "<h1>Germany</h1>" in answer.text
    assert f"<b>{rows['imps'].sum():,.0f}</b>" in answer.text
    assert "set-cookie" not in answer.headers


def test_its_headers_confine_the_page(desk: httpx.Client, key: str) -> None:
    """No frame, no referrer, no index; nothing is loaded; who has the page asks whether it still stands."""
    headers = opened(desk, key).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-robots-tag"].startswith("noindex")
    assert headers["cache-control"] == "private, no-cache"
    assert headers["x-content-type-options"] == "nosniff"


def test_named_sites_may_embed_it(desk: httpx.Client, links: Links) -> None:
    """The sites of a link may frame its page, and no others; the links beside it stay closed."""
    origins = ("https://intranet.example", "http://localhost:8080")
    made = links("manager").make("demo", "delivery", "x", {}, origins=origins)[1]
    headers = opened(desk, made).headers
    assert headers["content-security-policy"].endswith(f"frame-ancestors {' '.join(origins)}")
    assert "x-frame-options" not in headers


@pytest.mark.parametrize(
    "origin",
    [
        *("*", "https://*", "https://*.example", "intranet.example", "https://a.example/path", "https://"),
        *("https://a.example; script-src *", "https://a.example 'self'", "javascript://x", "data:"),
        *("https://a.example:99999", "https://a\nb", "https://a.example:0"),
    ],
)  # fmt: skip
def test_what_is_no_origin_is_refused(links: Links, origin: str) -> None:
    """Nothing but scheme, host and port gets into the header."""
    with pytest.raises(BadRequest):
        links("manager").make("demo", "delivery", "x", {}, origins=[origin])


def test_the_page_is_sent_once(desk: httpx.Client, key: str) -> None:
    """A browser that has the page is told so; it is the same for everybody."""
    first = opened(desk, key)
    again = opened(desk, key, **{"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert opened(desk, key).content == first.content


def test_only_a_hash_of_the_secret_is_stored(installation: Installation, key: str) -> None:
    """No column of the table has the secret, and none has half of it."""
    secret = key.partition(".")[2]
    with installation.access.store.engine.connect() as connection:
        row = connection.execute(select(share_links)).one()
    assert len(secret) == 32
    assert not [value for value in row if secret[:16] in str(value)]


@pytest.mark.parametrize("change", ["", "x", "number", "case", "short", "path", "query", "zero"])
def test_no_other_address_opens_anything(desk: httpx.Client, links: Links, key: str, change: str) -> None:
    """Whatever is changed of the address, it is the same page: that the link does not work."""
    other = links("manager").make("demo", "delivery", "Other", {})[1]
    number, _, secret = key.partition(".")
    changed = {
        "": "",
        "x": f"{key}x",
        "number": f"{other.partition('.')[0]}.{secret}",
        "case": f"{number}.{secret.swapcase()}",
        "short": key[:-1],
        "path": f"{key}/audience",
        "query": f"{number}.{'b' * 32}?start=2020-01-01&is.geo.country=US",
        "zero": f"0{key}",
    }[change]
    assert_closed(desk.get(f"{PREFIX}{changed}"), desk)


def test_parameters_of_the_address_change_nothing(desk: httpx.Client, key: str) -> None:
    """Filters, days and slicer are those of the link, whatever the address says behind it."""
    asked = f"{key}?project=demo&slicer=curation&is.geo.country=US&start=2020-01-01"
    assert opened(desk, asked).content == opened(desk, key).content


def test_a_session_opens_no_more(desk: httpx.Client, installation: Installation, key: str) -> None:
    """Somebody who is signed in sees what everybody sees, and a wrong key stays closed for them too."""
    cookie = signed_in(installation, "admin")
    assert opened(desk, key, **cookie).content == opened(desk, key).content
    assert_closed(opened(desk, f"1.{'c' * 32}", **cookie), desk)


def test_an_ended_link_is_closed(desk: httpx.Client, installation: Installation, key: str) -> None:
    """From its end on, a link does not work."""
    ended = update(share_links).values(expires=datetime.now(UTC) - timedelta(seconds=1))
    with installation.access.store.engine.begin() as connection:
        connection.execute(ended)
    assert_closed(opened(desk, key), desk)


def test_a_revoked_link_is_closed_at_once(desk: httpx.Client, links: Links, key: str) -> None:
    """Also where its page was opened before, and is still cached."""
    first = opened(desk, key)
    links("manager").revoke(int(key.partition(".")[0]))
    assert_closed(opened(desk, key), desk)
    assert_closed(opened(desk, key, **{"If-None-Match": first.headers["etag"]}), desk)


@pytest.mark.parametrize("loss", ["grant", "permission", "person", "namesake", "slicer"])
def test_what_its_owner_loses_closes_it(
    desk: httpx.Client, installation: Installation, key: str, loss: str
) -> None:
    """The slicer, the permission or the account: looked at each time it is opened."""
    assert opened(desk, key).status_code == 200
    access = installation.access
    if loss == "grant":
        access.change("manager", "test", grants=[Grant("demo", "curation")])
    elif loss == "permission":
        access.change("manager", "test", shares=False)
    elif loss == "slicer":
        with installation.warehouse.remove("demo", "delivery"):
            pass
    else:
        access.remove("manager", "test")
    if loss == "namesake":
        access.add(
            Person("manager", "Mo", None, "manager", (Grant("demo"),), shares=True), "password1", "test"
        )
    assert_closed(opened(desk, key), desk)


def test_another_password_of_its_owner_changes_nothing(
    desk: httpx.Client, installation: Installation, key: str
) -> None:
    """A link is no session of its owner: it opens what they may share, until it is revoked."""
    installation.access.set_password("manager", "another password", "test")
    assert opened(desk, key).status_code == 200


def test_the_setting_closes_all(own_home: Path, key: str) -> None:
    """Without `share_links` no link works."""
    off = client(Settings(home=own_home, demo=True, share_links=False))
    assert_closed(opened(off, key), off)


def test_who_may_make_links(links: Links) -> None:
    """Administrators may, and those with the permission; others may not, nor about what they don't see."""
    assert links("admin").make("demo", "curation", "x", {})[0].owner == "admin"
    with pytest.raises(AccessError, match="permission"):
        links("viewer").make("demo", "delivery", "x", {})
    with pytest.raises(AccessError):
        links("manager").make("other", "delivery", "x", {})


@pytest.mark.parametrize("lifetime", [timedelta(), timedelta(days=-1), LONGEST + timedelta(seconds=1)])
def test_how_long_a_link_works(links: Links, lifetime: timedelta) -> None:
    """30 days unless it is said, and a year at most."""
    link, _ = links("manager").make("demo", "delivery", "x", {})
    assert link.expires - link.created == timedelta(days=30)
    with pytest.raises(BadRequest):
        links("manager").make("demo", "delivery", "x", {}, lifetime)


def test_a_person_has_so_many_links(links: Links) -> None:
    """Beyond 200 the next one is refused, with what to do."""
    for number in range(MOST):
        links("manager").make("demo", "delivery", f"x{number}", {})
    with pytest.raises(BadRequest, match="revoke one first"):
        links("manager").make("demo", "delivery", "x", {})


def test_who_sees_and_revokes_links(links: Links) -> None:
    """Their owner does, and administrators do; to others they are not there."""
    mine, _ = links("manager").make("demo", "delivery", "Mine", {})
    theirs, _ = links("admin").make("demo", "delivery", "Theirs", {})
    assert [link.id for link in links("manager").everything()] == [mine.id]
    assert [link.id for link in links("admin").everything()] == [theirs.id, mine.id]
    for name, number in (("viewer", mine.id), ("manager", theirs.id), ("manager", 999)):
        with pytest.raises(BadRequest, match="not there"):
            links(name).revoke(number)
    links("admin").revoke(mine.id)
    assert links("manager").everything() == []


def test_when_a_link_was_opened_last(desk: httpx.Client, links: Links, key: str) -> None:
    """The list says when; never, before somebody opened it with its secret."""
    opened(desk, f"{key.partition('.')[0]}.{'d' * 32}")
    assert links("manager").everything()[0].opened is None
    opened(desk, key)
    last = links("manager").everything()[0].opened
    assert last is not None
    assert timedelta() <= datetime.now(UTC) - last < timedelta(minutes=1)


def test_the_audit_log_has_links(installation: Installation, links: Links, key: str) -> None:
    """Who made a link and who revoked it, what it shows and until when; never its secret."""
    links("admin").revoke(int(key.partition(".")[0]))
    _, entries = installation.access.audit.entries(events=("share link made", "share link revoked"))
    assert [(entry.event, entry.who) for entry in entries] == [
        ("share link revoked", "admin"),
        ("share link made", "manager"),
    ]
    assert all("'Germany', demo/delivery, by manager" in entry.detail for entry in entries)
    assert not [entry for entry in entries if key.partition(".")[2] in entry.detail]


def test_links_are_limited_for_each_address(settings: Settings, key: str) -> None:
    """Beyond the limit of a minute the answer is 429, for right and wrong keys alike, and says how long."""
    slow = client(settings, a_minute=3)
    codes = [
        opened(slow, link_key).status_code for link_key in (key, "1.wrong", f"1.{'e' * 32}", key, "1.wrong")
    ]
    assert codes == [200, 404, 404, 429, 429]
    assert int(opened(slow, key).headers["retry-after"]) > 0


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
def test_a_link_can_only_be_opened(desk: httpx.Client, key: str, method: str) -> None:
    """Other methods are refused with the ones that are allowed."""
    answer = desk.request(method, f"{PREFIX}{key}", content=b"x")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


@limits(max_examples=draws(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=some.text(some.characters(exclude_categories=["Cs"]), max_size=80), header=some.binary(max_size=40)
)
def test_whatever_is_asked_is_answered(desk: httpx.Client, path: str, header: bytes) -> None:
    """Any text below the route's address, with any bytes as a tag, is a link that does not work: no error."""
    tag = header.translate(None, bytes([*range(32), 127]))
    url = httpx.URL("http://desk").copy_with(
        raw_path=PREFIX.encode() + httpx.URL("/").join("/").raw_path[1:] + _quoted(path)
    )
    answer = desk.get(url, headers=[(b"if-none-match", tag)])
    assert answer.status_code == 404
    assert "This link does not work" in answer.text


def _quoted(path: str) -> bytes:
    """Each byte of a path escaped, so that nothing is normalized on the way."""
    return b"".join(b"%%%02X" % byte for byte in path.encode())


def test_a_link_follows_its_slicer(
    installation: Installation, links: Links, key: str, desk: httpx.Client
) -> None:
    """Renamed, the slicer keeps its links; removed, it takes them along."""
    warehouse, access = installation.warehouse, installation.access
    assert dependents.count(access, ("demo", "delivery")).share_links == 1
    dependents.rename(warehouse, access, ("demo", "delivery"), ("demo", "renamed"), "test", ())
    assert opened(desk, key).status_code == 200
    dependents.remove(warehouse, access, ("demo", "renamed"), "test")
    assert links("admin").everything() == []


def test_new_rows_are_there_at_once(desk: httpx.Client, installation: Installation, key: str) -> None:
    """The page is kept as long as the data are the same; after an import it is made again."""
    before = opened(desk, key).text
    with installation.warehouse.writer("demo", "delivery", DEFINITION, mode="replace") as writer:
        writer.write(small_rows(seed=5))
        writer.commit("made by a test", "5")
    assert opened(desk, key).text != before


def test_a_link_to_a_board_opens_its_cells_alone(
    desk: httpx.Client, links: Links, installation: Installation, settings: Settings
) -> None:
    """Each view's figures under its own filters; later changes of board and view don't reach the page."""
    manager = connect.connect(installation.people.require("manager"), settings).view_store
    germany = manager.views.save("demo", "delivery", "Germany", GERMANY)
    everything = manager.views.save("demo", "delivery", "Everything", {"start": "-7d", "end": "yesterday"})
    board = manager.boards.save(
        "For Kingfisher", cells=[BoardCell(germany.id), BoardCell(germany.id, "chart")]
    )
    copy = copy_board(board, manager.boards.views_of(board), {})
    _, key = links("manager").make("", "", "For Kingfisher", copy.to_params())
    manager.boards.change(board.id, cells=[BoardCell(everything.id)])
    manager.views.change(germany.id, params={"start": "-7d", "end": "yesterday"})
    answer = opened(desk, key)
    rows = rows_by_week("geo.country").query("week == 0")
    in_germany = rows[rows["geo.country"] == "DE"]
    assert answer.status_code == 200
    assert "<h1>For Kingfisher</h1>" in answer.text
    assert f"<b>{in_germany['imps'].sum():,.0f}</b>" in answer.text
    assert f"{rows['imps'].sum():,.0f}" not in answer.text
    assert "set-cookie" not in answer.headers
    installation.access.change("manager", "test", shares=False)
    assert_closed(opened(desk, key), desk)


def test_a_cell_that_its_owner_may_not_see_any_more_is_said(
    desk: httpx.Client, links: Links, installation: Installation, settings: Settings
) -> None:
    """Its place stays without a name or a figure; a link of which nothing is left is closed."""
    item = BoardItem("headline", 4, project="demo", slicer="delivery", name="Germany", params=GERMANY)
    both = BoardCopy([item, replace(item, slicer="campaigns", name="Secret name")], {})
    _, key = links("admin").make("", "", "Both", both.to_params())
    answer = opened(desk, key)
    assert "Impressions" in answer.text
    assert "View not available" in answer.text
    assert "Secret name" not in answer.text


def test_a_link_to_a_board_follows_a_renamed_slicer(
    desk: httpx.Client, links: Links, installation: Installation
) -> None:
    """As a link to a question does."""
    item = BoardItem("headline", 4, project="demo", slicer="delivery", name="Germany", params=GERMANY)
    _, key = links("admin").make("", "", "Board", BoardCopy([item], {}).to_params())
    before = opened(desk, key)
    dependents.rename(
        installation.warehouse, installation.access, ("demo", "delivery"), ("demo", "sales"), "admin", ()
    )
    after = opened(desk, key)
    figures = [re.findall("<b>([^<]+)</b>", answer.text) for answer in (before, after)]
    assert figures[0] == figures[1] != []
