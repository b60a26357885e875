"""Reads the files that say who may sell an inventory, strictly by line: what can't be read is reported.

Sources: IAB Tech Lab, ads.txt 1.1 (August 2022), app-ads.txt 1.0 (March 2019) and sellers.json 1.0 (July
2019). Which developer's domain an app belongs to is in no file of theirs: stores say it, and `apps.csv` has
it here. Files are read with limits, and nothing in them is followed or executed.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, get_args
from urllib.parse import urlsplit

from lib.wire.errors import ImportRefused
from lib.wire.text import unstorable

Kind = Literal["app-ads.txt", "ads.txt", "sellers.json", "apps.csv"]
KINDS: tuple[Kind, ...] = get_args(Kind)
ADS, APP_ADS, SELLERS, APPS = "ads.txt", "app-ads.txt", "sellers.json", "apps.csv"
MEGABYTE = 2**20
LIMITS = {
    ADS: (2 * MEGABYTE, 50_000),
    APP_ADS: (2 * MEGABYTE, 50_000),
    SELLERS: (32 * MEGABYTE, 300_000),
    APPS: (8 * MEGABYTE, 100_000),
}
"""Of each kind the most bytes, and the most lines (sellers, apps)."""
LONGEST_ACCOUNT, MOST_PROBLEMS, LONGEST_EXCERPT = 200, 100, 100
RELATIONS, SELLER_TYPES = ("DIRECT", "RESELLER"), ("PUBLISHER", "INTERMEDIARY", "BOTH")
VARIABLE = re.compile(r"([A-Za-z]+)\s*=(.*)")
SUBDOMAIN, OWNER, MANAGER, PARTNER = "subdomain", "ownerdomain", "managerdomain", "inventorypartnerdomain"
APP_COLUMNS = ("app", "bundle", "app_bundle", "bundle_id", "store_id")
DOMAIN_COLUMNS = ("domain", "developer_domain", "developer_url")
DOMAIN = re.compile(r"([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9-]{2,63}")
LONGEST_APP, LONGEST_DOMAIN = 200, 253
# Soft hyphens, zero-width characters and marks of direction come along when a line is copied from a page.
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_LINE_END = re.compile("\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Account:
    """An account in an advertising system. `relation` is DIRECT or RESELLER in ads.txt, the seller's type in
    sellers.json, where `domain` is the seller's (empty: confidential, or not said)."""

    system: str
    account: str
    relation: str
    domain: str = ""


@dataclass(frozen=True, slots=True)
class LineProblem:
    """A line (of sellers.json: a seller, by its place) that is not read, from 1, and why."""

    line: int
    text: str
    why: str


def file_title(kind: str, domain: str) -> str:
    """`ads.txt of news.example`."""
    return f"{kind} of {domain}" if domain else kind


@dataclass
class SupplyFile:
    """A file as it was read. `domain` is where it is published, empty for apps.csv.

    `records` counts its readable records: of ads.txt with none, nothing is known. `problem_count` counts the
    lines that can't be read; `problems` are the first of them.
    """

    kind: Kind
    domain: str
    accounts: dict[Account, None] = field(default_factory=dict)
    variables: dict[str, list[str]] = field(default_factory=dict)
    apps: dict[str, str] = field(default_factory=dict)
    records: int = 0
    problems: list[LineProblem] = field(default_factory=list)
    problem_count: int = 0

    def report(self, line: int, text: object, why: object) -> None:
        """Note a line that can't be read."""
        self.problem_count += 1
        if len(self.problems) < MOST_PROBLEMS:
            excerpt = "".join(
                character if character.isprintable() else "�" for character in str(text)[:LONGEST_EXCERPT]
            )
            self.problems.append(LineProblem(line, excerpt, f"{why}."))


def identify(path: str, host: str = "") -> tuple[Kind, str]:
    """The kind of a file and the domain that it is from, by its name: `news.example.ads.txt`,
    `news.example/ads.txt`, or `ads.txt` with the domain beside it.

    ImportRefused for a name that is none of these.
    """
    *folders, name = re.split(r"[/\\]", path)
    if name.lower() == APPS:
        return "apps.csv", ""
    for kind in KINDS:
        if name.lower() == kind:
            return kind, _host_of(name, host or (folders[-1] if folders else ""))
        if name.lower().endswith(f".{kind}"):
            return kind, _host_of(name, name[: -len(kind) - 1])
    raise ImportRefused(
        f"{name}: not the name of a supply file. Names are like news.example.ads.txt, "
        "news.example.app-ads.txt, exchange.example.sellers.json and apps.csv"
    )


