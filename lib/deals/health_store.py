"""The health of deals in the desk's database: its rows by report, how old they are, and which are stale.

What it is read from is not known here. A row is stale once the basis or the versions that it was computed for
differ, or the moment `until` has come.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from sqlalchemy import Connection, delete, func, insert, or_, select, update

from lib.database import DatabaseScope
from lib.deals.deal_health import DealContext, DealHealth
from lib.deals.delivery import FIGURES
from lib.deals.models import DemandDeal, EntityChange, SupplyPackage
from lib.deals.reading import OWN
from lib.deals.store import tables as t
from lib.deals.store.entity_stores import ENTITY_STORES
from lib.deals.store.work import DealsScope, Work

SECONDS = 30
BATCH_SIZE = 500
NO_REPORT = ("", "")
Pair = tuple[str, str]


@dataclass(frozen=True)
class HealthReport:
    """A report (project, slicer; NO_REPORT: what deals say themselves) and the health computed from it.

    `basis` stands for its data, `last_day` is the last one of them. At `checked_at` the health of all deals
    was current; None before the first time. `problem` is why it could not be computed since, as a sentence.
    """

    id: int
    pair: Pair
    basis: str
    last_day: str
    checked_at: datetime | None
    problem: str


@dataclass(frozen=True)
class HealthBatch:
    """Some deals with the context of their checks, and the versions of each deal's parts."""

    deals: tuple[DemandDeal, ...]
    context: DealContext
    versions: Mapping[int, Mapping[str, int]]


PAST = timedelta(days=90)


@dataclass(frozen=True)
class HealthStore(DatabaseScope):
    """The stored health."""

    def reports(self) -> dict[Pair, HealthReport]:
        """The reports that health was computed from."""
        reports = map(_report, self.rows(select(t.health_reports)))
        return {report.pair: report for report in reports}

    def report(self, pair: Pair, basis: str, last_day: str = "") -> HealthReport:
        """This report with its present data; added if it is new."""
        with self.write() as connection:
            values = {"basis": basis, "last_day": last_day}
            result = connection.execute(update(t.health_reports).where(*_is(pair)).values(values))
            if not result.rowcount:
                names = {"project": pair[0], "slicer": pair[1], "problem": ""}
                connection.execute(insert(t.health_reports).values(names | values))
            return _report(connection.execute(select(t.health_reports).where(*_is(pair))).one())

    def settle(self, pair: Pair, checked_at: datetime | None, problem: str = "") -> None:
        """Note that all is current as of then, or why that could not be computed (`checked_at` None)."""
        values = {"problem": problem} | ({} if checked_at is None else {"checked_at": checked_at})
        self.execute(update(t.health_reports).where(*_is(pair)).values(values))

    def forget(self, pairs: Collection[Pair]) -> None:
        """Delete what was computed from these reports: they are not there any more."""
        if pairs:
            self.execute(*(delete(t.health_reports).where(*_is(pair)) for pair in pairs))

    def pulse(self, now: datetime) -> tuple[int, int]:
        """The number of the last change of any entity, and how many rows may have changed by themselves."""
        last, due = select(func.max(t.changes.c.id)), select(func.count()).select_from(t.deal_health)

        def read(connection: Connection) -> tuple[int, int]:
            number = connection.execute(last).scalar_one() or 0
            return number, connection.execute(due.where(t.deal_health.c.until <= now)).scalar_one()

        return self.read(read)

    def stale(self, report: HealthReport, now: datetime) -> list[int]:
        """The ids of deals without a current row for this report, the newest first."""
        health = t.deal_health.c
        differs = [health.deal_id.is_(None), health.basis != report.basis, health.until <= now]
        query = (
            _select_deals(report).where(or_(*differs, *_is_changed())).order_by(t.demand_deals.c.id.desc())
        )
        return self.read(lambda connection: [*connection.execute(query).scalars()], SECONDS)

    def is_changed(self, report: HealthReport, deals: Collection[int]) -> bool:
        """Whether one of these deals, or what it is linked with, changed since its health was computed."""
        query = _select_deals(report).where(t.demand_deals.c.id.in_(deals), or_(*_is_changed())).limit(1)
        return bool(self.rows(query))

    def batch(self, ids: Sequence[int], now: datetime) -> HealthBatch:
        """These deals, all of one moment; at most BATCH_SIZE."""

        def read(connection: Connection) -> HealthBatch:
            work = Work.of(connection, DealsScope())
            deals = [OWN.read(DemandDeal, body) for body in ENTITY_STORES["demand_deals"].show(work, ids)]
            package_ids = sorted(
                {package.id for deal in deals for package in deal.supply_deals if package.id}
            )
            packages = [
                OWN.read(SupplyPackage, body)
                for body in ENTITY_STORES["supply_deals"].show(work, package_ids)
            ]
            buyers = {deal.seat.id: deal.seat for deal in deals if deal.seat and deal.seat.id}
            platforms = {seat.dsp.id: seat.dsp for seat in buyers.values() if seat.dsp and seat.dsp.id}
            version_columns = _versions()
            labels = [version.label(name) for name, version in version_columns.items()]
            source = t.demand_deals.join(t.seats, t.seats.c.id == t.demand_deals.c.seat_id).join(t.dsps)
            versions = select(t.demand_deals.c.id, *labels).select_from(source)
            rows = work.rows(versions.where(t.demand_deals.c.id.in_(ids)))
            return HealthBatch(
                tuple(deals),
                DealContext(
                    {package.id: package for package in packages if package.id}, buyers, platforms, now,
                    partial(self.history, now),
                ),
                {row.id: {name: int(row._mapping[name]) for name in version_columns} for row in rows},
            )  # fmt: skip

        return self.read(read, SECONDS)

    def history(self, now: datetime, entity: str, entity_id: int) -> list[EntityChange]:
        """The changes of an entity in the last 90 days, the latest first."""
        mine = t.changes.c.entity == entity, t.changes.c.entity_id == entity_id, t.changes.c.at >= now - PAST
        names = ("id", "at", "who", "token", "action", "before", "after")
        return [
            EntityChange.model_validate({name: getattr(row, name) for name in names})
            for row in self.rows(select(t.changes).where(*mine).order_by(t.changes.c.id.desc()))
        ]

    def keep(self, report: HealthReport, healths: Mapping[int, DealHealth], batch: HealthBatch) -> None:
        """Store the health of a batch in place of what was there; of deals removed meanwhile, none."""
        with self.write(SECONDS) as connection:
            query = select(t.demand_deals.c.id).where(t.demand_deals.c.id.in_(healths))
            existing = {*connection.execute(query).scalars()}
            rows = []
            for deal in batch.deals:
                if deal.id not in existing:
                    continue
                health = healths[deal.id or 0]
                rows.append({
                    "report_id": report.id, "deal_id": deal.id, "basis": report.basis, "state": health.state,
                    "facts": health.facts, "computed_at": batch.context.now,
                    "until": batch.context.until(deal),
                    **{name: health.delivery.get(name) for name in FIGURES},
                    **{f"{name}_version": version for name, version in batch.versions[deal.id or 0].items()},
                })  # fmt: skip
            mine = t.deal_health.c.report_id == report.id, t.deal_health.c.deal_id.in_(healths)
            connection.execute(delete(t.deal_health).where(*mine))
            is_there = select(t.health_reports.c.id).where(t.health_reports.c.id == report.id)
            if rows and connection.execute(is_there).one_or_none() is not None:
                connection.execute(insert(t.deal_health), rows)

    def of(self, pair: Pair, ids: Collection[int]) -> dict[int, DealHealth]:
        """The stored health of these deals by this report: ask only for what the person may see."""
        query = (
            select(t.deal_health).join(t.health_reports).where(*_is(pair), t.deal_health.c.deal_id.in_(ids))
        )
        rows = self.rows(query) if ids else []
        figures = {row.deal_id: {name: getattr(row, name) for name in FIGURES} for row in rows}
        return {
            row.deal_id: DealHealth.from_facts(row.state, row.facts, figures[row.deal_id]) for row in rows
        }

    def counts(self, pair: Pair) -> tuple[int, int, int]:
        """How many deals have a row for the present data, how many have one, and how many there are."""
        current = func.count().filter(t.deal_health.c.basis == t.health_reports.c.basis)
        query = (
            select(current, func.count()).select_from(t.deal_health.join(t.health_reports)).where(*_is(pair))
        )
        everything = select(func.count()).select_from(t.demand_deals)

        def read(connection: Connection) -> tuple[int, int, int]:
            current_count, row_count = connection.execute(query).one()
            return current_count, row_count, connection.execute(everything).scalar_one()

        return self.read(read)


