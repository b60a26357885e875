"""Proposals in the desk's own database, whatever deals service answers: made, approved once, declined."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Connection,
    Index,
    Integer,
    Row,
    String,
    Text,
    func,
    insert,
    select,
    update,
)

from lib.database import DatabaseScope, Document, Instant, from_row, numbered_table, optional, required
from lib.deals.client import to_json
from lib.deals.package_records import PackageQuestion, PackageQuestions
from lib.deals.proposals.models import (
    COMPARE_FIELDS,
    ApprovalRequest,
    DeclineRequest,
    Fields,
    Proposal,
    ProposalRequest,
    State,
    check,
)
from lib.deals.proposals.writers import ProposalWriter, ServiceWriter
from lib.deals.store.entity_stores import ENTITY_STORES
from lib.deals.validation import Problems, read
from lib.people import DealsGrant, Person
from lib.people.tables import made_by
from lib.wire.errors import (
    CircuitOpen,
    Conflict,
    DeadlineExceeded,
    Forbidden,
    InternalError,
    Invalid,
    NotFound,
    ServiceProblem,
    TrancheError,
)

MOST_OPEN = 500
APPLIES, REPEATABLE = timedelta(minutes=2), timedelta(hours=20)
UNDECIDED = {"decided_by": None, "decided_at": None, "decided_token": None}
OWN = "Somebody else approves a proposal of yours (setting approve_own_proposals); you can take it back"
MAY_NOT_DECIDE = "'{}' may propose changes of deals, but not approve them"
NEW_DEALS = "create_demand_deals"

proposals = numbered_table(
    "proposals", *required(service=String(500), entity=String(20)), *optional(entity_id=BigInteger),
    *required(name=Text, fields=Document, before=Document, reason=Text),
    *optional(question=Document, expected=Document), *required(by=String(64)),
    *optional(made_with=Integer, token=String(200), decided_token=String(200)),
    *required(at=Instant, state=String(20)), *optional(decided_by=String(64), decided_at=Instant),
    *required(word=Text), *optional(applied_id=BigInteger), *required(is_edited=Boolean),
    Index(None, "service", "state"),
)  # fmt: skip


@dataclass(frozen=True)
class Proposals(DatabaseScope):
    """The proposals to the deals service at `service` (empty: the embedded one), for one person.

    A person sees their own, and everybody's if they may see the deals of all seats; through a token for some
    seats (its number is `token`) those that were made with it. A token's `grant` may be less than the
    person's. `note` gets what happens, for the audit log; the question of a package goes to `questions`.
    Nobody approves what they proposed themselves, unless one `approves_own`. `token_name` is the name of a
    permanent token, for whoever reads a proposal.
    """

    service: str
    person: Person
    token: int | None = None
    grant: DealsGrant | None = None
    note: Callable[[Any, str], None] = lambda event, detail: None
    questions: PackageQuestions | None = None
    approves_own: bool = False
    token_name: str | None = None

    def propose(self, body: Mapping[str, Any], writer: ProposalWriter) -> Proposal:
        """Store a proposal, which is a body as ProposalRequest has it.

        The same proposal of theirs again, while it is open, gives the first. The answer has the warnings of
        the write that it proposes. Forbidden for who may not propose; Invalid says all that is wrong with it
        and with its fields; NotFound where there is no such package or deal for them.
        """
        values = self._values(body, writer)
        mine = (*self._visible(), proposals.c.state == "open", proposals.c.by == self.person.username)
        with self.write() as connection:
            open_proposals = [_proposal(row) for row in connection.execute(select(proposals).where(*mine))]
            content = (values["entity"], values["entity_id"], values["fields"])
            same = (
                other for other in open_proposals if (other.entity, other.entity_id, other.fields) == content
            )
            proposal = next(same, None)
            if proposal is None and len(open_proposals) >= MOST_OPEN:
                raise Conflict(f"{MOST_OPEN:,} of your proposals are open: wait until some are decided")
            if proposal is None:
                statement = insert(proposals).values(values).returning(proposals)
                proposal = _proposal(connection.execute(statement).one())
        self.note("proposal made", _words(proposal))
        warnings = writer.warnings(proposal.entity, proposal.entity_id, proposal.fields)
        return replace(proposal, warnings=tuple(warnings))

    def dry_run(self, body: Mapping[str, Any], writer: ServiceWriter) -> Fields:
        """What `propose` would store, as `results` of a dry run, with what is unwise in it."""
        would: Fields | None = None
        errors: Fields = {}
        warnings: list[Fields] = []
        try:
            values = self._values(body, writer)
            question = values["question"] and PackageQuestion(**values["question"])
            own = {field.name: values[field.name] for field in fields(Proposal) if field.name in values}
            would = Proposal(**{"id": 0, **own, "question": question}).answer() | {"id": None}
            results = writer.dry_run(values["entity"], values["entity_id"], values["fields"])
            warnings = [warning for result in results for warning in result["warnings"]]
        except Invalid as error:
            errors = error.fields
        return {"results": [{"place": [], "would": would, "errors": errors, "warnings": warnings}]}

    def _values(self, body: Mapping[str, Any], writer: ProposalWriter) -> Fields:
        if not self._deals.proposes:
            raise Forbidden(f"'{self.person.username}' can see deals, but not propose changes")
        request = check(ProposalRequest, to_json(body))
        entity, entity_id, fields = request["entity"], request["entity_id"], request["fields"]
        if (expected := request["expected"]) is not None:
            # The ends of the range, its days and its counts have to be in order.
            hits, tests = expected["range_held"], expected["past_periods_tested"]
            is_alone, is_above = (hits is None) != (tests is None), (hits or 0) > (tests or 0)
            faults = {
                "low": expected["low"] > expected["high"] and "This must not be above high.",
                "first_day": expected["first_day"] > expected["last_day"]
                and "This must not be after last_day.",
                "range_held": "This goes together with past_periods_tested."
                if is_alone
                else is_above and "This must not be above past_periods_tested.",
            }
            if wrong := {name: [sentence] for name, sentence in faults.items() if sentence}:
                raise Invalid({"expected": wrong})
        before = {} if entity_id is None else writer.read(entity, entity_id)[0]
        _check_fields(entity, entity_id, fields, before)
        before_fields = {name: value for name, value in before.items() if name in COMPARE_FIELDS[entity]}
        return {
            **request, "name": str(before.get("name") or fields.get("name") or ""), "before": before_fields,
            "service": self.service, "by": self.person.username, "made_with": self.token,
            "token": self.token_name,
            "at": datetime.now(UTC), "state": "open", "word": "", "is_edited": False,
        }  # fmt: skip

    def get(self, number: int) -> Proposal:
        """The proposal. NotFound without it, and for who may not see it."""
        return self.read(lambda connection: self._get(connection, number))

    def page(self, states: Sequence[State], limit: int = 100, offset: int = 0) -> tuple[int, list[Proposal]]:
        """How many are in these states, and some of them, the latest first."""
        conditions = (*self._visible(), proposals.c.state.in_(states))
        rows = select(proposals).where(*conditions).order_by(proposals.c.id.desc())

        def read_page(connection: Connection) -> tuple[int, list[Proposal]]:
            count = connection.execute(select(func.count()).select_from(proposals).where(*conditions))
            part = connection.execute(rows.limit(limit).offset(offset))
            return int(count.scalar_one()), [_proposal(row) for row in part]

        return self.read(read_page)

    def approve(self, number: int, body: Mapping[str, Any], writer: ProposalWriter) -> Proposal:
        """Apply a proposal, or the other fields of a body as ApprovalRequest has it; once, however often.

        Conflict, naming them, where others changed a field of it meanwhile; errors of the service as they
        are: the proposal is open then. Where it is unknown whether it was applied, the same person may
        approve it again, which applies it once. The answer has the warnings of the write.
        """
        request = check(ApprovalRequest, to_json(body))
        if (fields := request["fields"]) is not None:
            proposal = self.get(number)
            _check_fields(proposal.entity, proposal.entity_id, fields, proposal.before)
        warnings: list[str] = []

        def write(proposal: Proposal) -> int:
            applied_id, sentences = writer.apply(proposal, request["overwrites"])
            warnings.extend(sentences)
            return applied_id

        return replace(self.apply(number, write, fields, repeats=writer.repeats), warnings=tuple(warnings))

    def apply(
        self,
        number: int,
        write: Callable[[Proposal], int],
        edits: Mapping[str, Any] | None = None,
        *,
        repeats: bool = True,
    ) -> Proposal:
        """Apply a proposal by `write`, which returns the id of the entity; `edits` are other fields.

        One that is approved already is returned, and nothing is written. `repeats`: a creation may be asked
        for again with its key.
        """
        proposal = self._claim(number, repeats)
        if proposal.state == "approved":
            return proposal
        if edits is not None and not proposal.has(fields := to_json(edits)):
            proposal = replace(proposal, fields=fields, is_edited=True)
        try:
            applied_id = write(proposal)
        except TrancheError as error:
            is_unknown = isinstance(error, ServiceProblem | DeadlineExceeded | InternalError)
            if not is_unknown or isinstance(error, CircuitOpen):
                self._set(number, "applying", state="open", **UNDECIDED)
            raise
        outcome = {"fields": proposal.fields, "is_edited": proposal.is_edited, "applied_id": applied_id}
        result = self._set(number, "applying", state="approved", **outcome)
        if self.questions is not None and result.is_new and result.question is not None:
            self.questions.keep(applied_id, result.question)
        self.note("proposal approved", _words(result))
        return result

    def may_decide(self, proposal: Proposal) -> bool:
        """Whether this person may approve it: one of somebody else, or with the setting their own."""
        is_own = proposal.by == self.person.username
        return self._deals.writes and (self.approves_own or not is_own)

    def decline(self, number: int, body: Mapping[str, Any]) -> Proposal:
        """Decline a proposal with a word; its proposer may as well. Conflict for one that is approved."""
        request = check(DeclineRequest, body)
        before = self.get(number)
        if not self._deals.writes and before.by != self.person.username:
            raise Forbidden(MAY_NOT_DECIDE.format(self.person.username))
        if before.state in ("approved", "declined") or _is_applying(before):
            raise Conflict(f"{_state_words(before)}; nothing was changed")
        result = self._set(
            number, before.state, state="declined", word=request["word"],
            decided_by=self.person.username, decided_at=datetime.now(UTC), decided_token=self.token_name,
        )  # fmt: skip
        self.note("proposal declined", f"{_words(result)}: {result.word}")
        return result

    def permit(self, proposal: Proposal) -> None:
        """Forbidden, with the reason, where this person may not approve it."""
        if not self._deals.writes:
            raise Forbidden(MAY_NOT_DECIDE.format(self.person.username))
        if not self.may_decide(proposal):
            raise Forbidden(OWN)

    def _claim(self, number: int, repeats: bool) -> Proposal:
        """The proposal, which is this person's to apply from now on; an approved one as it is."""
        if not self._deals.writes:
            raise Forbidden(MAY_NOT_DECIDE.format(self.person.username))
        now = datetime.now(UTC)
        with self.write() as connection:
            proposal = self._get(connection, number)
            if proposal.state == "approved":
                return proposal
            self.permit(proposal)
            # One whose application broke off may be applied again while its idempotency key still holds.
            age = now - (proposal.decided_at or proposal.at)
            is_own = proposal.decided_by == self.person.username and APPLIES < age < REPEATABLE
            may_repeat = is_own and (repeats or not proposal.is_new)
            if proposal.state == "declined" or (proposal.state == "applying" and not may_repeat):
                raise Conflict(f"{_state_words(proposal)}; nothing was changed")
            values: Fields = {
                "state": "applying", "decided_by": self.person.username, "decided_at": now,
                "decided_token": self.token_name,
            }  # fmt: skip
            statement = update(proposals).where(proposals.c.id == number).values(values).returning(proposals)
            return _proposal(connection.execute(statement).one())

    def _set(self, number: int, now: str, /, **values: Any) -> Proposal:
        """Change a proposal in this state; one that is in another by now stays as it is."""
        with self.write() as connection:
            mine = (proposals.c.id == number, proposals.c.state == now)
            connection.execute(update(proposals).where(*mine).values(values))
            return self._get(connection, number)

    def _get(self, connection: Connection, number: int) -> Proposal:
        query = select(proposals).where(*self._visible(), proposals.c.id == number)
        if (row := connection.execute(query).one_or_none()) is None:
            raise NotFound(f"There is no proposal {number}")
        return _proposal(row)

    @property
    def _deals(self) -> DealsGrant:
        return self.person.deals if self.grant is None else self.grant

    def _visible(self) -> tuple[Any, ...]:
        table = proposals.c
        if not self._deals.reads:
            raise Forbidden(f"'{self.person.username}' has no access to deals")
        if self.token is not None:
            return table.service == self.service, table.made_with == self.token
        own = [] if self._deals.seats is None else made_by(self.person, table.by, table.at)
        return table.service == self.service, *own


