"""The pickers of a targeting: a popover per kind, with the report's values, the most frequent first."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import streamlit as st

from lib.deals.models import Targeting
from lib.deals.targeting.kinds import KINDS, TargetingKind, key_field
from lib.figures.deals import deal_report, targeting_text
from lib.figures.deals.targeting_text import value_label
from lib.figures.query import filters, values
from lib.reporting.models import AudienceQuery
from lib.ui.deals import catalog, counts
from lib.ui.deals.targeting import pending
from lib.ui.deals.targeting.pending import SIDES
from lib.ui.kit.field_problems import FieldProblems, beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import report_errors

NARROWEST, WIDTH = 150, 340


def fill(prefix: str, targeting: Targeting) -> None:
    """Fill the pickers with this targeting."""
    for kind in KINDS:
        for is_excluded in SIDES:
            codes = [
                str(getattr(target, "id", None) or kind.value(target))
                for target in kind.of(targeting)
                if target.is_excluded == is_excluded
            ]
            st.session_state[pending.key(prefix, kind, is_excluded)] = codes


@dataclass(frozen=True)
class TargetingPicker:
    """The pickers whose keys begin with this prefix; `is_closed` ones can't be changed."""

    context: PageContext
    prefix: str
    is_closed: bool = False

    @cached_property
    def query(self) -> AudienceQuery:
        """The days whose values are offered."""
        return deal_report.usual_days(self.context)

    @cached_property
    def lists(self) -> Mapping[str, Mapping[str, str]]:
        """The names of domain and app lists: `{"domain_list": {"7": "Safe news"}, …}`."""
        return catalog.named_lists(self.context)

    @cached_property
    def takes_ids(self) -> bool:
        """Whether lists are typed by their ids, as the service lists none."""
        return not catalog.abilities(self.context).lists

    def read(self) -> Targeting:
        """The targeting in the pickers, without pending values."""
        elements: dict[str, list[dict[str, object]]] = {}
        for kind in KINDS:
            for is_excluded in SIDES:
                for value in pending.settled_values((self.prefix, kind, is_excluded)):
                    name = {"name": self.lists[kind.name].get(value)} if kind.is_list else {}
                    elements.setdefault(kind.field, []).append(kind.element(value, is_excluded) | name)
        return Targeting.model_validate(elements)

    def draw(self, problems: FieldProblems | None = None, names: Collection[str] | None = None) -> None:
        """Draw the pickers of the fields among `names` (None: all), and under them what is wrong."""
        targeting = self.read()
        descriptions = targeting_text.describe(self.context, self.query, targeting)
        marks = targeting_text.marks(self.context, self.query, [targeting], with_gaps=True)
        with st.grid("auto", min_column_width=NARROWEST, gap="xsmall"):
            for kind in KINDS:
                if names is None or kind.field in names:
                    labels = {**descriptions.get(kind.name, {}), **self.lists.get(kind.name, {})}
                    with st.container(gap="xxsmall"):
                        self._draw_kind(kind, labels, marks.get(kind.name, {}))
        for kind_field in dict.fromkeys(kind.field for kind in KINDS):
            beside((problems or FieldProblems()).at(kind_field))

    def _draw_kind(self, kind: TargetingKind, labels: Mapping[str, str], marks: Mapping[str, str]) -> None:
        """Draw a popover with a fixed label: with another label it would be another widget, and close."""
        popover = st.popover(
            plain(kind.title), key=f"{self.prefix}_{kind.name}", width="stretch", wrap=False,
            on_change="rerun", disabled=self.is_closed,
        )  # fmt: skip
        sides = []  # the choice below the button: `US, CA · not MX`
        for is_excluded in SIDES:
            codes = pending.settled_values((self.prefix, kind, is_excluded))
            if texts := [value_label(code, {code: _value_text(kind, labels, code)}, marks) for code in codes]:
                sides.append(("not " if is_excluded else "") + ", ".join(texts))
        if sides:
            st.caption(plain(" · ".join(sides)))
        beside(pending.waiting(self.prefix, kind))
        if popover.open:
            with popover, report_errors("The values", effect="What you entered is kept."):
                options = {**labels, **(labels if kind.is_list else self._options(kind))}
                # style.css: an open list covers no twin
                with st.container(key=f"{self.prefix}_{kind.name}_twins"):
                    for is_excluded in SIDES:
                        with st.container():
                            self._draw_side((self.prefix, kind, is_excluded), options, marks)

    def _options(self, kind: TargetingKind) -> Mapping[str, str]:
        """The report's values; those found by a search if there are too many to list."""
        context, field = self.context, key_field(kind, self.context.slicer)
        if field is None:
            slicer = plain(context.slicer_name)
            st.caption(f"The slicer {slicer} has no values for it: what you type is not checked.")
            return {}
        options = values.value_options(context, self.query, field.name)
        if options.has_more:
            text = st.text_input(
                "Search", type="search", live=True, key=f"{self.prefix}_{kind.name}_search", width=WIDTH,
                placeholder=options.placeholder(counts.numbers()), label_visibility="collapsed",
            )  # fmt: skip
            options = values.value_options(context, self.query, field.name, text or "")
        return {code: description for code, description in options.descriptions.items() if code}

    def _draw_side(self, place: pending.Place, options: Mapping[str, str], marks: Mapping[str, str]) -> None:
        """Draw one side: the picker of known values, and the handling of other typed ones."""
        _, kind, is_excluded = place
        pending.settle(self.context, self.query, place)
        placeholder = "Most frequent first; type to find" if options else "Type and press Enter"
        if kind.is_list:
            placeholder = "Choose lists" if options else "There are no lists yet"
            if self.takes_ids:
                placeholder = "Type the id of a list, press Enter"
        with st.container(gap="xxsmall"):  # above, as the picker's open list covers what is below
            pending.draw(self.context, self.query, place, options)
        st.multiselect(
            SIDES[is_excluded], list(dict.fromkeys([*pending.picker_values(place), *options])),
            format_func=partial(_value_label, place, options, marks), key=pending.key(*place),
            persist_state="session", filter_mode="contains",
            accept_new_options=self.takes_ids or not kind.is_list, select_all=False,
            placeholder=placeholder, width=WIDTH, on_change=pending.take, args=(place, options),
        )  # fmt: skip


def _value_label(
    place: pending.Place, labels: Mapping[str, str], marks: Mapping[str, str], value: str
) -> str:
    """A value by description and code, marked where it is unknown; a list by its name.

    A pending one is named as it was typed: the browser sends names, and would type another one.
    """
    kind = place[1]
    if value in pending.picker_values(place) and value not in pending.settled_values(place):
        return value
    if kind.is_list:
        return _value_text(kind, labels, value)
    name = filters.both(value, labels.get(value))
    return f"{name} ({marks[value]})" if value in marks else name


def _value_text(kind: TargetingKind, labels: Mapping[str, str], value: str) -> str:
    return labels.get(value) or (f"list {value}" if kind.is_list else value)
