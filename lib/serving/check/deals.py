"""Checks of the deals service: the token, lists, and the format of its responses."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from lib.deals.abilities import Abilities
from lib.deals.compat import Dialect, Memory, has_lists
from lib.deals.models import DemandDeal, SupplyPackage
from lib.deals.warnings import NEEDS
from lib.serving import connect, remote
from lib.serving.check.step import ServiceSetting, Step, check_reachable
from lib.serving.remote import RemoteDeals
from lib.settings import Settings
from lib.wire.errors import NotFound, TrancheError
from lib.wire.text import count_of

NAME = "Deals"
REFUSAL = "Check deals_token, or service_username and service_password"
EMBEDDED = "Part of this desk"
KEPT_HERE = (
    "No deals API has saved lists, templates, owners and notes of packages, what buyers answered (Answered) "
    "and counted, or supply files (Unauthorized): this desk keeps its own."
)
LOOKED_AT = 10
ANY_ID = 1
Entity = type[SupplyPackage] | type[DemandDeal]
Body = Mapping[str, Any]
LOOKED_INTO: tuple[Entity, ...] = (SupplyPackage, DemandDeal)


def steps(settings: Settings) -> Iterator[Step]:
    """All steps, until one fails on which the others depend."""
    if not settings.remote.curate_url:
        yield Step(NAME, EMBEDDED, "ok", "Kept in this desk's database.")
        return
    service = ServiceSetting(NAME, "curate_url", REFUSAL)
    line = remote.deals_line(settings)
    if not (yield from check_reachable(service, line, settings, settings.deals_service)):
        return
    try:
        engine = connect.installation(settings).access.store.engine
        remote_deals = RemoteDeals(settings, line, engine)
        client, dialect = remote_deals.client(Abilities()), remote_deals.dialect
        lists = has_lists(client)
        if lists:
            yield Step(NAME, "Lists", "ok", "The token is accepted; the service lists its packages.")
            bodies: Iterator[tuple[Entity, Body]] = (
                (model, client.get(model, entity.id or 0).raw)
                for model in LOOKED_INTO
                for entity in client.list(model, limit=LOOKED_AT).results
            )
        else:
            # That a deal is not there shows as well that the token is taken.
            with suppress(NotFound):
                client.get(DemandDeal, ANY_ID)
            result = "The token is accepted; the service has no lists: Tranche remembers packages and deals."
            yield Step(NAME, "Lists", "note", result)
            memory = Memory(engine, line.address, "check")  # of what was created or opened through this desk
            bodies = (
                (model, entry.body) for model in LOOKED_INTO for entry in memory.latest(model)[-LOOKED_AT:]
            )
        yield from _shapes(dialect, bodies)
    except TrancheError as error:
        yield service.failure("Deals", error)
        return
    yield Step(NAME, "Kept by this desk", "note", KEPT_HERE)
    # The changes that the settings allow the desk to make there.
    result = f"No dry runs: before a write is sent it is not compared with {', '.join(NEEDS)}."
    yield Step(NAME, "Slips", "note", result)
    if settings.remote.deals_mapping_confirmed:
        yield Step(NAME, "Changes", "ok", "The mapping is confirmed: deals can be changed.")
    else:
        remedy = "Check targeting_names and fee_types with whoever runs it, then set deals_mapping_confirmed."
        yield Step(NAME, "Changes", "note", "Deals are read-only: the mapping is not confirmed yet.", remedy)
    if not dialect.fees:
        remedy = "Set fee_types (our numbers to theirs) to enable fees."
        yield Step(NAME, "Fees", "note", "Fees can't be set: the service's fee types are not mapped.", remedy)
    if not lists:
        count = len(settings.remote.seats)
        if count:
            yield Step(NAME, "Seats", "ok", f"{count_of(count, 'seat')} in the settings.")
        else:
            yield Step(
                NAME, "Seats", "note", "None in the settings: ids are typed in.", "Name them in seats."
            )


def _shapes(dialect: Dialect, entities: Iterator[tuple[Entity, Body]]) -> Iterator[Step]:
    """Whether the service's responses can be read completely."""
    looked_at, misfits = 0, dict[str, None]()
    for model, body in entities:
        looked_at += 1
        misfits |= dict.fromkeys(dialect.misfits(model, body))
    if not looked_at:
        yield Step(NAME, "Targeting and fees", "note", "There is no package yet to compare.")
    elif not misfits:
        yield Step(NAME, "Targeting and fees", "ok", f"All of {looked_at} packages and deals could be read.")
    for sentence in misfits:
        remedy = "Map it in the settings (targeting_names, fee_types)."
        yield Step(NAME, "Targeting and fees", "failed", f"{sentence}.", remedy)
