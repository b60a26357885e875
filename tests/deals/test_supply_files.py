"""Supply files: each line of the standards by its meaning, a made folder, hostile files, grants."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sqlalchemy import Engine

from lib import database
from lib.cli import main
from lib.deals.supply.formats import LIMITS, identify, read
from lib.deals.supply.states import SupplyIndex
from lib.deals.supply.store import SupplyFiles, folder_files
from lib.people import ALL_DEALS, DealsGrant, Person
from lib.wire.errors import Forbidden, ImportRefused

US = "exchange.example"
SELLERS = {
    "sellers": [
        {"seller_id": "10", "seller_type": "PUBLISHER", "domain": "news.example"},
        {"seller_id": "20", "seller_type": "intermediary", "domain": "house.example"},
        {"seller_id": 30, "seller_type": "BOTH", "is_confidential": 1, "domain": "hidden.example"},
    ]
}
DIRECT, RESELLER = ("direct", ""), ("reseller", "")
UNKNOWN, NOT_US = ("unknown", ""), ("unauthorized", "")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """A database of its own."""
    database_engine = database.engine(f"sqlite:///{tmp_path_factory.mktemp('supply') / 'tranche.db'}")
    database.migrate(database_engine)
    return database_engine


@pytest.fixture
def files(engine: Engine) -> SupplyFiles:
    """The supply files of a desk that has none, as the command line has them."""
    empty = SupplyFiles(engine, None)
    empty.remove([supply_file.id for supply_file in empty.files()[1]])
    return empty


def index(files: SupplyFiles, **texts: str) -> SupplyIndex:
    """The index with our sellers.json and these ads.txt: `news` is that of news.example."""
    ads = [(f"{name.replace('_', '.')}.example.ads.txt", text.encode()) for name, text in texts.items()]
    outcomes = files.add([(f"{US}.sellers.json", json.dumps(SELLERS).encode()), *ads])
    assert [outcome.refusal for outcome in outcomes] == [""] * (len(ads) + 1)
    return files.index()


LINES = [
    (f"{US}, 10, DIRECT", DIRECT, 0),
    (f"{US},10,direct,f08c47fec0942fa0", DIRECT, 0),
    (f"\ufeff  {US.upper()} ,\t10 , Direct # our line", DIRECT, 0),
    (f"{US}, 10, DIRECT; an extension, with=this", DIRECT, 0),
    (f"{US}, 20, RESELLER", RESELLER, 0),
    (f"{US}, 30, RESELLER", RESELLER, 0),
    (f"{US}, 30, DIRECT", DIRECT, 0),
    (f"{US}, 20, RESELLER\n{US}, 10, DIRECT", DIRECT, 0),
    (f"{US}, 20, DIRECT", ("direct", "The line says DIRECT, our sellers.json says INTERMEDIARY."), 0),
    (f"managerdomain=house.example, DE\n{US}, 20, DIRECT", DIRECT, 0),
    (f"{US}, 10, RESELLER", ("reseller", "The line says RESELLER, our sellers.json says PUBLISHER."), 0),
    (f"{US}, 20, DIRECT\n{US}, 30, DIRECT", DIRECT, 0),
    (
        f"OwnerDomain=other.example\nownerdomain=news.example\n{US}, 10, DIRECT",
        (
            "direct",
            "Our sellers.json says that the account is of news.example, the site's owner is other.example.",
        ),
        0,
    ),
    (f"{US}, 99, DIRECT", NOT_US, 0),
    ("rival.example, 10, DIRECT", NOT_US, 0),
    ("placeholder.example.com, placeholder, DIRECT, placeholder", NOT_US, 0),
    ("", UNKNOWN, 0),
    ("# no record\ncontact=ads@news.example\n", UNKNOWN, 0),
    (
        f"{US}, 10, DIRECT\n{US}, 10\n{US}, , DIRECT\n{US}, 10, OWNER\nhttps://a.example/, 1, DIRECT",
        DIRECT,
        4,
    ),
    (f"subdomain=elsewhere.example\n{US}, 10, DIRECT", DIRECT, 1),
    ("inventorypartnerdomain=partner.example\nrival.example, 1, DIRECT", UNKNOWN, 0),
    ("future=1\nrival.example, 1, DIRECT", NOT_US, 0),
]


@pytest.mark.parametrize(("text", "expected", "problems"), LINES)
def test_lines_of_ads_txt(files: SupplyFiles, text: str, expected: tuple[str, str], problems: int) -> None:
    """A line means what ads.txt 1.1 says, whatever its case and blanks; unreadable ones are counted."""
    state = index(files, news=text).state("news.example", False)
    assert (state.state, state.doubt) == expected
    assert sum(file.problem_count for file in files.files("news")[1]) == problems


def test_problems_have_their_line(files: SupplyFiles) -> None:
    """A line that can't be read is reported by its number, its text and the reason."""
    index(files, news=f"# head\n{US}, 10, DIRECT\n\nno record\n")
    [problem] = files.files("news.example")[1][0].problems
    assert (problem.line, problem.text) == (4, "no record")
    assert problem.why == "A record has three fields or four, with commas between them."


