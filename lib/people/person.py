"""A person, their role, their grants, their permission for deals, and their record in the database.

A grant opens a project, or one slicer of it, and of the slicer maybe only the rows that pass its filters.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal, Self, get_args

from pydantic import TypeAdapter, ValidationError

from lib.wire import text
from lib.wire.errors import BadRequest, Damaged, Forbidden, TrancheError, UnknownName
from lib.wire.filters import Filter, describe

DealsAccess = Literal["none", "sync", "read", "propose", "write"]
LEVELS: tuple[DealsAccess, ...] = get_args(DealsAccess)
LARGEST_SEAT = 2**53 - 1
DEALS_GRANT_HELP = (
    "write none, read, propose or write, and for some seats their ids: read:3,7; for a DSP's seats: sync:3,7"
)
READ_ONLY = "You can see deals, but not change them"
Role = Literal["viewer", "manager", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
LONGEST_NAME = 64
BY_AN_ADMIN = "by an administrator"
Username = re.compile(rf"[a-z0-9][a-z0-9._@+-]{{0,{LONGEST_NAME - 1}}}")
EVERYTHING, FILTERS_BEGIN = "*", "/[{"
MOST_FILTERS, LONGEST = 20, 100_000
GRANT_HELP = "write project, project/slicer, project/slicer/[filters as JSON], or * for everything"
_FILTERS = TypeAdapter(tuple[Filter, ...])
Record = dict[str, Any]
Records = dict[str, Record]
COMPANY, BLOCK_KEY, END_KEY = "company", "blocked", "ended"
NO_RULE, UNTIL = "no rule matches", "until the next company sign-in"
COMPANY_ONLY = (
    "'{}' signs in with a company account: their role and grants come from the rules in the settings at each "
    "sign-in, and they have no password here"
)
Hash = re.compile(r"\$2[aby]\$\d\d\$.{53}")


@dataclass(frozen=True, slots=True)
class Grant:
    """A project, or one slicer of it. The project `*` is all.

    As text `project`, `project/slicer`, or `project/slicer/[{"name": …, "value": […], "match": …}]` with the
    filter objects of the reporting API. Of several filters all hold.
    """

    project: str
    slicer: str | None = None
    filters: tuple[Filter, ...] = ()

    def __post_init__(self) -> None:
        if not self.project or self.slicer == "" or (self.project == EVERYTHING and self.slicer is not None):
            raise BadRequest(f"'{self}' is not a grant: {GRANT_HELP}")
        if not text.DOTS.isdisjoint((self.project, self.slicer)):
            raise BadRequest(f"'{self}' is not a grant: no project or slicer is called . or ..")
        if self.filters and self.slicer is None:
            raise BadRequest(f"Filters belong to one slicer: grant {self.project}/SLICER with them")
        if len(self.filters) > MOST_FILTERS or len(str(self)) > LONGEST:
            raise BadRequest(f"A grant has at most {MOST_FILTERS} filters, and {LONGEST:,} characters")
        for filter_ in self.filters:
            if not filter_.value:
                raise BadRequest(f"The filter on {filter_.name} needs a value")

    @classmethod
    def parse(cls, grant: str) -> Self:
        """The grant that a text means; BadRequest for another text."""
        project, slash, rest = grant.strip().partition("/")
        slicer, has_filters, filters = rest.partition(FILTERS_BEGIN)
        own = parse_filters(f"{FILTERS_BEGIN[1:]}{filters}") if has_filters else ()
        return cls(project, slicer if slash else None, own)

    def __str__(self) -> str:
        if not self.filters:
            return self.place
        return f"{self.place}/{_FILTERS.dump_json(self.filters, exclude_defaults=True).decode()}"

    @property
    def place(self) -> str:
        """Project and slicer alone, as text."""
        return self.project if self.slicer is None else f"{self.project}/{self.slicer}"

    @property
    def label(self) -> str:
        """It for people to read: `demo/curation (only seat equals 3, 7)`."""
        return f"{self.place} (only {describe(self.filters)})" if self.filters else self.place

    def covers(self, project: str, slicer: str | None = None) -> bool:
        """Whether the slicer lies within this grant; without a slicer: whether the whole project does."""
        return self.project == EVERYTHING or (self.project == project and self.slicer in (None, slicer))

    def is_for(self, pair: tuple[str, str]) -> bool:
        """Whether it is for this slicer (project, name) alone, for all of its rows or some."""
        return (self.project, self.slicer) == pair


def parse_filters(filters_text: str) -> tuple[Filter, ...]:
    """The filters of a JSON list of filter objects; BadRequest for another text, or none in it.

    For the keyboard also one object, or `name=value,value` for a filter by equal values without commas.
    """
    name, equals, values = filters_text.partition("=")
    if equals and not filters_text.startswith(("[", "{")):
        return (Filter(name=name.strip(), value=tuple(values.split(",")), match="equals"),)
    is_one = filters_text.startswith("{")
    try:
        filters = _FILTERS.validate_json(f"[{filters_text}]" if is_one else filters_text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise BadRequest(f"These are no filters: {f'{where}: ' if where else ''}{first['msg']}") from None
    if not filters:
        raise BadRequest("The list of filters is empty; leave it out to grant all rows")
    return filters


def labels(grants: Iterable[Grant]) -> str:
    """Several of them for people to read; empty without any."""
    return ", ".join(grant.label for grant in grants)


def row_filters(grants: Iterable[Grant], project: str, slicer: str) -> tuple[Filter, ...]:
    """The filters of the grants for this very slicer, all of which hold.

    A grant for its whole project beside them does not lift them: whoever narrows one slicer means it.
    """
    own = [grant for grant in grants if (grant.project, grant.slicer) == (project, slicer)]
    return tuple(dict.fromkeys(filter_ for grant in own for filter_ in grant.filters))


def with_grants(grants: Iterable[Grant], more: tuple[Grant, ...]) -> list[Grant]:
    """The grants and more of them, each in place of one for the same project or slicer."""
    places = {grant.place for grant in more}
    others = (grant for grant in grants if grant in more or grant.place not in places)
    return [*dict.fromkeys((*others, *more))]


def without_places(grants: Iterable[Grant], others: Iterable[Grant]) -> list[Grant]:
    """The grants but those for the projects and slicers of the others, whatever their filters."""
    places = {grant.place for grant in others}
    return [grant for grant in grants if grant.place not in places]


def with_name(grants: Iterable[Grant], pair: tuple[str, str], to: tuple[str, str]) -> list[Grant]:
    """The grants, and those for one slicer (project, name) a second time, under another name."""
    result: list[Grant] = []
    for grant in grants:
        result += [grant, replace(grant, project=to[0], slicer=to[1])] if grant.is_for(pair) else [grant]
    return [*dict.fromkeys(result)]


def without_slicer(grants: Iterable[Grant], pair: tuple[str, str]) -> list[Grant]:
    """The grants once there is no slicer of this name any more.

    Filters stay that narrow what another of the grants opens: a slicer may get that name again, and only an
    administrator lifts them.
    """
    own = list(grants)
    is_open = any(grant.covers(*pair) for grant in own if not grant.is_for(pair))
    return [grant for grant in own if not grant.is_for(pair) or (grant.filters and is_open)]


@dataclass(frozen=True, slots=True)
class DealsGrant:
    """What may be done with the deals of all seats (`seats` is None), or of the seats of these ids.

    `none`, `read`, `propose` (read, and propose changes that somebody else approves) or `write`. As text
    `write`, or `read:3,7`. `sync:3,7` is for a DSP: it fetches the documents of its seats' deals and reports
    their status, and sees nothing else. It names its seats: a DSP sees no other's deals.
    """

    access: DealsAccess = "none"
    seats: frozenset[int] | None = None

    def __post_init__(self) -> None:
        if self.access not in LEVELS:
            raise BadRequest(f"'{self.access}' is not a grant for deals: {DEALS_GRANT_HELP}")
        if self.access == "none" or self.seats == frozenset():
            object.__setattr__(self, "access", "none")
            object.__setattr__(self, "seats", None)
        if self.access == "sync" and self.seats is None:
            raise BadRequest(f"'{self.access}' is not a grant for deals: {DEALS_GRANT_HELP}")
        if any(not 0 < seat <= LARGEST_SEAT for seat in self.seats or ()):
            raise BadRequest(f"The id of a seat is a whole number from 1: {DEALS_GRANT_HELP}")

    @classmethod
    def parse(cls, grant: str) -> Self:
        """The grant that a text like `write` or `read:3,7` means; BadRequest for another text."""
        form = r"(none|(?:sync|read|propose|write)(?::([0-9]{1,16}(?:,[0-9]{1,16})*))?)"
        match = re.fullmatch(form, grant.strip())
        if match is None:
            raise BadRequest(f"'{grant}' is not a grant for deals: {DEALS_GRANT_HELP}")
        access: DealsAccess = grant.strip().partition(":")[0]  # type: ignore[assignment]
        return cls(access, None if match[2] is None else frozenset(map(int, match[2].split(","))))

    def __str__(self) -> str:
        if self.seats is None:
            return self.access
        return f"{self.access}:{','.join(map(str, sorted(self.seats)))}"

    @property
    def words(self) -> str:
        """The permission in words that follow "may" in a sentence."""
        if not self.opens:
            return "see no deals"
        verbs = {"read": "see", "propose": "see, and propose changes of,", "write": "change"}
        verb = verbs.get(self.access, "fetch by deal sync")
        if self.seats is None:
            return f"{verb} all deals"
        ids = ", ".join(map(str, sorted(self.seats)))
        return f"{verb} the deals of the seat{'' if len(self.seats) == 1 else 's'} {ids}"

    @property
    def opens(self) -> bool:
        """Whether it allows anything at all."""
        return self.access != "none"

    @property
    def syncs(self) -> bool:
        """Whether it is a DSP's: for deal sync, and nothing else."""
        return self.access == "sync"

    @property
    def reads(self) -> bool:
        """Whether any deals may be seen."""
        return self.access in ("read", "propose", "write")

    @property
    def proposes(self) -> bool:
        """Whether changes may be proposed."""
        return self.access in ("propose", "write")

    @property
    def writes(self) -> bool:
        """Whether any deals may be changed."""
        return self.access == "write"

    def within(self, other: "DealsGrant | None") -> "DealsGrant":
        """The intersection of both; None allows everything."""
        if other is None:
            return self
        access = min(self.access, other.access, key=LEVELS.index)
        if self.seats is None or other.seats is None:
            return DealsGrant(access, other.seats if self.seats is None else self.seats)
        return DealsGrant(access, self.seats & other.seats)