def position(kind: str, number: int) -> str:
    """Where in a file a line is, or in sellers.json a seller: `line 58`, `the 58th seller`."""
    if kind != SELLERS:
        return f"line {number:,}"
    ends = {1: "st", 2: "nd", 3: "rd"}
    end = "th" if number % 100 in (11, 12, 13) else ends.get(number % 10, "th")
    return f"the {number:,}{end} seller"


def read(kind: Kind, host: str, data: bytes) -> SupplyFile:
    """The contents of a file. ImportRefused if it is too large, no text, or nothing of it can be read."""
    supply_file = SupplyFile(kind, host)
    most_bytes, most = LIMITS[kind]
    if len(data) > most_bytes:
        raise _refusal(supply_file, f"it is larger than {most_bytes // MEGABYTE} MB")
    if b"\0" in data:
        raise _refusal(supply_file, "it is not text")
    text = _INVISIBLE.sub("", data.decode(errors="replace"))
    for count, _ in enumerate(READERS[kind](supply_file, text), start=1):
        if count > most:
            what = "sellers" if kind == SELLERS else "lines"
            raise _refusal(supply_file, f"it has more than {most:,} {what}")
    is_empty = not (supply_file.records or supply_file.variables or supply_file.apps)
    if is_empty and supply_file.problems:
        first = supply_file.problems[0]
        where = position(kind, first.line).capitalize()
        raise _refusal(supply_file, f"nothing of it can be read. {where}: {first.why.rstrip('.')}")
    return supply_file


def _read_ads(supply_file: SupplyFile, text: str) -> Iterator[None]:
    """Reads ads.txt and app-ads.txt, a step for each line."""
    for number, line in enumerate(_LINE_END.split(text), start=1):
        yield
        content = line.partition("#")[0].strip()
        try:
            if match := VARIABLE.match(content):
                _take_variable(supply_file, match[1].lower(), match[2].strip())
            elif content:
                # `exchange.example, 1234, DIRECT, f08c47fec0942fa0; extension`; the fourth field is
                # optional.
                fields = [part.strip() for part in content.partition(";")[0].split(",")]
                if len(fields) < 3:
                    raise ValueError("A record has three fields or four, with commas between them")
                system, account, relation = _system(fields[0]), fields[1], fields[2].upper()
                if relation not in RELATIONS:
                    raise ValueError("The third field is DIRECT or RESELLER")
                supply_file.accounts[Account(system, _account(account), relation)] = None
                supply_file.records += 1  # a record counts once all of it can be read
        except ValueError as error:
            supply_file.report(number, content, error)


def _take_variable(supply_file: SupplyFile, name: str, text: str) -> None:
    """Keep the variables that say something about who sells; of MANAGERDOMAIN the domain alone."""
    if name not in (SUBDOMAIN, OWNER, MANAGER, PARTNER):
        return
    if name == SUBDOMAIN and supply_file.kind == APP_ADS:
        return  # app-ads.txt 1.0: to be ignored
    host = _system(text.partition(",")[0].strip())
    if name == SUBDOMAIN and not host.endswith(f".{supply_file.domain}"):
        raise ValueError(f"Not a subdomain of {supply_file.domain}")
    hosts = supply_file.variables.setdefault(name, [])
    if host not in hosts and not (name == OWNER and hosts):  # of several owners the first counts
        hosts.append(host)