def test_subdomains_and_partners(files: SupplyFiles) -> None:
    """The root's file counts for its hosts, but for a subdomain that it refers to; partners may authorize."""
    by = index(
        files,
        news=f"{US}, 10, DIRECT\nsubdomain=own.news.example\nsubdomain=gone.news.example",
        own_news="rival.example, 1, DIRECT",
        other_news="rival.example, 1, DIRECT",
        tv="rival.example, 1, DIRECT\ninventorypartnerdomain=news.example",
    )
    names = (
        "news.example",
        "WWW.news.example",
        "other.news.example",
        "a.own.news.example",
        "gone.news.example",
    )
    states = [by.state(name, False).state for name in names]
    assert states == ["direct", "direct", "direct", "unauthorized", "unknown"]
    assert [by.state(name, False).state for name in ("tv.example", "nowhere.example", "")] == [
        "direct", "unknown", "unknown",
    ]  # fmt: skip


def test_apps(files: SupplyFiles) -> None:
    """An app is judged by the app-ads.txt of its developer's host, else of the domain above it."""
    apps = "Bundle,Developer_URL\na.app,https://www.dev.example/x\nb.app,sub.dev.example\nc.app,news.example\n,x\n"
    files.add(
        [
            ("dev.example/app-ads.txt", f"subdomain=sub.dev.example\n{US}, 20, RESELLER".encode()),
            ("apps.csv", apps.encode()),
        ]
    )
    by = index(files, news=f"{US}, 10, DIRECT")
    states = [by.state(app, True).state for app in ("a.app", "b.app", "c.app", "d.app")]
    assert states == ["reseller", "reseller", "unknown", "unknown"]
    assert files.files("apps.csv")[1][0].problem_count == 1


def test_a_made_folder(files: SupplyFiles, tmp_path: Path) -> None:
    """Of 200 sites with planted states all are found, and none without our sellers.json."""
    draw, planted = np.random.default_rng(5), {}
    lines = {
        "direct": f"{US}, 30, DIRECT",
        "reseller": f"{US}, 20, RESELLER",
        "unauthorized": "rival.example, 1, DIRECT",
    }
    for number in range(200):
        host = f"site-{number}.example"
        planted[host] = state = str(draw.choice([*lines, "unknown"]))
        if state != "unknown":
            noise = [f"rival-{n}.example, {n}, {draw.choice(('DIRECT', 'RESELLER'))}" for n in range(50)]
            text = "\n".join(draw.permutation([*noise, lines[state]]))
            path = tmp_path / (f"{host}/ads.txt" if number % 2 else f"deep/{host}.ads.txt")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    (tmp_path / "notes.rtf").write_text("not a supply file")
    os.mkfifo(tmp_path / "pipe.example.ads.txt")
    names, others = folder_files(tmp_path)
    assert (len(names), others) == (sum(state != "unknown" for state in planted.values()), 2)
    files.add(names)
    assert {files.index().state(host, False).state for host in planted} == {"unknown"}
    by = index(files)
    assert {host: by.state(host, False).state for host in planted} == planted


