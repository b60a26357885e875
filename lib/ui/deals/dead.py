"""The dialog of dead targets: the search and its list, a preview, and one change for each package."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import partial
from typing import Any

import streamlit as st

from lib.deals.bulk_actions import ActionRecord
from lib.deals.models import PackageOrDeal, SupplyPackage, Targeting
from lib.insight.dead_search import MOST, DeadFound, DeadScope, DeadSearch
from lib.insight.dead_targets import IncludedTarget, identity
from lib.insight.estimate import BIDS, IMPRESSIONS, field_of
from lib.insight.filters import entries
from lib.insight.kinds import elements
from lib.reporting.dates import Days
from lib.reporting.models import ROWS_LIMITS, AudienceQuery, DataField
from lib.ui.charts import numbers
from lib.ui.deals import catalogue, dead_list, facts, insights, permission, planned_steps, report, undo
from lib.ui.deals.dead_list import DeadRow
from lib.ui.deals.list_search import ListSearch
from lib.ui.deals.planned_job import PlannedJob
from lib.ui.deals.planned_steps import Results, became, note, number
from lib.ui.deals.rows import Key
from lib.ui.deals.several_change import Effect
from lib.ui.deals.targeting import picker, words
from lib.ui.deals.targeting.words import Described
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import report_errors
from lib.ui.query.periods import DAY
from lib.wire.errors import TrancheError

Describe = Callable[[Targeting], Described]
Action = Callable[[], None]
SUPPLY = "supply_deals"
MATCHED = {"app_list_targetings": "apps", "domain_list_targetings": "domains"}


@dataclass
class RepairJob(PlannedJob):
    """The removal of `chosen` targets, by package id.

    `after` are the packages as they would be, `removed` what they lose, by key.
    """

    chosen: Mapping[int, Sequence[IncludedTarget]]
    names: Mapping[int, str]
    after: dict[Key, SupplyPackage] = field(default_factory=dict)
    removed: dict[Key, str] = field(default_factory=dict)

    def planned(self, found: PackageOrDeal, key: Key, rows: frozenset[Key]) -> None:
        """Add what becomes of a package."""
        if not isinstance(found, SupplyPackage):
            return
        fields, gone, kept = _without(found, self.chosen[key[1]])
        also = " ".join(_stays(name, some) for name, some in kept.items())
        refused = "" if fields else also
        if not fields and not kept:
            also = "It does not target this any more."
        before = {name: elements(found)[name] for name in fields}
        effect = Effect(key, self.name(key), rows, before, fields, found.etag, refused, also)
        targets = {name: tuple(one for one in getattr(found, name) if one not in gone) for name in fields}
        self.after[key] = found.model_copy(update=targets)
        self.removed[key] = ", ".join(one.kind.value(one.target) for one in self._removals(key[1], fields))
        self.add(found, effect)

    def name(self, key: Key) -> str:
        """What the list calls it."""
        return self.names.get(key[1]) or f"Package {key[1]}"

    def _removals(self, package: int, fields: Mapping[str, Any]) -> Iterable[IncludedTarget]:
        return (one for one in self.chosen[package] if one.kind.field in fields)


def _without(
    package: SupplyPackage, dead: Sequence[IncludedTarget]
) -> tuple[dict[str, Any], list[Any], dict[str, list[str]]]:
    """The fields without these targets, the targets that go, and by field those that have to stay.

    An element without included targets matches everything: its last ones stay.
    """
    fields: dict[str, Any] = {}
    gone: list[Any] = []
    kept: dict[str, list[str]] = {}
    there = elements(package)
    for name in dict.fromkeys(one.kind.field for one in dead):
        in_field = [one for one in dead if one.kind.field == name]
        lost = [one.kind.element(identity(one.kind, one.target), False) for one in in_field]
        rest = [one for one in there[name] if one not in lost]
        if len(rest) == len(there[name]):
            continue
        if all(one["is_excluded"] for one in rest):
            kept[name] = [one.kind.value(one.target) for one in in_field]
            continue
        fields[name] = rest
        ids = {(one.kind.name, identity(one.kind, one.target)) for one in in_field}
        gone += [
            target
            for kind in dict.fromkeys(one.kind for one in in_field)
            for target in kind.of(package)
            if not target.is_excluded and (kind.name, identity(kind, target)) in ids
        ]
    return fields, gone, kept


def _stays(name: str, values: list[str]) -> str:
    matched = MATCHED.get(name, facts.title(name).lower())
    verb, them = ("stays", "it") if len(values) == 1 else ("stay", "them")
    sentence = f"{facts.title(name)}: {', '.join(values)} {verb}"
    return f"{sentence}, because without {them} the package would match all {matched}."


def begun(record: ActionRecord, chosen: Sequence[DeadRow]) -> RepairJob:
    """The repair of these rows, whose packages are read next."""
    targets: dict[int, list[IncludedTarget]] = {}
    for row in chosen:
        targets.setdefault(row.package.id or 0, []).append(row.dead.included)
    job = RepairJob(chosen=targets, names={row.package.id or 0: row.name for row in chosen}, record=record)
    job.begin([(SUPPLY, one) for one in targets])
    return job


def draw_dead_repair(
    context: PageContext, job: RepairJob, describe: Describe, back: Action, close: Action
) -> None:
    """Draw the phase that it is in, with the ways back to the list and out of the dialog, both callbacks."""
    if job.phase in ("reading", "writing"):
        planned_steps.run(context, job, lambda: None)
    elif job.phase == "preview":
        _repair_preview(job, describe, back)
    else:
        _result(job, describe, close)


def _repair_preview(job: RepairJob, describe: Describe, back: Action) -> None:
    changes = planned_steps.changes([one for one in job.effects if one.is_change])
    planned_steps.summary(job, changes)
    with st.container(horizontal=True):
        st.button(
            f"Save {changes}".strip(), type="primary", key="dead_save", disabled=not changes,
            on_click=job.start,
        )  # fmt: skip
        st.button("Back", key="dead_back", on_click=back)
    planned_steps.table(_repair_rows(job, describe, {}), "What each package would target")


def _result(job: RepairJob, describe: Describe, close: Action) -> None:
    saved = planned_steps.changes([one.effect for one in job.outcomes if not one.reason])
    planned_steps.verdict(job, f"{saved} saved" if saved else "Nothing saved")
    with st.container(horizontal=True):
        if st.button("Close", key="dead_close"):
            close()
            st.rerun()
        if job.left or any(one.reason for one in job.outcomes):
            st.button("Preview the rest again", key="dead_again", on_click=_again, args=(job,))
        if saved:
            undo.offer(job.record, close)
    planned_steps.table(_repair_rows(job, describe, planned_steps.results(job)), "The result of each change")


def _repair_rows(job: RepairJob, describe: Describe, found: Results) -> dict[str, list[str]]:
    """A row per package: what it loses, and what it targets afterwards."""
    effects = job.effects
    columns = {"Name": [one.name for one in effects]}
    if found:
        columns["Result"] = [became(one, found) for one in effects]
    columns["Removed"] = [job.removed.get(one.key, "") for one in effects]
    columns["Targets afterwards"] = [_afterwards(job, one, describe) for one in effects]
    return columns | {"Note": [note(one, found) for one in effects]}


def _afterwards(job: RepairJob, effect: Effect, describe: Describe) -> str:
    after = job.after.get(effect.key)
    return "" if after is None else words.sentence(after, None, describe(after))


def _again(job: RepairJob) -> None:
    """Read those again that were not saved. A callback."""
    job.begin(sorted(job.unsaved))


OPEN, PERIOD, PERIODS, USUAL = "dead_targets", "dead_days", (7, 14, 30), 30
MOMENT_SECONDS, LOOK_BACK = 0.2, 365


@dataclass
class DeadView:
    """The dialog's contents: the search for `asked`, and the repair, if there is one."""

    asked: object = None
    search: DeadSearch | None = None
    repair: RepairJob | None = None

    def forget(self) -> None:
        """Search again next time; give up what is still being searched."""
        if self.search is not None:
            self.search.cancel()
        self.asked, self.search = None, None


