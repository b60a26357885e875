"""The supply path of packages: which of their sites and apps are authorized, and the share of bids by state.

What a package has are the entries of the lists that it targets, and the sites and apps with bids in the
report. A record with an app is the app's, whatever site it names too.
"""

from dataclasses import dataclass

from lib.deals.delivery import PERIODS
from lib.deals.models import ListTarget, Targeting
from lib.deals.supply.states import STATES, State, SupplyIndex, SupplyState
from lib.deals.targeting.filters import Lists
from lib.deals.targeting.kinds import KINDS, key_field
from lib.insight.deal_report import DealReport
from lib.insight.funnel_days import PATIENCE
from lib.reporting.answers import Audience
from lib.reporting.query_batch import Lookup
from lib.slicers.models import Slicer
from lib.wire.filters import Filter

VALUES = 500
"""The most values of one filter."""
Entry = tuple[str, bool]
"""A site or an app by its name, and whether it is an app."""


@dataclass(frozen=True)
class InventoryRow:
    """A site or an app, its state, and its bids; `name` is empty for records that name none."""

    name: str
    is_app: bool
    state: SupplyState
    bids: float = 0.0


@dataclass(frozen=True)
class SupplyPath:
    """The sites and apps of a package, what needs attention first, and of each state the most bids first.

    `bids` are those of all of them; None where the report can't tell. `is_exact`: every record was read.
    """

    rows: tuple[InventoryRow, ...]
    bids: float | None = None
    is_exact: bool = True

    def of(self, *states: State) -> list[InventoryRow]:
        """The rows in these states."""
        return [row for row in self.rows if row.state.state in states]

    def share(self, *states: State) -> float | None:
        """The bids of these states in percent of all; None without bids."""
        return 100 * sum(row.bids for row in self.of(*states)) / self.bids if self.bids else None


def split_fields(slicer: Slicer) -> dict[bool, str]:
    """The key fields of sites (False) and apps (True), as far as the slicer has them."""
    fields = {kind.name == "app_list": key_field(kind, slicer) for kind in KINDS if kind.is_list}
    return {is_app: field.name for is_app, field in fields.items() if field is not None}


def entries_in(targeting: Targeting, lists: Lists) -> list[Entry]:
    """The entries of the lists that a targeting includes; `lists` as for `report_filters`."""
    entries: dict[Entry, None] = {}
    for kind in KINDS:
        for target in kind.of(targeting) if kind.is_list else ():
            if isinstance(target, ListTarget) and not target.is_excluded:
                names = lists.get((kind.name, target.id), ())
                entries |= dict.fromkeys((name, kind.name == "app_list") for name in names)
    return [*entries]


def supply_path(
    index: SupplyIndex, entries: list[Entry], slicer: Slicer, answer: Audience | None = None, field: str = ""
) -> SupplyPath:
    """The path of these entries, and of what an answer that is split by `split_fields` has; `field` counts
    the bids."""
    bids_of: dict[Entry, float] = dict.fromkeys(entries, 0.0)
    if answer is not None:
        columns = {is_app: [*map(str, answer.names[name])] for is_app, name in split_fields(slicer).items()}
        for row, value in enumerate(answer.values[field]):
            is_app = True in columns and bool(columns[True][row] or False not in columns)
            entry, bids = (columns[is_app][row], is_app), float(value) if value == value else 0.0
            if bids > 0 or entry in bids_of:
                bids_of[entry] = bids_of.get(entry, 0.0) + bids
    rows = [InventoryRow(*entry, index.state(*entry), bids) for entry, bids in bids_of.items()]
    rows.sort(key=lambda row: (STATES.index(row.state.state), not row.state.doubt, -row.bids, row.name))
    total = None if answer is None else sum(row.bids for row in rows)
    return SupplyPath(tuple(rows), total, answer is None or not answer.is_sampled)


def lookup(
    report: DealReport,
    index: SupplyIndex,
    targeting: Targeting,
    lists: Lists,
    filters: tuple[Filter, ...] = (),
    field: str = "",
) -> Lookup[SupplyPath]:
    """The path of a targeting, and of the bids of the last days that `filters` select, which `field` counts.

    No question where the report can't tell; without answers it is that of the targeting's lists.
    """
    entries, fields = entries_in(targeting, lists), (*split_fields(report.slicer).values(),)
    query = report.query(PERIODS[0], filters=filters, data_fields=(field,), split_by=fields)
    return Lookup(
        [query] if fields and field else [],
        lambda answers: supply_path(index, entries, report.slicer, next(iter(answers), None), field),
    )


def unauthorized_shares(
    report: DealReport, index: SupplyIndex, by: str, field: str, days: int
) -> dict[str, float] | None:
    """The percent of the bids of the last days that are for sites and apps that are not authorized, by the
    values of the key field `by`; those without any are left out. None where not every record could be read.

    `field` counts the bids. However many deals there are, it is three questions, and one for each 500 such
    sites or apps.
    """
    fields = split_fields(report.slicer) if index.systems else {}
    no_app = (Filter(name=fields[True], value=("",), match="equals"),) if True in fields else ()
    answers: list[Audience] = []

    def ask(split: str, *filters: Filter) -> list[tuple[str, float]]:
        changes = {"data_fields": (field,), "split_by": (split,), "filters": filters}
        query = report.query(days, exact_within=PATIENCE, **changes)
        answers.append(report.ask(query))
        return [*zip(map(str, answers[-1].names[split]), answers[-1].values[field], strict=True)]

    wrong_bids: dict[str, float] = {}
    for is_app, name in fields.items():
        names = [value for value, _ in ask(name) if value]
        wrong = [value for value in names if index.state(value, is_app).state == "unauthorized"]
        for first in range(0, len(wrong), VALUES):
            batch = Filter(name=name, value=tuple(wrong[first : first + VALUES]), match="equals")
            for value, count in ask(by, batch, *(() if is_app else no_app)):
                wrong_bids[value] = wrong_bids.get(value, 0.0) + (count if count > 0 else 0.0)
    whole = dict(ask(by)) if wrong_bids else {}
    if any(answer.is_sampled for answer in answers):
        return None
    return {value: 100 * count / whole[value] for value, count in wrong_bids.items() if count}