NO_DEALS, ALL_DEALS = DealsGrant("none"), DealsGrant("write")
READERS: dict[Role, DealsGrant] = {"viewer": DealsGrant("propose")}
"""Roles that may not change deals, whatever is granted, and the most that they may do with them."""


@dataclass(frozen=True, slots=True)
class Person:
    """A person who may sign in. Tokens older than `added` belonged to an earlier person of that name.

    `deals` is what they may do with deals; an admin may change all of them, a viewer at most read. `company`
    is the issuer of the account that they sign in with, instead of a password; `blocked` says why they can't.
    `shares`: they are granted to make share links, which people without an account open. `within` are the
    grants of what acts in their name, such as a share link: it opens no more than these and they both do.
    """

    username: str
    name: str
    email: str | None
    role: Role
    grants: tuple[Grant, ...] = ()
    added: datetime | None = None
    deals: DealsGrant = NO_DEALS
    company: str = ""
    blocked: str = ""
    shares: bool = False
    within: tuple[Grant, ...] | None = None

    def __post_init__(self) -> None:
        if not Username.fullmatch(self.username):
            raise BadRequest(
                f"'{self.username}' can't be a user name: up to 64 lower-case letters, digits and . _ @ + -, "
                "beginning with a letter or digit"
            )
        if self.role not in ROLES:
            raise UnknownName("role", self.role, ROLES)
        if self.role == "admin":
            object.__setattr__(self, "deals", ALL_DEALS)
        if self.deals != cap_grant(self.role, self.deals):
            advice = "grant read or propose, or make them a manager"
            raise BadRequest(f"A {self.role} can't change deals: {advice}")

    @property
    def is_shut_out(self) -> bool:
        """Whether an administrator has blocked this person's company account."""
        return self.blocked == BY_AN_ADMIN

    @property
    def may_share(self) -> bool:
        """Whether they may make share links; an admin may."""
        return self.shares or self.role == "admin"

    def had_name(self, at: datetime) -> bool:
        """Whether the name was theirs at that time: what is older is an earlier person's of the same name."""
        return self.added is None or at >= self.added

    def check_writes_deals(self) -> None:
        """Forbidden for who may not change deals."""
        if not self.deals.writes:
            raise Forbidden(READ_ONLY)

    def may_see(self, project: str, slicer: str | None = None) -> bool:
        """Whether the slicer (without one: the whole project) is granted; an admin sees everything."""
        if self.within is not None and not any(grant.covers(project, slicer) for grant in self.within):
            return False
        return self.role == "admin" or any(grant.covers(project, slicer) for grant in self.grants)

    def row_filters(self, project: str, slicer: str) -> tuple[Filter, ...]:
        """The filters that the rows of a granted slicer have to pass; an admin sees every row."""
        own = () if self.role == "admin" else self.grants
        return row_filters((*own, *(self.within or ())), project, slicer)

    def rows_key(self, project: str, slicer: str) -> str:
        """A text that differs once the person may see other rows of a slicer; empty where they see none.

        To be stored beside a figure that was computed for them, and compared when it is shown.
        """
        if not self.may_see(project, slicer):
            return ""
        return hashlib.sha256(_FILTERS.dump_json(self.row_filters(project, slicer))).hexdigest()


