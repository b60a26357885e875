"""How each plain field is typed: its widget, its value in a request, its faults, and its cell in a CSV file.

Everything follows from the field's row in lib/deals/fields.py; what is typed is kept to the letter.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import Any

import streamlit as st

from lib.deals import fields
from lib.deals.fields import DealField, FieldKind
from lib.deals.models import LONGEST_NAME, PERCENT, UNDISCLOSED, guarantee_fault, has_amount
from lib.ui.kit import amounts, times
from lib.ui.kit.field_problems import beside
from lib.ui.kit.markdown import plain
from lib.wire import text as texts

FEE, FEE_TYPE, EMAIL = "agency_curation_fee", "agency_curation_fee_type", "contact_email"
SWITCHES = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
NO_EMAIL = "Not an e-mail address: write it like deals@agency.example."
PERCENTAGE = "A percentage is at most 100."
MISSING = {"name": "Type a name.", "start_date": "Type the start.", "price": "Type a price."}
PLACEHOLDERS = {"name": "Morning news, autumn", EMAIL: "Needed for deal sync", FEE_TYPE: "Not set"}


def widget_value(name: str, value: Any) -> Any:
    """The value of a plain field as its widget holds it; a time in the zone that it is given in."""
    kind = fields.BY_NAME[name].kind
    if kind.limits is not None:
        return amounts.to_text(value)
    if kind is fields.MOMENT:
        return times.to_text(value and value.replace(tzinfo=None))
    return value or "" if kind in fields.TEXTS else value


def request_value(name: str, content: Any, zone: tzinfo = UTC) -> Any:
    """What a widget holds as the field of a request, a time in this zone.

    What can't be read stays the text that it is, which differs from what was there.
    """
    kind = fields.BY_NAME[name].kind
    try:
        if kind.limits is not None:
            return amounts.read(content or "", kind.limits)
        if kind is fields.MOMENT:
            local = times.read(content or "")
            return None if local is None else local.replace(tzinfo=zone)
    except ValueError:
        return content
    return content or None if kind in fields.TEXTS and name != "name" else content


def value(name: str, content: Any, zone: tzinfo = UTC) -> Any:
    """The same; None for what can't be read."""
    request = request_value(name, content, zone)
    kind = fields.BY_NAME[name].kind
    is_unread = isinstance(request, str) and (kind.limits is not None or kind is fields.MOMENT)
    return None if is_unread else request


def fault(name: str, content: Any) -> str:
    """What is wrong with what was typed, as a sentence; empty for what is right, or empty."""
    kind = fields.BY_NAME[name].kind
    if kind.limits is not None:
        return amounts.fault(content or "", limits=kind.limits)
    if kind is fields.MOMENT:
        return times.fault(content or "")
    if kind is fields.EMAIL and (content or "").strip():
        return "" if texts.is_email(content.strip()) else NO_EMAIL
    if kind in fields.TEXTS and (sentence := texts.fault(content or "")):
        return f"This {sentence}."
    return ""


def fee_fault(content: str, fee_type: int | None, missing: str = "Type the fee.") -> str:
    """The error in the size of a fee of this type."""
    if not has_amount(fee_type):
        return ""
    if sentence := amounts.fault(content, "" if fee_type == UNDISCLOSED else missing):
        return sentence
    size = value(FEE, content)
    return PERCENTAGE if fee_type == PERCENT and size is not None and size > 100 else ""


def faults(widgets: Mapping[str, Any]) -> dict[str, str]:
    """What is wrong with fields as they were typed, by name; without those that are empty.

    The end has to be after the start, a fee has to fit its type where there is a type, and what is guaranteed
    its deal type.
    """
    sentences = {
        name: fault(name, one) for name, one in widgets.items() if name in fields.BY_NAME and name != FEE
    }
    start, end = (value(name, widgets.get(name)) for name in ("start_date", "end_date"))
    if start is not None and end is not None and end <= start:
        sentences["end_date"] = "The end must be after the start."
    sentences["deal_type"] = guarantee_fault(widgets)
    if FEE in widgets:
        sentences[FEE] = fee_fault(widgets[FEE] or "", widgets.get(FEE_TYPE))
    return {name: sentence for name, sentence in sentences.items() if sentence}


