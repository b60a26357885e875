"""Typed values that are not in the picker: suggestions for a misspelled one, or adding them anyway.

Until then they are pending: the picker holds them and the targeting does not have them. Taken out of the
picker, they would empty what is being typed there.
"""

import difflib
import re
from collections.abc import Iterable, Mapping

import streamlit as st

from lib.deals.targeting.kinds import KINDS, TargetingKind, key_field
from lib.figures.query import values
from lib.reporting.models import AudienceQuery
from lib.ui.kit.field_problems import beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import report_errors
from lib.wire import text

SAME = (
    ("smartphone", "mobile", "mobile phone", "phone", "handset", "cell phone", "mobile device"),
    ("desktop", "pc", "personal computer", "computer", "laptop"),
    ("tablet", "ipad", "tab"),
    ("tv", "ctv", "connected tv", "connected_tv", "smart tv", "smarttv", "television", "ott", "set top box"),
    ("macos", "mac os", "mac os x", "os x", "osx"),
    ("ios", "iphone os", "ipados"),
    ("edge", "microsoft edge"),
    ("united states", "usa", "us", "u.s.", "u.s.a.", "america", "united states of america"),
    ("united kingdom", "uk", "gb", "u.k.", "great britain", "britain", "england"),
    ("netherlands", "nl", "holland"),
    ("south korea", "kr", "korea", "republic of korea"),
    ("germany", "de", "deutschland"),
    ("türkiye", "tr", "turkey"),
    ("czechia", "cz", "czech republic"),
)
CLOSE, MOST_NEAR = 0.6, 3
SIZE, LIST_ID = re.compile(r"[1-9]\d{0,4}x[1-9]\d{0,4}"), re.compile(r"[1-9]\d{0,15}")
SIDES = {False: "Only", True: "Never"}
BEGINNING, WIDTH = 3, 340
Place = tuple[str, TargetingKind, bool]
Pending = Mapping[str, tuple[str, ...]]


def exact(text: str, descriptions: Mapping[str, str]) -> str | None:
    """The value with this code or description, ignoring case, or None."""
    text = text.strip().casefold()
    for code, description in descriptions.items():
        if text in (code.casefold(), description.casefold()):
            return code
    return None


def near(text: str, descriptions: Mapping[str, str]) -> list[str]:
    """The codes of values like the one that was typed, the nearest first: the trade's other words, then
    those spelled alike. `descriptions` are by code."""
    text = text.strip().casefold()
    codes: dict[str, str] = {}
    for code, description in descriptions.items():
        codes.setdefault(description.casefold(), code)
        codes.setdefault(code.casefold(), code)
    others = [word for group in SAME if text in group for word in group]
    similar = difflib.get_close_matches(text, codes, n=MOST_NEAR, cutoff=CLOSE)
    return list(dict.fromkeys(codes[word] for word in [*others, *similar] if word in codes))[:MOST_NEAR]


def key(prefix: str, kind: TargetingKind, is_excluded: bool) -> str:
    """The session key of the values chosen on one side of a kind."""
    return f"{prefix}_{kind.name}_{'never' if is_excluded else 'only'}"


def picker_values(place: Place) -> list[str]:
    """All values that the picker of one side holds."""
    codes: list[str] = st.session_state.get(key(*place), [])
    return codes


def settled_values(place: Place) -> list[str]:
    """The values of one side, without pending ones."""
    entries = _waiting(place)
    return [value for value in picker_values(place) if value not in entries]


def pending(prefix: str) -> Pending:
    """What was typed and neither added nor left out, by side: `{"country_only": ("Narnia",)}`."""
    waiting = {side: tuple(_waiting(place)) for side, place in _sides(prefix).items()}
    return {side: values for side, values in waiting.items() if values}


def fill(prefix: str, pending: Pending) -> None:
    """Ask about these values, as `pending` returned them."""
    for side, place in _sides(prefix).items():
        entries = pending.get(side, ())
        st.session_state[key(*place)] = [*picker_values(place), *entries]
        _wait(place, entries)


def take(place: Place, options: Mapping[str, str]) -> None:
    """Choose known and earlier values; other input is pending. A callback."""
    kind, state = place[1], st.session_state
    was = state.get(_before(place), [])
    values, entries = list[str](), list[str]()
    for value in picker_values(place):
        code = value if value in options or value in was else exact(value, options)
        if code is None and kind.is_list and LIST_ID.fullmatch(value):
            code = value
        if code is None:
            code = value.strip().lower() if kind.name == "size" else value.strip()
            entries.append(code)
        values.append(code)
    _hold(place, list(dict.fromkeys(filter(None, values))))
    _wait(place, entries)