def name_fault(name: str) -> str:
    """Why a user name is not valid, as a sentence; empty if it is."""
    wrong = text.fault(name)
    return f"This {wrong}." if wrong else ""


def email_fault(email: str) -> str:
    """Why this can't be a person's e-mail address, in a sentence; empty if it can, or where there is none."""
    return "" if not email or text.is_email(email) else "Not an e-mail address."


def cap_grant(role: Role, deals: DealsGrant) -> DealsGrant:
    """The grant if the role allows it, else no more of it than to see deals."""
    return deals if deals == deals.within(READERS.get(role)) else deals.within(DealsGrant("read"))


def usual(role: Role) -> DealsGrant:
    """The permission for deals that a role has unless another is given: all that it can have."""
    return cap_grant(role, ALL_DEALS)


def key(username: str) -> str:
    """The normalized user name, as streamlit-authenticator normalizes it too."""
    return username.strip().lower()


def record_of(person: Person) -> Record:
    """The record of a new person, but for the password."""
    return {
        "name": person.name,
        "email": person.email,
        "roles": [person.role],
        "grants": [str(grant) for grant in person.grants],
        "deals": str(person.deals),
        "shares": person.shares,
        "added": (person.added or datetime.now(UTC)).isoformat(),
    }


def person_of(username: str, record: Record) -> Person:
    """The person that a record describes; Damaged names the entry that can't be read."""
    try:
        role = (record.get("roles") or ["viewer"])[0]
        # YAML gave a time as text or as a time; without a zone it is UTC.
        since = datetime.fromisoformat(str(record["added"])) if record.get("added") else None
        return Person(
            username=username, name=record.get("name") or username, email=record.get("email"), role=role,
            grants=tuple(map(Grant.parse, record.get("grants") or ())),
            deals=cap_grant(role, DealsGrant.parse(str(record.get("deals") or "none"))),
            added=since if since is None or since.tzinfo else since.replace(tzinfo=UTC),
            company=str((record.get(COMPANY) or {}).get("issuer") or ""),
            blocked=str(record.get(BLOCK_KEY) or ""), shares=record.get("shares") is True,
        )  # fmt: skip
    except (TrancheError, TypeError, ValueError, AttributeError) as error:
        raise Damaged(f"The entry of the person '{username}' can't be read: {error}") from error


def hash_of(record: Record) -> str | None:
    """The bcrypt hash; None for a plain-text password written by hand, which does not work."""
    value = record.get("password")
    return value if isinstance(value, str) and Hash.fullmatch(value) else None


def block(record: Record, why: str) -> None:
    """Block a person in their record, and end their sessions: those of before stay ended when they return."""
    record.update({BLOCK_KEY: why, END_KEY: datetime.now(UTC).isoformat()})
