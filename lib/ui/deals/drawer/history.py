"""The history of a package or a deal: who changed what, and figures before and after a change."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import pandas as pd
import streamlit as st

from lib.deals.client import LARGEST_PAGE
from lib.deals.models import EntityChange, PackageOrDeal
from lib.insight import evidence
from lib.insight.evidence import Difference, EvidenceDays, EvidenceFigure
from lib.reporting.answers import Audience
from lib.slicers.dates import day_of
from lib.slicers.models import DataField
from lib.ui.charts import numbers
from lib.ui.charts.numbers import Numbers
from lib.ui.deals import catalog, counts, field_text
from lib.ui.deals.field_text import USUAL, Prices
from lib.ui.deals.insight import report
from lib.ui.deals.list.deal_rows import KINDS, Key
from lib.ui.kit import times
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain, straighten
from lib.ui.kit.problems import report_errors
from lib.ui.query import focus, precision

PLACE, SELECTION, CHANGE_ACTION, LONGEST = "evidence", "evidence_of", "changed", 90
ACTION_WORDS = {"created": "Created", "removed": "Deleted", "seen": "Opened here for the first time"}


def draw(context: PageContext, key: Key) -> None:
    """The changes of one package or deal, and the evidence of a chosen one."""
    with report_errors("The history", effect="Nothing was changed."):
        changes, money = context.deals.history(*key), catalog.prices_of(context, *key)
        st.dataframe(
            straighten(table(changes, money)),
            hide_index=True,
            column_config={
                "When": st.column_config.DatetimeColumn(
                    format="D MMM YYYY, HH:mm", width=140, timezone=st.context.timezone
                ),
                "Who": st.column_config.TextColumn(width=90),
                "What": st.column_config.TextColumn(width=380),
            },
            alt="Changes, latest first",
        )
        labels = ["; ".join(sentences(change, money)) for change in changes]
        draw_evidence(context, key, changes, labels)


def table(changes: list[EntityChange], money: Prices = USUAL) -> pd.DataFrame:
    """A row per field that was touched, the latest first."""
    rows = [(change.at, change.who, text) for change in changes for text in sentences(change, money)]
    frame = pd.DataFrame(rows, columns=["When", "Who", "What"])
    return frame.assign(When=pd.to_datetime(frame["When"], utc=True))


def sentences(change: EntityChange, money: Prices = USUAL) -> list[str]:
    """A sentence for each field that a change touched."""
    if change.action in ACTION_WORDS:
        return [ACTION_WORDS[change.action]]
    before, after = change.before or {}, change.after or {}
    return [sentence(field, before.get(field), after.get(field), money) for field in after]


def sentence(field: str, before: object, after: object, money: Prices = USUAL) -> str:
    """`Price: 2.50 → 2.75`, `Paused`, `Places: added FR`."""
    if field == "is_active":
        return "Resumed" if after else "Paused"
    if isinstance(before, list) and isinstance(after, list):
        return f"{field_text.title(field)}: {_difference(field, before, after)}"
    old, new = (field_text.value(field, value) for value in (before, after))
    return f"{field_text.title(field, money)}: {old} → {new}"


def _difference(field: str, before: list[object], after: list[object]) -> str:
    sides = {
        "added": [element for element in after if element not in before],
        "removed": [element for element in before if element not in after],
    }
    return (
        "; ".join(
            f"{verb} {field_text.value(field, elements)}" for verb, elements in sides.items() if elements
        )
        or "another order"
    )


@dataclass(frozen=True)
class EvidenceScope:
    """A change's entity and days, and what else was changed around it.

    `also` are the other changes of the entity in these days, `beside` the ids of its deals (or packages) that
    have changed since the first of them, `others` the untouched ones that it is compared with.
    `change_days` are the days of all changes of the entity.
    """

    entity: PackageOrDeal
    also: Sequence[EntityChange]
    beside: Sequence[int]
    around: EvidenceDays
    others: Sequence[PackageOrDeal]
    change_days: Collection[date]


def draw_evidence(
    context: PageContext, key: Key, changes: Sequence[EntityChange], labels: Sequence[str]
) -> None:
    """Draw the choice of a change, and its evidence; nothing where nothing was changed.

    `labels` say what each of the changes was.
    """
    names = {
        change.id: f"{field_text.moment(change.at.astimezone(times.zone()))} · {label[:LONGEST]}"
        for change, label in zip(changes, labels, strict=True)
        if change.action == CHANGE_ACTION
    }
    if not names:
        return
    if st.session_state.get(SELECTION) not in (None, *names):
        del st.session_state[SELECTION]
    selection = st.selectbox(
        "Evidence of a change",
        list(names),
        index=None,
        placeholder="Choose a change to see the days before and after it",
        format_func=lambda number: names[number],
        key=SELECTION,
    )
    if selection is None:
        report.forget(PLACE)
        return
    with report_errors("The evidence", effect="Nothing was changed."):
        _draw(context, key, changes, next(change for change in changes if change.id == selection))


def _draw(context: PageContext, key: Key, changes: Sequence[EntityChange], subject: EntityChange) -> None:
    if (deals_context := report.of_deals_or_note(context)) is None:
        return
    hours = deals_context.slicer.timezone
    base = report.question(deals_context, (), 1, focus.usual_metrics(deals_context.slicer))
    last = report.period(deals_context, base)[1]
    first_date = deals_context.slicer.first_date
    earliest = None if first_date is None else date.fromisoformat(first_date)
    around = evidence.days(subject.at, hours, last, earliest)
    if around is None:
        ready = day_of(subject.at, hours) + timedelta(days=evidence.FEWEST + 1)
        st.info(
            f"There is evidence once the report has {evidence.FEWEST} complete days after the change, from "
            f"{numbers.days(ready, ready)} on.",
            icon=":material/hourglass_empty:",
        )
        return
    scope = _scope(context, key, changes, subject, around, hours)
    asking = report.deal_report(deals_context)
    queries = evidence.questions(asking, base, scope.entity, scope.others, around)
    answers = report.answers(deals_context, PLACE, queries, "the evidence")
    if answers is None:
        return
    _draw_entries(deals_context, scope, base.data_fields or (), answers)


def _scope(
    context: PageContext,
    key: Key,
    changes: Sequence[EntityChange],
    subject: EntityChange,
    around: EvidenceDays,
    hours: int,
) -> EvidenceScope:
    entity = context.deals.get(*key)
    entities, counterparts = (
        context.deals.list(entity, limit=LARGEST_PAGE, ordering="id").results
        for entity in sorted(KINDS, key=lambda kind: kind != key[0])
    )
    first, last = around.before[0], around.after[1]
    also = [other for other in changes if other is not subject and first <= day_of(other.at, hours) <= last]
    others = evidence.control_group(entities, counterparts, entity, first, hours)
    beside = evidence.changed_with(entity, counterparts, first, hours)
    days = evidence.change_days(changes, hours)
    return EvidenceScope(entity, also, beside, around, others, days)


def _draw_entries(
    context: PageContext, scope: EvidenceScope, names: Sequence[str], answers: Sequence[Audience]
) -> None:
    fields = [context.slicer.data_field(name) for name in names]
    rows = evidence.figures(fields, answers, scope.around, scope.change_days)
    numbers = counts.numbers()
    st.dataframe(
        straighten(_table(rows, numbers)), hide_index=True, alt="The figures before and after the change"
    )
    st.caption(plain(_note(context, scope, answers, fields, numbers)))
    for sentence in _warnings(scope):
        st.warning(sentence, icon=":material/warning:")


def _warnings(scope: EvidenceScope) -> list[str]:
    """What else was changed, so that the difference is not of this change alone."""
    sentences = []
    if count := len(scope.also):
        what = counts.count_label("other change", count)
        sentences.append(f"{what} in these days: the difference is of all of them.")
    if count := len(scope.beside):
        other = next(kind for entity, kind in KINDS.items() if entity != scope.entity.entity)
        what = counts.count_label(f"linked {other}", count)
        since = numbers.days(scope.around.before[0], scope.around.before[0])
        sentences.append(f"{what} changed since {since} too: the difference may be of both.")
    return sentences


def _table(rows: Sequence[EvidenceFigure], locale_numbers: Numbers) -> dict[str, list[str]]:
    columns = {
        "Figure": [numbers.title(row.field) for row in rows],
        "Difference": [_evidence_change(row.difference, locale_numbers) for row in rows],
        "Without a change": [_placebos(row) for row in rows],
        "Before": [locale_numbers.short(row.own[0], row.field) for row in rows],
        "After": [locale_numbers.short(row.own[1], row.field) for row in rows],
    }
    if any(row.others for row in rows):
        for side, title in enumerate(("Untouched before", "Untouched after")):
            columns[title] = [
                locale_numbers.short((row.others or (None, None))[side], row.field) for row in rows
            ]
    return columns


def _evidence_change(difference: Difference | None, numbers: Numbers) -> str:
    """The difference in words; one that is within its range is none."""
    if difference is None:
        return "Too few days with figures, before it or after"
    span = f"{numbers.change(difference.low)} to {numbers.change(difference.high)}"
    if difference.is_certain:
        return f"{numbers.change(difference.value)} ({span})"
    least = numbers.percent(100 * difference.reliable)
    return f"None beyond chance ({span}; falls under {least} may not show)"


def _placebos(row: EvidenceFigure) -> str:
    """How often the figure moved as much around earlier days on which nothing was changed."""
    if row.difference is None:
        return ""
    pairs = row.difference.pairs
    spans = "fortnights" if pairs == evidence.LONGEST else f"spans of {pairs} and {pairs} days"
    return f"Moved as much in {row.difference.as_large} of {row.difference.placebos} past {spans}"


def _note(
    context: PageContext,
    scope: EvidenceScope,
    answers: Sequence[Audience],
    fields: Sequence[DataField],
    locale_numbers: Numbers,
) -> str:
    """The days, the slicer, how exact the figures are, and what they are compared with."""
    before, after = (numbers.days(*days) for days in (scope.around.before, scope.around.after))
    exactly = dict.fromkeys(precision.summary(answer, fields, locale_numbers) for answer in answers)
    kind, count = KINDS[scope.entity.entity].lower(), len(scope.others)
    if count:
        control = counts.count_label(kind, count)
        since = numbers.days(scope.around.before[0], scope.around.before[0])
        beside = f"Difference: beyond that of {control} not changed since {since}"
    else:
        beside = f"No other {kind} is known to be untouched, so the difference may be that of the market"
    where = f"{context.project}/{context.slicer_name}"
    return f"Before: {before}. After: {after} · {where} · {' / '.join(exactly)} · {beside}."