NESTED = b'{"sellers": ' + b"[" * 200_000
HOSTILE = [
    ("news.example.ads.txt", b"\x00\x01" * 50, "it is not text"),
    ("news.example.ads.txt", b"\x89PNG\r\n\x1a\n" + bytes(range(128, 256)), "nothing of it can be read"),
    ("news.example.ads.txt", b"<!doctype html>\n<p>Not found</p>", "nothing of it can be read. Line 1"),
    *(
        (
            "news.example.ads.txt",
            b"exchange.example, " + account + b", DIRECT",
            "nothing of it can be read. Line 1",
        )
        for account in (b"", b"\xff", b"9" * 201)
    ),
    ("news.example.ads.txt", b"#" * (LIMITS["ads.txt"][0] + 1), "larger than 2 MB"),
    ("news.example.ads.txt", b"\n" * 50_001, "more than 50,000 lines"),
    ("exchange.example.sellers.json", b'{"sellers": [}', "not JSON"),
    ("exchange.example.sellers.json", NESTED, "nested too deeply"),
    ("exchange.example.sellers.json", b'{"sellers": {"seller_id": 1}}', 'no list "sellers"'),
    ("exchange.example.sellers.json", b'{"sellers": [{"seller_id": ' + b"9" * 5_000 + b"}]}", "not JSON"),
    (
        "exchange.example.sellers.json",
        b'{"sellers": [7, {}, {"seller_id": "1"}]}',
        "The 1st seller: A seller is a JSON",
    ),
    ("apps.csv", b"name,site\na,b", "columns app and domain"),
    ("apps.csv", b'app,domain\n"' + b"x" * 200_000, "not CSV"),
    ("ads.txt", b"x.example, 1, DIRECT", "say which domain it is from"),
    ("not a domain.ads.txt", b"x.example, 1, DIRECT", "say which domain it is from"),
    ("../../etc/passwd", b"root", "not the name of a supply file"),
]


@pytest.mark.parametrize(("name", "data", "why"), HOSTILE)
def test_hostile_files_change_nothing(files: SupplyFiles, name: str, data: bytes, why: str) -> None:
    """A file that is huge, binary, broken, too deep or badly named is refused in a sentence, and the one of
    before stays."""
    before = index(files, news=f"{US}, 10, DIRECT"), files.version()
    [outcome] = files.add([(name, data)])
    assert why in outcome.refusal
    assert (files.index(), files.version()) == before


def test_one_file_in_place_of_another(database_url: str) -> None:
    """On both databases a file replaces that of its kind and domain; one that is removed takes its lines."""
    database.migrate(database.engine(database_url))
    files = SupplyFiles(database.engine(database_url), None)
    assert index(files, news="rival.example, 1, DIRECT").state("news.example", False).state == "unauthorized"
    by = index(files, news=f"{US}, 10, DIRECT")
    assert (by.state("news.example", False).state, files.files()[0]) == ("direct", 2)
    files.remove([file.id for file in files.files("sellers.json")[1]])
    assert files.index().state("news.example", False).state == "unknown"


def test_sellers_json() -> None:
    """Sellers are read by id and type; a confidential one has no domain; the second of one id is reported."""
    twice = {"sellers": [*SELLERS["sellers"], {"seller_id": "10", "seller_type": "BOTH"}]}
    supply_file = read("sellers.json", US, json.dumps(twice).encode())
    assert [(account.account, account.relation, account.domain) for account in supply_file.accounts] == [
        ("10", "PUBLISHER", "news.example"), ("20", "INTERMEDIARY", "house.example"), ("30", "BOTH", ""),
    ]  # fmt: skip
    assert [(problem.line, problem.text) for problem in supply_file.problems] == [(4, "10")]


