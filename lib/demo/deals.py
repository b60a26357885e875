"""The demo's DSPs, seats, lists, packages and deals, created through the deals API.

They are those of cast.py, under the same ids: so each of them has delivery in the slicer `curation`, whose
values these ids are. What is set beside them (countries, devices, sizes) holds for that delivery too.
"""

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from sqlalchemy import Engine, func, select

from lib.deals import models
from lib.deals.client import Deals
from lib.deals.store.tables import changes, demand_deals, supply_packages
from lib.demo import cast, stories
from lib.demo.curation import SIZES
from lib.demo.supply import sites
from lib.wire.errors import ImportRefused, NotFound

FIRST_DAY, OLDER = 62, 30
PAST_PACKAGE, PAUSED_PACKAGE, PAUSED_DEALS = 3, 7, (14, 33)
ENDS_IN = {6: 90, 9: 30}
HOURS_EAST = {3: 1, 5: -3, 8: -5, 10: 9, 11: 1}
SIZE_PACKAGES, BLOCKLIST_PACKAGES = (1, 8), (1, 2, 6, 8, 12)
UNSOLD = {1: "468x60", 8: "468x60"}
"""A dead target: a size that packages ask for, and no site sells."""
PARKED_LIST, NEWS_LIST = 1, 2
GUARANTEED_DEAL, GUARANTEED_UNITS = 30, 1_000_000
TERMS: dict[int, dict[str, Any]] = {
    stories.FIXED_DEAL: {"price_type": "fixed", "deal_type": "preferred"},
    stories.BROKE_DEAL: {"budget": stories.BROKE_SPEND},
    GUARANTEED_DEAL: {"deal_type": "guaranteed", "units": GUARANTEED_UNITS},
}
PREVIEW = ("Winter Sports Preview", ("SE", "PL", "DE"), 14)


def seed(deals: Deals, today: dt.date) -> int:
    """Create everything that never existed, in the order of ids; returns how many were created.

    What was removed or changed since stays so. ImportRefused where the database holds others under these ids.
    """
    if _was_there(deals, _deal(cast.DEALS[-1])):
        return 0
    count = 0
    for resource in _everything(today):
        if not _was_there(deals, resource):
            # Create it without its id: the service assigns the next one.
            request = type(resource).model_validate(resource.model_dump(exclude_unset=True, exclude={"id"}))
            result = deals.create(type(resource), request)
            if result.id != resource.id:
                deals.remove(type(resource), result.id or 0)
                raise _refusal(resource)
            count += 1
    for deal in PAUSED_DEALS:
        deals.change(models.DemandDeal, deal, {"is_active": False})
    for deal in stories.PRICE_CHANGES:
        deals.change(models.DemandDeal, deal, {"price": changed_price(deal)})
    targets = tuple(models.GeoTarget(type="country", value=code) for code in stories.NARROWED_TO)
    deals.change(models.SupplyPackage, stories.NARROWED_PACKAGE, {"geo_targetings": targets})
    return count


def changed_price(deal: int) -> Decimal:
    """The price of a deal since it was changed, in whole cents."""
    price = next(demo_deal.price for demo_deal in cast.DEALS if demo_deal.id == deal)
    return Decimal(str(round(price * stories.PRICE_CHANGES[deal].price, 2)))


def date_back(engine: Engine, today: dt.date, since: dt.datetime) -> None:
    """Let what was created `since` date from before the report, and what was changed then from its days."""
    since = since.replace(microsecond=0)  # as times are stored
    began = _midnight(today - dt.timedelta(days=FIRST_DAY + OLDER), dt.UTC)
    days = {(demand_deals, deal): change.days for deal, change in stories.PRICE_CHANGES.items()}
    days[supply_packages, stories.NARROWED_PACKAGE] = stories.NARROWED_DAYS
    with engine.begin() as connection:
        for table in (supply_packages, demand_deals):
            fresh = table.update().where(table.c.created_at >= since)
            connection.execute(fresh.values(created_at=began, updated_at=began))
        connection.execute(changes.update().where(changes.c.at >= since).values(at=began))
        for (table, entity_id), count in days.items():
            at = _midnight(today - dt.timedelta(days=count), dt.UTC) + dt.timedelta(hours=9)
            entity = "supply_deals" if table is supply_packages else "demand_deals"
            is_of_entity = (changes.c.entity == entity) & (changes.c.entity_id == entity_id)
            latest = select(func.max(changes.c.id)).where(is_of_entity, changes.c.action == "changed")
            is_change = (changes.c.id == latest.scalar_subquery()) & (changes.c.at == began)
            connection.execute(changes.update().where(is_change).values(at=at))
            is_fresh = (table.c.id == entity_id) & (table.c.created_at == began)
            connection.execute(table.update().where(is_fresh).values(updated_at=at))