def _read_sellers(supply_file: SupplyFile, text: str) -> Iterator[None]:
    try:
        document = json.loads(text)
    except RecursionError:
        raise _refusal(supply_file, "it is nested too deeply") from None
    except ValueError as error:
        raise _refusal(supply_file, f"it is not JSON: {error}") from None
    sellers = document.get("sellers") if isinstance(document, dict) else None
    if not isinstance(sellers, list):
        raise _refusal(supply_file, 'it has no list "sellers"')
    ids: set[str] = set()
    for number, seller in enumerate(sellers, start=1):
        yield
        try:
            if not isinstance(seller, dict):
                raise ValueError("A seller is a JSON object")
            seller_id, kind, host = (seller.get(name) for name in ("seller_id", "seller_type", "domain"))
            if isinstance(seller_id, bool) or not isinstance(seller_id, str | int):
                raise ValueError("It has no seller_id")
            if not isinstance(kind, str) or kind.upper() not in SELLER_TYPES:
                raise ValueError(f"seller_type is {', '.join(SELLER_TYPES[:-1])} or {SELLER_TYPES[-1]}")
            name = ""
            if isinstance(host, str) and seller.get("is_confidential") not in (1, "1", True):
                with suppress(ValueError):
                    name = domain(host)
            account = Account(supply_file.domain, _account(str(seller_id).strip()), kind.upper(), name)
            if account.account in ids:
                raise ValueError("This seller_id is there twice; the first one counts")
        except ValueError as error:
            supply_file.report(number, seller.get("seller_id") if isinstance(seller, dict) else seller, error)
            continue
        ids.add(account.account)
        supply_file.records += 1
        supply_file.accounts[account] = None


def _read_apps(supply_file: SupplyFile, text: str) -> Iterator[None]:
    """Reads apps.csv: the developer's domain of each app, as its store shows it."""
    try:
        rows = csv.DictReader(io.StringIO(text, newline=""), restkey="more", restval="", strict=True)
        titles = {(name or "").strip().lower(): name for name in rows.fieldnames or ()}
        app_name = next((titles[column] for column in APP_COLUMNS if column in titles), None)
        domain_name = next((titles[column] for column in DOMAIN_COLUMNS if column in titles), None)
        if app_name is None or domain_name is None:
            raise _refusal(supply_file, "its first line must name the columns app and domain")
        for row in rows:
            yield
            try:
                if not (bundle := row[app_name].strip()):
                    raise ValueError("It has no app")
                # The host of a developer's site, without www. or m. (app-ads.txt 1.0).
                host = domain(row[domain_name].strip())
                prefix = next((prefix for prefix in ("www.", "m.") if host.startswith(prefix)), "")
                developer = host.removeprefix(prefix) if host.count(".") > 1 else host
                supply_file.apps[app(bundle)] = developer
                supply_file.records += 1
            except ValueError as error:
                supply_file.report(rows.line_num, ", ".join(map(str, row.values())), error)
    except csv.Error as error:
        raise _refusal(supply_file, f"it is not CSV: {error}") from None


def _system(text: str) -> str:
    """A domain of an advertising system, in lower case."""
    host = text.lower().rstrip(".")
    if DOMAIN.fullmatch(host):
        return host
    if re.search(r"[/:@?\s]", text):
        raise ValueError("The first field is a domain name, without anything else" if text else "No domain")
    return domain(text)


def _account(text: str) -> str:
    if not text:
        raise ValueError("The account id is empty")
    if len(text) > LONGEST_ACCOUNT or unstorable(text) or "�" in text:
        raise ValueError("Not an account id")
    return text


def _host_of(name: str, host: str) -> str:
    try:
        return domain(host)
    except ValueError:
        raise ImportRefused(
            f"{name}: say which domain it is from, by its name (news.example.{name.lower()}), by its folder "
            "or beside it"
        ) from None


def _refusal(supply_file: SupplyFile, why: str) -> ImportRefused:
    return ImportRefused(f"{file_title(supply_file.kind, supply_file.domain)} was not imported: {why}")


READERS: Mapping[Kind, Callable[[SupplyFile, str], Iterator[None]]] = {
    "ads.txt": _read_ads,
    "app-ads.txt": _read_ads,
    "sellers.json": _read_sellers,
    "apps.csv": _read_apps,
}


def domain(text: str) -> str:
    """`https://Example.org/news` → `example.org`; ValueError says what is wrong."""
    host = (urlsplit(text if "//" in text else f"//{text}").hostname or "").rstrip(".")
    try:
        name = host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        raise ValueError("Not a domain name") from None
    if "." not in name:
        raise ValueError("Not a domain name: it has no dot")
    if len(name) > LONGEST_DOMAIN or not DOMAIN.fullmatch(name):
        raise ValueError("Not a domain name")
    if name.rpartition(".")[2].isdigit():
        raise ValueError("An IP address, not a domain name")
    return name


def app(text: str) -> str:
    """A bundle or a store's number as it is; ValueError says what is wrong."""
    if any(character.isspace() for character in text):
        raise ValueError("An app id has no spaces")
    if not text.isprintable() or len(text) > LONGEST_APP:
        raise ValueError("Not an app id")
    return text
