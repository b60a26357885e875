"""The screen Slicers: facts of a slicer, its latest figures, its fields, and the top values of a field."""

from collections.abc import Sequence
from datetime import date
from typing import TypeVar

import streamlit as st

from lib.figures import series
from lib.figures.numbers import Numbers, days, in_currency, title
from lib.figures.query import ask, filters, focus, precision
from lib.people.tokens.company import claim_rules
from lib.reporting import named_days
from lib.reporting.models import AudienceQuery
from lib.serving import connect
from lib.serving.connect import dependents
from lib.settings import Settings
from lib.slicers import dates
from lib.slicers.definition.reading import GUESS
from lib.slicers.granularities import time_key_field
from lib.slicers.models import DataField, KeyField
from lib.ui.charts import time_chart
from lib.ui.kit import notes, reader, sign_in, slicer_info
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import saved
from lib.wire.errors import TrancheError
from lib.wire.text import count_of, has_words

Field = TypeVar("Field", KeyField, DataField)
TYPES = {"text": "text", "int": "number"}
PROJECT, NAME, SURE = "manage_project", "manage_name", "manage_sure"
NARROWEST = 132


def matching(fields: Sequence[Field], text: str) -> list[Field]:
    """The fields that contain every word of `text`, ignoring case; all fields without a word."""
    return [field for field in fields if has_words(_search_text(field), text)]


def chosen_field(matches: Sequence[Field], name: str) -> str:
    """The field of that name if the search finds it or finds nothing; else the first one found."""
    names = [field.name for field in matches]
    return name if name in names or not names else names[0]


def row(field: KeyField | DataField) -> tuple[str, str, str, str]:
    """What a field is called, its type, its mapping or formula, and its name in requests."""
    source = field.formula if isinstance(field, DataField) else field.mapping
    is_guess = (field.annotation or "").startswith(GUESS)
    return field.description or field.name, _type(field) + ", a guess" * is_guess, source or "", field.name


def about(field: KeyField | DataField) -> list[str]:
    """Details of a field that are not in its row of the table, as short texts."""
    texts = [field.annotation or ""]
    if isinstance(field, DataField):
        texts = [f"= {field.formula}" if field.formula else "", field.formula_description or "", *texts]
    elif field.is_segmented:
        texts.append("a record can have several values: shares can add up to more than 100 %")
    return [text for text in texts if text]


def _type(field: KeyField | DataField) -> str:
    if isinstance(field, DataField):
        decimals = field.display_precision
        return f"{decimals} decimal{'s' * (decimals > 1)}" if decimals else "whole"
    return TYPES.get(field.type, field.type) + (", segmented" if field.is_segmented else "")


def _search_text(field: KeyField | DataField) -> str:
    more = (field.formula, field.formula_description) if isinstance(field, DataField) else (field.mapping,)
    texts = (field.name, field.description, field.annotation, _type(field), *more)
    return "\n".join(filter(None, texts))


def draw_changes(context: PageContext) -> None:
    """Draw the ways to confirm guesses and to rename or remove the slicer, for administrators, where it is
    this desk's own.

    The dialog asks, and says what depends on the slicer.
    """
    if context.person.role != "admin" or context.clients.reporting_address:
        return
    fields: list[KeyField | DataField] = [*context.slicer.key_fields, *context.slicer.data_fields]
    if any((field.annotation or "").startswith(GUESS) for field in fields) and st.button(
        "Confirm all guesses", icon=":material/check:", type="tertiary", key="confirm_guesses",
        help="All fields of this slicer that are marked “a guess” are right as they are",
    ):  # fmt: skip
        person = sign_in.person()
        if person is not None and person.role == "admin":
            pair = context.project, context.slicer_name
            names = connect.installation(Settings.current()).warehouse.confirm(*pair)
            notes.say(f"Confirmed: {', '.join(names)}")
            st.rerun()
    if st.button("Rename or remove slicer", icon=":material/edit:", type="tertiary", key="manage_slicer"):
        _dialog(context)


@st.dialog("Rename or remove slicer")
def _dialog(context: PageContext) -> None:
    pair = (context.project, context.slicer_name)
    installation = connect.installation(Settings.current())
    source = installation.warehouse.definition(*pair).source
    uses = dependents.count(installation.access, pair).sentence()
    uses = f"Depends on {'/'.join(pair)}: {uses}." if uses else f"Nothing depends on {'/'.join(pair)}."
    st.markdown(plain(f"{uses} Renaming keeps all of it; links to the old name stop working."))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        project = st.text_input("Project", value=pair[0], key=PROJECT)
        name = st.text_input("Slicer", value=pair[1], key=NAME)
        is_new = bool(project and name) and (project, name) != pair
        if st.button("Rename", disabled=not is_new, key="manage_rename"):
            _carry_out(context, (project or "", name or ""))
    rows = "its imported rows" if source is None else f"not the table {source.table}, which stays"
    st.checkbox(plain(f"Remove {'/'.join(pair)}, {rows}, and what depends on it"), key=SURE)
    if st.button("Remove", type="primary", disabled=not st.session_state[SURE], key="manage_remove"):
        _carry_out(context, None)