def blank(one: DealField) -> Any:
    """What the widget of a field holds before anything is typed: its default."""
    if one.default is None or one.default is fields.REQUIRED:
        return "" if one.kind in (*fields.TEXTS, fields.MOMENT) or one.kind.limits is not None else None
    return widget_value(one.name, one.default)


def cell(one: DealField, text: str, faults: list[str]) -> Any:
    """The field's value in a CSV file; None for an empty cell, and for a wrong one, which is added."""
    title = one.column
    try:
        return _from_cell(one.kind, text)
    except ValueError as error:
        faults.append(f"{title}: {error}")
        return None


def _from_cell(kind: FieldKind, text: str) -> Any:
    if not text:
        return None
    if kind.limits is not None:
        return amounts.read(text, kind.limits)
    if kind is fields.SWITCH:
        if text.casefold() not in SWITCHES:
            raise ValueError("write yes or no.")
        return SWITCHES[text.casefold()]
    if kind.choices is not None:
        return _choice(kind.choices, text)
    if kind is fields.EMAIL and not texts.is_email(text):
        raise ValueError(NO_EMAIL)
    if sentence := texts.fault(text):
        raise ValueError(f"This {sentence}.")
    longest = LONGEST_NAME
    if len(text) > longest:
        raise ValueError(f"at most {longest} characters.")
    return text


def _choice(choices: Mapping[Any, str], text: str) -> Any:
    """The value that is called so, by its word or by itself."""
    for one, words in choices.items():
        if text.casefold() in (words.casefold(), str(one).casefold()):
            return one
    raise ValueError(f"write one of {', '.join(choices.values())}.")


@dataclass(frozen=True)
class Look:
    """How a widget is drawn: with another label, closed, or with these options alone."""

    label: str = ""
    disabled: bool = False
    options: Mapping[Any, str] = field(default_factory=dict)
    placeholder: str = ""


USUAL = Look()


def draw(name: str, key: str, look: Look = USUAL) -> None:
    """Draw the widget of a plain field; it keeps what is typed for as long as the session lives."""
    one = fields.BY_NAME[name]
    label = look.label or one.form_label
    placeholder = look.placeholder or PLACEHOLDERS.get(name, "")
    if one.kind.limits is not None:
        amounts.field(label, key, disabled=look.disabled, placeholder=placeholder, help=one.help)
    elif one.kind is fields.MOMENT:
        times.draw(plain(label), key, [], disabled=look.disabled, empty=look.placeholder)
    elif one.kind is fields.SWITCH:
        st.toggle(
            plain(label), key=key, persist_state="session", help=one.help or None, disabled=look.disabled
        )
    elif one.kind.choices is not None:
        _draw_choice(one, label, key, look)
    else:
        is_email = one.kind is fields.EMAIL
        st.text_input(
            plain(label), key=key, persist_state="session", placeholder=placeholder, disabled=look.disabled,
            help=one.help or None, type="email" if is_email else "default", validate="" if is_email else None,
            max_chars=LONGEST_NAME if one.kind is fields.NAME else None,
        )  # fmt: skip


def _draw_choice(one: DealField, label: str, key: str, look: Look) -> None:
    """A choice that is always made as a row of buttons, one that may be left open as a list."""
    words = dict(look.options or one.kind.choices or {})
    value = st.session_state.get(key)
    if value is not None and value not in words:
        words[value] = str(value)
    if one.default is not None:
        st.segmented_control(
            plain(label), list(words), format_func=lambda one: plain(capital(words[one])), key=key,
            required=True, persist_state="session", disabled=look.disabled, help=one.help or None,
        )  # fmt: skip
    else:
        st.selectbox(
            plain(label), list(words), index=None, format_func=lambda one: capital(words[one]), key=key,
            persist_state="session", placeholder=look.placeholder or PLACEHOLDERS.get(one.name, "Not set"),
            disabled=look.disabled, help=one.help or None,
        )  # fmt: skip


def draw_with_faults(name: str, key: str, faults: list[str], look: Look = USUAL) -> None:
    """Draw the widget, and under it what is wrong with it.

    Both are in a container of their own, so that an error that comes or goes moves no other field: one that
    is moved is mounted anew, and loses what is typed in it at that moment.
    """
    with st.container():
        draw(name, key, look)
        beside(faults)


def capital(words: str) -> str:
    """`Percent of spend`: a choice on screen."""
    return words[:1].upper() + words[1:]
