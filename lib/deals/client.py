"""The client of the deals API: the same verbs for every entity, over any transport."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal, TypeVar, overload
from urllib.parse import quote, urlencode

import httpx

from lib.deals import moments
from lib.deals.abilities import Abilities
from lib.deals.comparisons import Case
from lib.deals.fields import BY_NAME, MOMENTS
from lib.deals.models import (
    ENTITIES,
    BuyerSeat,
    CreateDemandDeals,
    DemandDeal,
    EntityChange,
    Resource,
    SupplyPackage,
    WireModel,
)
from lib.deals.reading import OWN, Codec, Page, refusal
from lib.deals.warnings import HEADER, RULED, DealWarning, judge
from lib.wire import call, exact
from lib.wire.call import Credential, in_the_name_of
from lib.wire.errors import BadRequest, DealsError, NotFound, Unsupported

PATH, BATCH = "/api", "/demand_deals/batch"
JSON = "application/json"
IDEMPOTENCY_KEY = "Idempotency-Key"
NO_COMPRESSION = {"Accept-Encoding": "identity"}  # whatever compresses on the way makes an ETag weak
LARGEST_PAGE = 500
PATIENCE = call.Patience()

Model = TypeVar("Model", bound=Resource)
Entity = type[Model] | str
Changes = list[EntityChange]
WarningsOfWrites = list[list[list[DealWarning]]]
"""Of each write the warnings about it, then those about each deal that it creates."""


@dataclass(frozen=True)
class Write:
    """A change of an entity, or a new one: the fields that are sent, and what it was as far as is known."""

    entity: str
    fields: Mapping[str, Any]
    entity_id: int | None = None
    before: Mapping[str, Any] = field(default_factory=dict)

    @property
    def cases(self) -> list[Case]:
        """What can be judged of it by itself, with that of each deal that it creates: what is missing or
        can't be read is left out, and with it the rules about it alone."""
        fields, before = _comparable(self.fields), _comparable(self.before)
        kind: Literal["deal", "package"] = "deal" if self.entity == DemandDeal.entity else "package"
        case = Case(kind, before | fields, frozenset(fields), datetime.now(UTC), before)
        return [case, *case.new_deals]


def _comparable(value: Any, name: str = "") -> Any:
    """A value as rules compare it: amounts as decimals, times as such, and no fields that can't be read.

    ValueError or ArithmeticError for such a field.
    """
    kind = BY_NAME[name].kind if name in BY_NAME else None
    match value:
        case WireModel():
            return _comparable(value.model_dump(exclude_unset=True))
        case Mapping():
            fields = {}
            for field_name, part in value.items():
                with suppress(ValueError, ArithmeticError):
                    fields[field_name] = _comparable(part, field_name)
            return fields
        case list() | tuple():
            return [_comparable(part) for part in value]
        case str() if kind in MOMENTS:
            return moments.read(value)
        case str() | int() | float() if kind is not None and kind.limits is not None:
            amount = Decimal(str(value))
            if not amount.is_finite():
                raise ValueError(f"{name} is no number")
            return amount
    return value