def _carry_out(context: PageContext, to: dependents.Pair | None) -> None:
    """Rename the slicer, or remove it without a new name, and go on with what there is."""
    person, pair = sign_in.person(), (context.project, context.slicer_name)
    if person is None or person.role != "admin":
        return
    installation, rules = connect.installation(Settings.current()), claim_rules(Settings.current())
    try:
        if to is None:
            dependents.remove(installation.warehouse, installation.access, pair, person.username)
        else:
            dependents.rename(installation.warehouse, installation.access, pair, to, person.username, rules)
    except TrancheError as error:
        st.error(plain(error.reason))
        return
    others = [slicer_pair for slicer_pair in context.clients.slicers if slicer_pair != pair]
    if after := to or next(iter(others), None):
        slicer_info.pick(*after)
    notes.say(f"Removed {'/'.join(pair)}" if to is None else f"Renamed to {'/'.join(to)}")
    st.rerun()


def last_days(context: PageContext) -> AudienceQuery:
    """The question of this screen: the slicer's last complete days, independent of other screens."""
    about = {"project_name": context.project, "slicer_name": context.slicer_name}
    query = AudienceQuery(**about, start_date="today", end_date="today")
    start, end = dates.default_days(context.slicer, ask.today(context, query))
    return query.model_copy(update={"start_date": start, "end_date": end})


def facts(context: PageContext) -> None:
    """Draw the slicer's description, dates, time zone and audience sources."""
    slicer, texts = context.slicer, []
    if slicer.first_date and slicer.last_date:
        first, last = date.fromisoformat(slicer.first_date), date.fromisoformat(slicer.last_date)
        texts.append(f"{days(first, last)}, {count_of((last - first).days + 1, 'day')}")
    zone = "other time zones available" if slicer.supports_timezone else "fixed time zone"
    texts.append(f"UTC{slicer.timezone:+d}, {zone}")
    texts += [text] if (text := precision.source(slicer)) else []
    texts += [f"only rows where {plain(text)}"] if (text := filters.restrictions(slicer)) else []
    for source in slicer.audience_sources:
        annotation = f" ({source.annotation})" if source.annotation else ""
        texts.append(f"{source.description or source.name}{annotation}")
    about = slicer.annotation or context.slicer_name
    with st.container(horizontal=True, wrap=False, vertical_alignment="center"):
        st.markdown(f"**{plain(about)}** · :small[{' · '.join(texts)}]", width="stretch")
        with st.container(width="content"):
            views(context)


@st.fragment
def views(context: PageContext) -> None:
    """Draw the saved views of the slicer; a click opens one on Audience."""
    saved.draw(context, is_elsewhere=True)


def headline(context: PageContext) -> None:
    """Draw the slicer's main figures for its last complete days, each with a sparkline."""
    names = focus.usual_metrics(context.slicer)
    if not names:
        return
    numbers, query = Numbers.of(reader.locale()), last_days(context)
    by_day = time_key_field("day") in context.slicer.key_names
    split = {"split_by": (time_key_field("day"),) if by_day else (), "data_fields": names, "precision": 1}
    answer = ask.estimate(context, query.model_copy(update=split))
    shown_days = named_days.days_of(query, context.slicer)
    with st.grid(max(len(names), 4), min_column_width=NARROWEST, gap="small"):
        for field in map(context.slicer.data_field, names):
            with st.container(gap="xxsmall", key=f"slicer_figure_{field.name}"):
                total = answer.total_of(field.name)
                value = numbers.short(total.value, in_currency(field, total.currency))
                helps = [*filter(None, [answer.total.withheld(field.name)]), *about(field)]
                st.metric(plain(title(field)), plain(value), help=plain(" · ".join(helps)) or None)
                if by_day:
                    course = series.over(answer, field.name, "day", shown_days)
                    time_chart.draw_sparkline(course, field, shown_days, numbers)
    exact = precision.summary(answer, [context.slicer.data_field(name) for name in names], numbers)
    not_finite = precision.not_finite_notes(answer, context.slicer, numbers)
    st.caption(" · ".join([days(*shown_days), plain(exact), *map(plain, not_finite)]))