def draw(search: ListSearch) -> None:
    """Draw the button beside the list of packages."""
    if search.entity == SUPPLY:
        st.button(
            "Dead targets", icon=":material/heart_broken:", type="tertiary", key="deals_dead",
            help="Targeted values without a bid, over all packages", on_click=_ask,
        )  # fmt: skip


def shown(context: PageContext) -> None:
    """Draw the dialog, if it is open."""
    view: DeadView | None = st.session_state.get(OPEN)
    if view is not None:
        dialog = st.dialog("Dead targets", width="large", icon=":material/heart_broken:", on_dismiss=_close)
        dialog(_content)(context, view)


def leave() -> None:
    """Close the dialog, if it is open: another screen was opened."""
    if OPEN in st.session_state:
        _close()


def _ask() -> None:
    """Open the dialog. A callback."""
    dead_list.choose_none()
    st.session_state[OPEN] = DeadView()


def _close() -> None:
    """Close it; what is not sent yet is not sent. A callback."""
    view: DeadView = st.session_state.pop(OPEN)
    view.forget()
    if view.repair is not None and view.repair.outcomes:
        catalogue.forget()


def _content(context: PageContext, view: DeadView) -> None:
    with st.empty().container():
        if view.repair is not None:
            draw_dead_repair(context, view.repair, _descriptions(context), partial(_back, view), _close)
            return
        days = st.segmented_control(
            "Days without a bid", PERIODS, format_func=lambda one: plain(f"{one} days"), key=PERIOD,
            default=USUAL, required=True, persist_state="session", on_change=dead_list.choose_none,
        )  # fmt: skip
        field = field_of(context.slicer, (*BIDS, *IMPRESSIONS))
        if field is None:
            st.caption("This slicer has no data field for bids or impressions.")
            return
        with report_errors("The dead targets", kept="Nothing was changed."):
            _draw_search(context, view, days or USUAL, field)