def settle(context: PageContext, query: AudienceQuery, place: Place) -> None:
    """Choose the pending input if it occurs in the report, though it is not among the values listed.

    To be called before the picker is drawn.
    """
    field = key_field(place[1], context.slicer)
    fit = [entry for entry in _waiting(place) if not wrong(place[1], entry)] if field is not None else []
    is_known = values.check(context, query, field.name, fit) if field is not None and fit else {}
    for entry in fit:
        if is_known.get(entry):
            add(place, entry, entry)
    st.session_state[_before(place)] = settled_values(place)


def draw(context: PageContext, query: AudienceQuery, place: Place, options: Mapping[str, str]) -> None:
    """Draw the pending input: suggestions, and buttons to add it anyway or to drop it."""
    field = key_field(place[1], context.slicer)
    for entry in _waiting(place):
        at, fault = f"{key(*place)}_{entry}", wrong(place[1], entry)
        beside([f"'{entry}': {fault}." if fault else f"The report has no '{entry}'."])
        with st.container(horizontal=True, gap="xsmall", width=WIDTH):
            # Similar codes among the values listed and, if the report has more, those of the same beginning.
            codes = {code: description for code, description in options.items() if code and not fault}
            if field is not None and not fault:
                with report_errors("Other values", effect="What you typed is kept."):
                    beginning = entry[:BEGINNING]
                    codes |= values.value_options(context, query, field.name, beginning).descriptions
            codes.pop("", None)
            for code in near(entry, codes):
                st.button(
                    f"{plain(options.get(code, code))}?", key=f"{at}_near_{code}", type="secondary",
                    on_click=add, args=(place, entry, code),
                )  # fmt: skip
            if not fault:
                st.button(
                    f"Add '{plain(entry)}' anyway", key=f"{at}_anyway", type="tertiary", on_click=add,
                    args=(place, entry, entry),
                )  # fmt: skip
            st.button(
                f"Leave out '{plain(entry)}'", key=f"{at}_drop", type="tertiary", on_click=add,
                args=(place, entry, ""),
            )  # fmt: skip


def add(place: Place, entry: str, value: str) -> None:
    """Choose this value instead of the pending input `entry`; an empty one drops it. A callback."""
    values = [value if other == entry else other for other in picker_values(place)]
    _hold(place, list(dict.fromkeys(filter(None, values))))
    _wait(place, [other for other in _waiting(place) if other != entry])
    st.session_state[_before(place)] = settled_values(place)


def waiting(prefix: str, kind: TargetingKind) -> list[str]:
    """Sentences about pending input for this kind."""
    return [f"'{entry}' is not added yet." for entry in _of_kind(prefix, kind)]


def tasks(prefix: str) -> list[str]:
    """What is to be done about pending input: `Country: add or leave out 'Narnia'`."""
    texts_of = {kind.title: [f"'{entry}'" for entry in _of_kind(prefix, kind)] for kind in KINDS}
    return [
        f"{title}: add or leave out {', '.join(entries)}" for title, entries in texts_of.items() if entries
    ]


def wrong(kind: TargetingKind, value: str) -> str:
    """Why this is not a valid value of the kind, as the end of a sentence; empty if it is."""
    if kind.is_list:
        return "" if LIST_ID.fullmatch(value) else "a list is named by its id, a number"
    if kind.name == "size":
        return "" if SIZE.fullmatch(value.lower()) else "a size is width x height in pixels, like 300x250"
    return f"a value {sentence}" if (sentence := text.fault(value)) else ""


def _of_kind(prefix: str, kind: TargetingKind) -> list[str]:
    return [entry for is_excluded in SIDES for entry in _waiting((prefix, kind, is_excluded))]


def _sides(prefix: str) -> dict[str, Place]:
    places: list[Place] = [(prefix, kind, is_excluded) for kind in KINDS for is_excluded in SIDES]
    return {key(*place).removeprefix(f"{prefix}_"): place for place in places}


def _waiting(place: Place) -> list[str]:
    codes: list[str] = st.session_state.get(f"{key(*place)}_waiting", [])
    return codes


def _hold(place: Place, values: list[str]) -> None:
    """Set the picker's values; only where they differ, as setting them empties what is being typed."""
    if values != picker_values(place):
        st.session_state[key(*place)] = values


def _wait(place: Place, values: Iterable[str]) -> None:
    st.session_state[f"{key(*place)}_waiting"] = list(dict.fromkeys(filter(None, values)))


def _before(place: Place) -> str:
    return f"{key(*place)}_before"
