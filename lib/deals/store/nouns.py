"""All kinds of entities, by their path names."""

from sqlalchemy import Table

from lib.deals import fields, requests
from lib.deals.store import tables as t
from lib.deals.store.demand_deals import DemandDeals
from lib.deals.store.noun import Dependants, Noun
from lib.deals.store.packages import Packages
from lib.deals.store.seats import Dsps, Seats
from lib.deals.store.supply_packages import SupplyPackages


def _deals(column: str) -> Dependants:
    return Dependants("demand deal", t.demand_deals, t.demand_deals.c[column])


def _supply(links: Table) -> Dependants:
    return Dependants("supply package", t.supply_packages, links.c.list_id, links.c.supply_package_id)


_LINKS, _OLD = t.supply_package_deals.c, t.package_supply_packages.c
DEALS = DemandDeals(
    "demand_deals",
    "demand deal",
    t.demand_deals,
    requests.DemandDealRequest,
    searched=fields.searched(fields.DEALS),
)
SUPPLY = SupplyPackages(
    "supply_deals",
    "supply package",
    t.supply_packages,
    requests.SupplyPackageRequest,
    (
        Dependants("demand deal", t.demand_deals, _LINKS.supply_package_id, _LINKS.demand_deal_id),
        Dependants("package", t.packages, _OLD.supply_package_id, _OLD.package_id),
    ),
    deals=DEALS,
)
PACKAGES = Packages(
    "packages", "package", t.packages, requests.PackageRequest, (_deals("package_id"),), deals=DEALS
)
SEATS = Seats(
    "seats",
    "seat",
    t.seats,
    requests.SeatRequest,
    (
        _deals("seat_id"),
        Dependants("package", t.packages, t.package_seats.c.seat_id, t.package_seats.c.package_id),
    ),
    ("name", "external_id"),
)
DSPS = Dsps("dsps", "DSP", t.dsps, requests.DspRequest, (Dependants("seat", t.seats, t.seats.c.dsp_id),))
DOMAIN_LISTS = Noun(
    "domain_lists",
    "domain list",
    t.domain_lists,
    requests.DomainListRequest,
    (_supply(t.supply_domain_lists),),
)
APP_LISTS = Noun(
    "app_lists", "app list", t.app_lists, requests.AppListRequest, (_supply(t.supply_app_lists),)
)
NOUNS: dict[str, Noun] = {
    noun.entity: noun for noun in (SUPPLY, DEALS, PACKAGES, SEATS, DSPS, DOMAIN_LISTS, APP_LISTS)
}
