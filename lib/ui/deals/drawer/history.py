"""The history of a package or a deal: who changed what, and figures before and after a change."""

from collections.abc import Iterable, Sequence
from datetime import timedelta

import pandas as pd
import streamlit as st

from lib.deals.client import LARGEST_PAGE
from lib.deals.models import EntityChange
from lib.figures import numbers
from lib.figures.deals import deal_report, field_text
from lib.figures.deals.change_text import sentences
from lib.figures.deals.deal_names import KINDS
from lib.figures.deals.field_text import USUAL, Prices
from lib.figures.numbers import Numbers
from lib.figures.query import focus, precision
from lib.insight import Evidence
from lib.slicers.dates import day_of
from lib.ui.deals import catalog, counts
from lib.ui.deals.deal_rows import Key
from lib.ui.deals.insight import report
from lib.ui.kit import times
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain, straighten
from lib.ui.kit.problems import report_errors
from lib.wire.text import write_day


def draw(context: PageContext, key: Key) -> None:
    """The changes of one package or deal, and the evidence of a chosen one."""
    with report_errors("The history", effect="Nothing was changed."):
        changes, money = context.deals.history(*key), catalog.prices_of(context, *key)
        st.table(table(changes, money), border="horizontal", hide_index=True, alt="Changes, latest first")
        if (subject := _choose(changes, money)) is None:
            report.forget(PLACE)
            return
        with report_errors("The evidence", effect="Nothing was changed."):
            _draw_evidence(context, key, changes, subject)


def table(changes: list[EntityChange], money: Prices = USUAL) -> pd.DataFrame:
    """A row per field that was touched, the latest first."""
    rows = [
        (
            field_text.moment(change.at.astimezone(times.zone())),
            plain(field_text.by(change.who, change.token)),
            plain(text),
        )
        for change in changes
        for text in sentences(change, money)
    ]
    return pd.DataFrame(rows, columns=["When", "Who", "What"])


SELECTION = "evidence_of"
LONGEST = 90


def _choose(changes: Sequence[EntityChange], money: Prices) -> EntityChange | None:
    """Draw the choice of a change, and return it; nothing where nothing was changed."""
    names = {
        change.id: f"{field_text.moment(change.at.astimezone(times.zone()))} · "
        f"{'; '.join(sentences(change, money))[:LONGEST]}"
        for change in changes
        if change.action == "changed"
    }
    if not names:
        return None
    if st.session_state.get(SELECTION) not in (None, *names):
        del st.session_state[SELECTION]
    selection = st.selectbox(
        "Evidence of a change", list(names), index=None,
        placeholder="Choose a change to see the days before and after it",
        format_func=lambda number: names[number], key=SELECTION,
    )  # fmt: skip
    return next((change for change in changes if change.id == selection), None)


PLACE = "evidence"


def _draw_evidence(
    context: PageContext, key: Key, changes: Sequence[EntityChange], subject: EntityChange
) -> None:
    """Draw the days before and after a change, beside those of what was not touched."""
    if (deals_context := report.of_deals_or_note(context)) is None:
        return
    slicer, insight = deals_context.slicer, deal_report.insight(deals_context)
    around = insight.evidence_days(subject.at)
    if around is None:
        ready = day_of(subject.at, slicer.timezone) + timedelta(days=Evidence.FEWEST_DAYS + 1)
        st.info(
            f"There is evidence once the report has {Evidence.FEWEST_DAYS} complete days after the "
            f"change, from {write_day(ready)} on.",
            icon=":material/hourglass_empty:",
        )
        return
    entity = context.deals.get(*key)
    entities, counterparts = (
        context.deals.list(entity, limit=LARGEST_PAGE, ordering="id").results
        for entity in sorted(KINDS, key=lambda kind: kind != key[0])
    )
    fields = [slicer.data_field(name) for name in focus.usual_metrics(slicer)]
    lookup = insight.evidence(around, entity, subject, changes, entities, counterparts, fields)
    answers = report.answers(deals_context, PLACE, lookup.queries, "the evidence")
    if answers is None:
        return
    evidence, texts = lookup.read(answers), counts.numbers()
    st.dataframe(
        straighten(_table(evidence, texts)), hide_index=True,
        alt="The figures before and after the change",
    )  # fmt: skip
    precisions = dict.fromkeys(precision.summary(answer, fields, texts) for answer in answers)
    st.caption(plain(_note(deals_context, evidence, precisions)))
    # What else was changed, so that the difference is not of this change alone.
    others = []
    if count := len(evidence.also):
        what = counts.count_label("other change", count)
        others.append(f"{what} in these days: the difference is of all of them.")
    if count := len(evidence.beside):
        other = next(kind for entity, kind in KINDS.items() if entity != evidence.entity.entity)
        what = counts.count_label(f"linked {other}", count)
        since = numbers.days(evidence.around.before[0], evidence.around.before[0])
        others.append(f"{what} changed since {since} too: the difference may be of both.")
    for sentence in others:
        st.warning(sentence, icon=":material/warning:")


def _table(evidence: Evidence, locale_numbers: Numbers) -> dict[str, list[str]]:
    """The figures; a difference that is within its range is none."""
    rows, sentences = evidence.figures, []
    for difference in (row.difference for row in rows):
        if difference is None:
            sentences.append("Too few days with figures, before it or after")
            continue
        span = " to ".join(map(locale_numbers.change, (difference.low, difference.high)))
        least = locale_numbers.percent(100 * difference.reliable)
        sentences.append(
            f"{locale_numbers.change(difference.value)} ({span})"
            if difference.is_certain
            else f"None beyond chance ({span}; falls under {least} may not show)"
        )
    columns = {
        "Figure": [numbers.title(row.field) for row in rows],
        "Difference": sentences,
        "Without a change": ["" if row.difference is None else row.difference.record for row in rows],
        "Before": [locale_numbers.short(row.own[0], row.field) for row in rows],
        "After": [locale_numbers.short(row.own[1], row.field) for row in rows],
    }
    if any(row.others for row in rows):
        for side, title in enumerate(("Untouched before", "Untouched after")):
            columns[title] = [
                locale_numbers.short((row.others or (None, None))[side], row.field) for row in rows
            ]
    return columns


def _note(context: PageContext, evidence: Evidence, precisions: Iterable[str]) -> str:
    """The days, the slicer, how exact the figures are, and what they are compared with."""
    before, after = (numbers.days(*days) for days in (evidence.around.before, evidence.around.after))
    kind, count = KINDS[evidence.entity.entity].lower(), len(evidence.others)
    if count:
        control = counts.count_label(kind, count)
        since = numbers.days(evidence.around.before[0], evidence.around.before[0])
        beside = f"Difference: beyond that of {control} not changed since {since}"
    else:
        beside = f"No other {kind} is known to be untouched, so the difference may be that of the market"
    where = f"{context.project}/{context.slicer_name}"
    return f"Before: {before}. After: {after} · {where} · {' / '.join(precisions)} · {beside}."