def _draw_search(context: PageContext, view: DeadView, days: int, field: DataField) -> None:
    """Draw what is found; how far the search is until then."""
    period = _exactly(context, days, field)
    span = report.period(context, period)
    before = _before(context, period, span[0])
    asked = (context.person.username, period, before)
    if view.search is None or view.asked != asked:
        view.forget()
        lists, now = entries(catalogue.lists(context)), datetime.now(UTC)
        scope = DeadScope(context.slicer, lists, period, before, field.name, now)
        ask = partial(context.reporting.audience, slicer=context.slicer)
        view.asked, view.search = asked, DeadSearch(catalogue.client(context), ask, scope)
    if not view.search.wait(MOMENT_SECONDS):
        st.caption(f":material/hourglass_top: Looking for dead targets: {plain(view.search.progress)}.")
        insights.look_again(view.search)
        return
    try:
        found = view.search.found()
    except TrancheError:
        view.forget()
        raise
    _draw_list(context, view, found, span, field)
    _notes(context, found, span, before, field)


def _draw_list(context: PageContext, view: DeadView, found: DeadFound, span: Days, field: DataField) -> None:
    """Draw the list, and what can be done about it."""
    rows, what = dead_list.rows(found), plain(numbers.title(field).lower())
    if not found.bids.has_data:
        st.info(f"The report has no data for {numbers.days(*span)}: nothing can be said.")
    elif not rows and found.unproven:
        st.info("No target is known to be dead.", icon=":material/info:")
    elif not rows:
        st.success(f"Every target that was checked had {what}.", icon=":material/check_circle:")
    if not rows:
        return
    packages = len({row.package.id for row in rows})
    more = f"; the first {dead_list.MOST} are listed" if len(rows) > dead_list.MOST else ""
    st.markdown(
        f"**{_count_label(len(rows), 'target')}** of {_count_label(packages, 'package')} had no {what}{more}."
    )
    why_not = permission.of(context).why_not(SUPPLY, "change")
    descriptions = _descriptions(context)(dead_list.targeting(one.included for one in found.dead))
    dead_list.draw(rows, descriptions, ticks=not why_not)
    if why_not:
        st.caption(f":material/lock: {plain(why_not)}.")
        return
    keys = dead_list.current_choice().keys
    chosen = [row for row in rows if row.key in keys]
    st.button(
        f"Preview removal of {number(len(chosen))}" if chosen else "Preview removal", type="primary",
        key="dead_preview", disabled=not chosen, on_click=_preview, args=(context, view, chosen),
        help=None if chosen else "Choose what to remove",
    )  # fmt: skip


def _preview(context: PageContext, view: DeadView, chosen: list[dead_list.DeadRow]) -> None:
    """Read the packages for the preview. A callback."""
    record = context.clients.bulk_actions.record("Removed dead targets of")
    view.repair = begun(record, chosen)


def _back(view: DeadView) -> None:
    """Back to the list. A callback."""
    view.repair = None


def _notes(
    context: PageContext, found: DeadFound, span: Days, before: AudienceQuery | None, field: DataField
) -> None:
    """Say what was asked, and what could not be checked."""
    days = (span[1] - span[0]).days + 1
    had = f" ({number(found.bids.days)} of {days} days have data)" if 0 < found.bids.days < days else ""
    has = "has" if len(found.packages) == 1 else "have"
    looked = f"{_count_label(len(found.packages), 'package')} that {has} not ended"
    exact = "Exact" if found.bids.is_exact else "From a sample"
    last = "" if before is None else f" Last days are looked for from {_day(before.start_date)}."
    st.caption(
        plain(
            f"{numbers.title(field)} of each value, whatever else the package targets. "
            f"{numbers.days(*span)}{had} · From {context.project}/{context.slicer_name} · "
            f"{exact} · {looked}.{last}"
        )
    )
    sentences = [*found.not_checked]
    if not found.is_whole:
        sentences.append(f"Packages after the first {MOST:,}.")
    if found.unproven:
        named = ", ".join(one.kind.value(one.target) for one in found.unproven)
        sentences.append(f"{named}: none in a sample, which proves nothing. Fewer days may be exact.")
    for sentence in sentences:
        st.caption(f":material/info: Not checked: {plain(sentence)}")


def _exactly(context: PageContext, days: int, field: DataField) -> AudienceQuery:
    """The question for the last days, from as many records as one question may read."""
    query = report.question(context, (), days, (field.name,))
    return query.model_copy(update={"audience_rows_limit": ROWS_LIMITS[1]})


def _before(context: PageContext, period: AudienceQuery, first: date) -> AudienceQuery | None:
    """The same for the data before the first day, a year at most; None where there are none."""
    told, start, end = context.slicer.first_date, first - LOOK_BACK * DAY, first - DAY
    start = max(start, date.fromisoformat(told)) if told else start
    if start > end:
        return None
    return period.model_copy(update={"start_date": start.isoformat(), "end_date": end.isoformat()})


def _descriptions(context: PageContext) -> Describe:
    """Words for the values of a targeting."""
    return partial(picker.describe, context, catalogue.usual_days(context))


def _day(text: str) -> str:
    at = date.fromisoformat(text)
    return numbers.days(at, at)


def _count_label(count: int, entity_store: str) -> str:
    return f"{number(count)} {entity_store}{'' if count == 1 else 's'}"