def _everything(today: dt.date) -> Iterator[models.Resource]:
    """All entities of the demo, each with its id."""
    for dsp in cast.DSPS:
        yield models.Dsp(id=dsp.id, name=dsp.name, supports_deal_sync=dsp.supports_deal_sync)
    for seat in cast.SEATS:
        dsp_of_seat = models.Dsp(id=seat.dsp.id)
        yield models.Seat(id=seat.id, name=seat.name, external_id=seat.external_id, dsp=dsp_of_seat)
    news = sorted({site.domain for site in sites() if site.domain and "IAB12" in site.publisher.categories})
    domains, apps = ("parked.example", "typo-page.example"), {site.bundle for site in sites() if site.bundle}
    yield models.DomainList(id=PARKED_LIST, name="Parked domains", domains=domains)
    yield models.DomainList(id=NEWS_LIST, name="News sites", domains=tuple(news))
    yield models.AppList(id=1, name="All apps", apps=tuple(sorted(apps)))
    for package in cast.PACKAGES:
        yield _package(package, today)
    # A pending package without deals.
    name, countries, days = PREVIEW
    yield models.SupplyPackage(
        id=len(cast.PACKAGES) + 1, name=name, media_type="banner",
        start_date=_midnight(today + dt.timedelta(days=days), dt.UTC),
        geo_targetings=tuple(models.GeoTarget(type="country", value=code) for code in countries),
        browser_targetings=(models.ValueTarget(value="Safari", is_excluded=True),),
        domain_list_targetings=(models.ListTarget(id=NEWS_LIST),),
    )  # fmt: skip
    for deal in cast.DEALS:
        yield _deal(deal)


def _package(package: cast.DemoPackage, today: dt.date) -> models.SupplyPackage:
    zone = dt.timezone(dt.timedelta(hours=HOURS_EAST.get(package.id, 0)))
    fields: dict[str, Any] = {
        "id": package.id,
        "name": package.name,
        "media_type": package.media_type,
        "start_date": _midnight(today - dt.timedelta(days=FIRST_DAY + package.id), zone),
        "is_active": package.id != PAUSED_PACKAGE,
        "is_dynamic_bidding": package.id % 3 == 0,
        "is_true_price_opt_enable": package.id % 4 == 0,
        "geo_targetings": tuple(models.GeoTarget(type="country", value=code) for code in package.countries),
        "device_targetings": tuple(models.ValueTarget(value=device) for device in package.device_types),
    }
    if package.id == PAST_PACKAGE or package.id in ENDS_IN:
        fields["end_date"] = _midnight(today + dt.timedelta(days=ENDS_IN.get(package.id, 0)), zone)
    if package.id in SIZE_PACKAGES:
        sizes = [*SIZES[package.media_type], *filter(None, [UNSOLD.get(package.id)])]
        pairs = [tuple(map(int, size.split("x"))) for size in sizes]
        fields["size_targetings"] = tuple(models.SizeTarget(width=w, height=h) for w, h in pairs)
    if package.id in BLOCKLIST_PACKAGES:
        fields["domain_list_targetings"] = (models.ListTarget(id=PARKED_LIST, is_excluded=True),)
    return models.SupplyPackage(**fields)


def _deal(deal: cast.DemoDeal) -> models.DemandDeal:
    fields: dict[str, Any] = {
        "id": deal.id,
        "name": deal.name,
        "seat": models.Seat(id=deal.seat.id),
        "supply_deals": (models.SupplyPackage(id=deal.package.id),),
        "price": Decimal(str(deal.price)),
        **TERMS.get(deal.id, {}),
        "deal_sync": deal.seat.dsp.supports_deal_sync,
        "contact_email": f"deals@{''.join(filter(str.isalnum, deal.seat.name.lower()))}.example",
    }
    fee = {0: (1, Decimal("8")), 1: (3, Decimal("0.25"))}.get(deal.seat.id % 3)
    if fee is not None:
        fields["agency_curation_fee_type"], fields["agency_curation_fee"] = fee
    return models.DemandDeal(**fields)


def _was_there(deals: Deals, resource: models.Resource) -> bool:
    """Whether it was ever created, even if it was deleted since."""
    try:
        first = deals.history(type(resource), resource.id or 0)[-1]
    except NotFound:
        return False
    if (first.after or {}).get("name") != resource.name:
        raise _refusal(resource)
    return True


def _refusal(resource: models.Resource) -> ImportRefused:
    return ImportRefused(
        f"The database holds {resource.entity.replace('_', ' ')} of its own, under the numbers of the "
        "demo's: the demo needs a database of its own; set TRANCHE_HOME to another folder"
    )


def _midnight(day: dt.date, zone: dt.tzinfo) -> dt.datetime:
    return dt.datetime.combine(day, dt.time(), zone)