class Deals:
    """A client with a token. Raises the service's own errors, or ServiceProblem without a response.

    An entity is named by its model (`SupplyPackage`) or its path name (`"supply_deals"`, see ENTITIES).
    """

    _takes_many = True  # until the service says that it does not

    def __init__(
        self,
        http: httpx.Client,
        token: str | Credential,
        patience: call.Patience = PATIENCE,
        header: str = "Authorization",
        scheme: str = "Bearer",
        *,
        codec: Codec = OWN,
        abilities: Abilities | None = None,
        honors_keys: bool = True,
    ) -> None:
        """The token is sent as `<header>: <scheme> …`.

        `codec` is how the service writes, `abilities` what it does.
        `honors_keys`: it creates once what is asked for twice with one idempotency key; else no key is sent,
        and nothing is asked for twice.
        """
        self._http, self._credential, self._patience = http, token, patience
        self._header, self._scheme = header, scheme
        self._codec = codec
        self.abilities = replace(abilities or Abilities(), repeats=honors_keys)

    @overload
    def get(self, entity: type[Model], entity_id: int) -> Model: ...
    @overload
    def get(self, entity: str, entity_id: int) -> Any: ...
    def get(self, entity: type[Model] | str, entity_id: int) -> Any:
        """The entity, with the ETag of its state. NotFound without one of this id."""
        answer = self._ask("GET", _path(entity, entity_id), headers=NO_COMPRESSION)
        return self._codec.resource(model_of(entity), answer)

    @overload
    def list(self, entity: type[Model], **params: Any) -> Page[Model]: ...
    @overload
    def list(self, entity: str, **params: Any) -> Page[Any]: ...
    def list(self, entity: type[Model] | str, **params: Any) -> Page[Any]:
        """One page. `params`: limit (at most 500), offset, search, ordering, and filters on plain fields.

        A filter with several values, as a list, finds any of them.
        """
        return self._codec.page(model_of(entity), self._ask("GET", _path(entity), params))

    @overload
    def everything(self, entity: type[Model], **params: Any) -> Iterator[Model]: ...
    @overload
    def everything(self, entity: str, **params: Any) -> Iterator[Any]: ...
    def everything(self, entity: type[Model] | str, **params: Any) -> Iterator[Any]:
        """All that `list` would find, page after page."""
        offset = 0
        while True:
            page = self.list(entity, limit=LARGEST_PAGE, offset=offset, **params)
            yield from page.results
            offset += len(page.results)
            if not page.results or offset >= page.count:
                return

    @overload
    def create(self, entity: type[Model], model: Model, idempotency_key: str | None = None) -> Model: ...
    @overload
    def create(self, entity: str, model: Resource, idempotency_key: str | None = None) -> Any: ...
    def create(self, entity: type[Model] | str, model: Resource, idempotency_key: str | None = None) -> Any:
        """Create an entity from the set fields of `model`; returns it as stored.

        With a key it may be repeated: the same key and body answer with the first result. Invalid says
        everything that is wrong, in `fields`; Conflict for a duplicate. DeadlineExceeded and ServiceProblem
        leave open whether it was created.
        """
        return self._create(model_of(entity), self._codec.write(model.body()), idempotency_key)

    def create_all(self, deals: Sequence[DemandDeal], idempotency_key: str) -> Sequence[DemandDeal]:
        """Create several demand deals, all or none, once per key; returns their ids, names and deal ids.

        At most 500. Invalid has what is wrong by the place of each, as text. Unsupported where a service is
        not known to do that.
        """
        self.abilities.check("create", DemandDeal.entity)
        if not self.abilities.is_own:
            raise Unsupported("This service does not create several at once")
        body = [self._codec.write(deal.body()) for deal in deals]
        headers = {IDEMPOTENCY_KEY: idempotency_key}
        return self._codec.created_deals(self._ask("POST", f"{PATH}{BATCH}/", body=body, headers=headers))

    def change(
        self, entity: Entity[Any], entity_id: int, fields: Mapping[str, Any], if_match: str | None = None
    ) -> Sequence[str]:
        """Partial update of these fields; returns the service's warnings about it.

        With the `etag` that was read: Conflict, saying what changed meanwhile, if it is not the latest.
        Of a list that is changed, what could not be read goes back as it came.
        """
        self.abilities.check("change", model_of(entity).entity)
        lists = [name for name, value in fields.items() if isinstance(value, list | tuple)]
        base = self.get(model_of(entity), entity_id) if lists else None
        return self._change(model_of(entity), entity_id, self._codec.write(to_json(fields), base), if_match)

    def add_deals(
        self, package_id: int, deals: CreateDemandDeals, idempotency_key: str, if_match: str | None = None
    ) -> None:
        """Create deals of an existing package: all or none, and only once per idempotency key.

        One PUT with `create_demand_deals`, as our own service takes it. Unsupported where a service is not
        known to.
        """
        if not (self.abilities.finds and self.abilities.repeats):
            raise Unsupported("This service creates deals only together with their package")
        self.abilities.check("create", DemandDeal.entity)
        body = self._codec.write({"create_demand_deals": deals.body()})
        headers = {IDEMPOTENCY_KEY: idempotency_key, **_condition(if_match)}
        self._codec.check(self._ask("PUT", _path(SupplyPackage, package_id), body=body, headers=headers))

    def change_all(
        self, entity: Entity[Any], changes: Mapping[int, Mapping[str, Any]], etags: Mapping[int, str]
    ) -> dict[int, str]:
        """Change plain fields of several, all or none, unless one was changed since its ETag was read.

        Returns the reasons of all if one was refused. Unsupported where a service is not known to do that.
        """
        self.abilities.check("change", model_of(entity).entity)
        if not self.abilities.is_own:
            raise Unsupported("This service does not change several at once, all or none")
        body = [
            {"id": number, "etag": etags[number], **self._codec.write(to_json(fields))}
            for number, fields in changes.items()
        ]
        answer = self._ask("PUT", f"{_path(entity)}?atomic=true", body=body)
        return self._codec.refusals(answer)

    def change_each(self, entity: Entity[Any], changes: Mapping[int, Mapping[str, Any]]) -> dict[int, str]:
        """Change plain fields of several, by id; returns the reasons of those that were refused, by id.

        One request where the service takes several at once (an extension of ours), else one for each. After
        DeadlineExceeded and ServiceProblem it is open which were changed.
        """
        self.abilities.check("change", model_of(entity).entity)
        if self._takes_many and self.abilities.finds:
            body = [
                {"id": number, **self._codec.write(to_json(fields))} for number, fields in changes.items()
            ]
            try:
                return self._codec.refusals(self._ask("PUT", _path(entity), body=body))
            except BadRequest:
                self._takes_many = False
        reasons: dict[int, str] = {}
        for number, fields in changes.items():
            try:
                self.change(entity, number, fields)
            except (DealsError, BadRequest) as error:
                reasons[number] = error.reason
        return reasons

    def get_many(
        self, entity: Entity[Any], ids: Sequence[int], *, with_etags: bool = False
    ) -> dict[int, Any]:
        """Those of these ids that are there, as they are now: 200 at most, in one request where that works.

        With ETags, which only our own service's lists have, it is one for each elsewhere.
        """
        is_listed = self.abilities.is_own if with_etags else self._takes_many and self.abilities.finds
        if ids and is_listed:
            params = {"id": [*ids], "limit": LARGEST_PAGE, **({"etags": True} if with_etags else {})}
            return {resource.id or 0: resource for resource in self.list(model_of(entity), **params).results}
        by_id: dict[int, Any] = {}
        for entity_id in ids:
            with suppress(NotFound):
                by_id[entity_id] = self.get(model_of(entity), entity_id)
        return by_id

    def remove(self, entity: Entity[Any], entity_id: int, if_match: str | None = None) -> None:
        """Delete it. InUse names what depends on it."""
        self.abilities.check("delete", model_of(entity).entity)
        self._codec.check(self._ask("DELETE", _path(entity, entity_id), headers=_condition(if_match)))

    def history(self, entity: Entity[Any], entity_id: int, **params: Any) -> Changes:
        """Its changes, latest first, even after it was removed; by default the last 500."""
        answer = self._ask("GET", f"{_path(entity, entity_id)}history/", {"limit": LARGEST_PAGE} | params)
        return [*self._codec.changes(answer).results]

    def warnings_of(self, writes: Sequence[Write]) -> WarningsOfWrites:
        """What is valid and probably a slip: of each write that about it, then about each deal it creates.

        Nothing is written (`dry_run`, an extension of ours). Of another service: by the rules that need no
        more than the write itself.
        """
        if not self.abilities.is_own:
            return [[judge(case) for case in write.cases] for write in writes]
        warnings: dict[int, list[list[DealWarning]]] = {index: [[]] for index in range(len(writes))}
        groups: dict[tuple[str, bool], list[int]] = {}
        for index, write in enumerate(writes):
            if not RULED.isdisjoint(write.fields):
                groups.setdefault((write.entity, write.entity_id is None), []).append(index)
        for (entity, is_new), indexes in groups.items():
            is_batch = not is_new or entity == DemandDeal.entity
            size = LARGEST_PAGE if is_batch else 1
            for first in range(0, len(indexes), size):
                part = indexes[first : first + size]
                bodies = [
                    ({} if is_new else {"id": writes[index].entity_id})
                    | self._codec.write(to_json(writes[index].fields))
                    for index in part
                ]
                path = f"{PATH}{BATCH}/" if is_new and entity == DemandDeal.entity else _path(entity)
                content = bodies[0] if is_new and entity != DemandDeal.entity else bodies
                answer = self._ask("POST" if is_new else "PUT", f"{path}?dry_run=true", body=content)
                of_writes: WarningsOfWrites = []
                for result in self._codec.json(answer)["results"]:
                    own = [DealWarning(**warning) for warning in result["warnings"]]
                    if len(result["place"]) > 1:
                        of_writes[-1].append(own)
                    else:
                        of_writes.append([own])
                for index, several in zip(part, of_writes, strict=True):
                    warnings[index] = several
        return [*warnings.values()]

    def propose(self, proposal: Mapping[str, Any]) -> dict[str, Any]:
        """Propose a new package or a change (an extension of ours); returns the proposal as it is stored.

        The same again, while it is open, returns the first. Invalid has all that is wrong with it, by field.
        Unsupported where a service is not known to take proposals.
        """
        if not self.abilities.is_own:
            raise Unsupported("This service takes no proposals")
        answer = self._ask("POST", f"{PATH}/proposals/", body=to_json(proposal))
        return dict(self._codec.json(answer))

    def buyer_seat(self, deal_id: str) -> BuyerSeat:
        """What its DSP reported of a deal, and when it was fetched (an extension of ours).

        NotFound, saying why, for one that is not synchronized. Unsupported where a service is not known to
        tell.
        """
        if not self.abilities.syncs:
            raise Unsupported("This service does not tell what DSPs report")
        answer = self._ask("GET", f"{PATH}/deal_sync/{quote(deal_id, safe='')}/status/")
        return self._codec.buyer_seat(answer)

    def _create(self, model: type[Model], body: Mapping[str, Any], key: str | None) -> Model:
        self.abilities.check("create", model.entity)
        headers = {IDEMPOTENCY_KEY: key} if key is not None and self.abilities.repeats else {}
        return self._codec.new_resource(model, self._ask("POST", _path(model), body=body, headers=headers))

    def _change(
        self, model: type[Resource], entity_id: int, body: Mapping[str, Any], if_match: str | None
    ) -> Sequence[str]:
        response = self._ask("PUT", _path(model, entity_id), body=body, headers=_condition(if_match))
        self._codec.check(response)
        with suppress(ValueError):  # another service's header of this name says nothing
            sentences = exact.loads(response.headers.get(HEADER, "[]").encode())
            return (
                [text for text in sentences if isinstance(text, str)] if isinstance(sentences, list) else []
            )
        return []

    def _ask(
        self,
        method: str,
        path: str,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        # Booleans as in JSON; what is None is left out.
        plain = {
            name: str(value).lower() if isinstance(value, bool) else value
            for name, value in (params or {}).items()
            if value is not None
        }
        target = f"{path}?{urlencode(plain, doseq=True)}" if params else path
        content = None if body is None else exact.dumps(body)
        is_repeatable = method == "GET" or IDEMPOTENCY_KEY in (headers or {})

        def ask(token: str) -> httpx.Response:
            own = {"Accept": JSON, self._header: f"{self._scheme} {token}".strip()}
            own |= {} if content is None else {"Content-Type": JSON}
            request = self._patience.call(
                method, target, is_repeatable, headers=own | dict(headers or {}), content=content
            )
            response = call.call(self._http, request)
            if response.is_success:
                return response
            raise refusal(response)

        return in_the_name_of(self._credential, ask)


def model_of(entity: type[Model] | str) -> type[Resource]:
    """The model of an entity by either of its names."""
    return ENTITIES[entity] if isinstance(entity, str) else entity


def _path(entity: Entity[Any], entity_id: int | None = None) -> str:
    path = f"{PATH}/{model_of(entity).entity}/"
    return path if entity_id is None else f"{path}{int(entity_id)}/"


def to_json(value: Any) -> Any:
    """The value as sent: models and times converted to JSON."""
    if isinstance(value, WireModel):
        return value.body()
    if isinstance(value, Mapping):
        return {name: to_json(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(part) for part in value]
    return moments.write(value) if isinstance(value, datetime) else value


def _condition(if_match: str | None) -> dict[str, str]:
    return {} if if_match is None else {"If-Match": if_match}