def _check_fields(
    entity: str, entity_id: int | None, fields: Mapping[str, Any], before: Mapping[str, Any]
) -> None:
    """Invalid, at `fields`, for what the service would refuse of an entity that is as `before`."""
    store, own_problems = ENTITY_STORES[entity], Problems()
    own_fields = read(store.request, fields, own_problems, whole=entity_id is None)
    store.check_rules(own_fields, {**before} if entity_id is not None else None, own_problems)
    problems = own_problems.below("fields")
    if entity_id is None and entity != "supply_deals":
        problems.add(("entity_id",), "A new package can be proposed; of a deal, a change: give its id.")
    if entity_id is not None and not fields:
        problems.add(("fields",), "Name at least one field to change.")
    if entity_id is not None and NEW_DEALS in fields:
        problems.add(("fields", NEW_DEALS), "New deals of an existing package can't be proposed.")
    problems.check()


def _is_applying(proposal: Proposal) -> bool:
    """Whether somebody may be applying it right now."""
    start = proposal.decided_at if proposal.state == "applying" else None
    return start is not None and datetime.now(UTC) - start < APPLIES


def _state_words(proposal: Proposal) -> str:
    if proposal.state != "applying":
        return f"{proposal.decided_by} has {proposal.state} this proposal already"
    if _is_applying(proposal):
        return f"{proposal.decided_by} is approving this proposal"
    return (
        f"It is unknown whether the approval by {proposal.decided_by} was applied: look in Deals; they can "
        "approve it again, or decline it"
    )


def _words(proposal: Proposal) -> str:
    what = "new package" if proposal.is_new else f"{proposal.entity} {proposal.entity_id}"
    return f"{proposal.id}, {what}, '{proposal.name}', by {proposal.by}"


def _proposal(row: Row[Any]) -> Proposal:
    return from_row(Proposal, row, question=row.question and PackageQuestion(**row.question), warnings=())