def test_lines_copied_from_a_page() -> None:
    """Invisible characters are no part of an account or a relation, and only line feeds and returns end a
    line."""
    text = (
        f"{US}, 101\u200b, DIRECT\n{US}, 1\u00ad02, RESELLER\ufeff\r\n"
        f"{US}, 103, DIRECT # a\u2028b\u0085c\x0cd\r{US}, 104, DIRECT"
    )
    supply_file = read("ads.txt", "news.example", text.encode())
    assert [(line.account, line.relation) for line in supply_file.accounts] == [
        ("101", "DIRECT"), ("102", "RESELLER"), ("103", "DIRECT"), ("104", "DIRECT"),
    ]  # fmt: skip
    assert supply_file.problem_count == 0
    sellers = {"sellers": [{"seller_id": "2\u200b0", "seller_type": "BOTH\u00ad"}]}
    (account,) = read("sellers.json", US, json.dumps(sellers, ensure_ascii=False).encode()).accounts
    assert (account.account, account.relation) == ("20", "BOTH")


def test_sites_below_a_public_suffix(files: SupplyFiles) -> None:
    """What is hosted below github.io is judged by its own file, never by that of its host."""
    index(files)
    files.add([("github.io.ads.txt", f"{US}, 10, DIRECT".encode())])
    files.add([("mine.github.io.ads.txt", f"{US}, 20, RESELLER".encode())])
    by = files.index()
    hosts = ("mine.github.io", "www.mine.github.io", "yours.github.io", "github.io")
    assert [by.state(host, False).state for host in hosts] == ["reseller", "reseller", "unknown", "direct"]


def test_names() -> None:
    """The kind and domain of a file are in its name, its folder or beside it."""
    assert identify("News.example.ads.txt") == ("ads.txt", "news.example")
    assert identify("crawl\\news.example\\app-ads.txt") == ("app-ads.txt", "news.example")
    assert identify("sellers.json", US) == ("sellers.json", US)
    with pytest.raises(ImportRefused, match="not the name"):
        identify("news.txt")


def test_who_may(files: SupplyFiles) -> None:
    """Whoever sees deals sees the files; those who may change the deals of all seats alone change them."""
    index(files)
    grants = {"none": DealsGrant(), "read": DealsGrant("read"), "some": DealsGrant("write", frozenset({3}))}
    people = {name: Person(name, name, None, "manager", deals=grant) for name, grant in grants.items()}
    for name, person in people.items():
        theirs = SupplyFiles(files.engine, person)
        for act in (lambda of=theirs: of.add([]), lambda of=theirs: of.remove([1])):
            with pytest.raises(Forbidden):
                act()
        if name == "none":
            with pytest.raises(Forbidden):
                theirs.index()
        else:
            assert theirs.files()[0] == 1
    noted: list[str] = []
    ada = Person("ada", "Ada", None, "manager", deals=ALL_DEALS)
    SupplyFiles(files.engine, ada, lambda event, detail: noted.append(f"{event}: {detail}")).remove(
        [supply_file.id for supply_file in files.files()[1]]
    )
    assert noted == [f"supply file removed: 1 file: sellers.json of {US}"]


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`tranche supply` imports what can be read, says what was not, and fails if a file was refused."""
    monkeypatch.setenv("TRANCHE_HOME", str(tmp_path / "home"))
    crawl = tmp_path / "crawl"
    crawl.mkdir()
    (crawl / "news.example.ads.txt").write_text(f"{US}, 10, DIRECT\nbroken\n")
    answer = CliRunner().invoke(main, ["supply", str(crawl)])
    assert answer.exit_code == 0, answer.output
    assert answer.stdout.splitlines()[1].split() == ["ads.txt", "1", "1", "1"]
    assert "news.example.ads.txt, line 2: A record has three fields" in answer.stderr
    (crawl / "cats.example.ads.txt").write_bytes(b"\0")
    answer = CliRunner().invoke(main, ["supply", str(crawl)])
    assert (answer.exit_code, "1 of 2 files were refused" in answer.stderr) == (1, True)