def _is(pair: Pair) -> tuple[Any, ...]:
    return t.health_reports.c.project == pair[0], t.health_reports.c.slicer == pair[1]


def _report(row: Any) -> HealthReport:
    return HealthReport(
        row.id, (row.project, row.slicer), row.basis, row.last_day, row.checked_at, row.problem
    )


def _versions() -> dict[str, Any]:
    """The columns with the versions of a deal's parts; every change of links is one of the deal."""
    package_versions = (
        select(func.coalesce(func.sum(t.supply_packages.c.version), 0))
        .join(t.supply_package_deals, t.supply_package_deals.c.supply_package_id == t.supply_packages.c.id)
        .where(t.supply_package_deals.c.demand_deal_id == t.demand_deals.c.id)
        .correlate(t.demand_deals)
        .scalar_subquery()
    )
    return {
        "deal": t.demand_deals.c.version,
        "packages": package_versions,
        "seat": t.seats.c.version,
        "dsp": t.dsps.c.version,
    }


def _is_changed() -> list[Any]:
    """Conditions of `_select_deals`, of which one holds where the stored health is of an earlier version."""
    return [t.deal_health.c[f"{name}_version"] != version for name, version in _versions().items()]


def _select_deals(report: HealthReport) -> Any:
    """The ids of all deals, each with its health by this report, if any."""
    deal, health = t.demand_deals.c, t.deal_health.c
    return select(deal.id).select_from(
        t.demand_deals.join(t.seats, t.seats.c.id == deal.seat_id)
        .join(t.dsps, t.dsps.c.id == t.seats.c.dsp_id)
        .outerjoin(t.deal_health, (health.deal_id == deal.id) & (health.report_id == report.id))
    )
