"""How each plain field is typed: its widget, its value in a request, its faults, and its cell in a CSV file.

Everything follows from the field's row in lib/deals/fields.py; what is typed is kept to the letter.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any

import streamlit as st

from lib.deals import fields
from lib.deals.fields import DealField
from lib.deals.models import LONGEST_NAME, has_amount
from lib.deals.validation import CONTACT, FEE, FEE_TYPE, TERM_RULES, broken_rules
from lib.figures import amounts
from lib.ui.kit import amount_field, times
from lib.ui.kit.field_problems import Path, beside
from lib.ui.kit.markdown import plain
from lib.wire import text as texts

EMAIL = CONTACT
SWITCHES = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
NO_EMAIL = "Not an e-mail address: write it like deals@agency.example."
MISSING = {"name": "Type a name.", "start_date": "Type the start.", "price": "Type a price."}
PLACEHOLDERS = {"name": "Morning news, autumn", EMAIL: "Needed for deal sync", FEE_TYPE: "Not set"}
EACH = ", each"
FormValues = Mapping[str, Any]


@dataclass(frozen=True)
class Faults:
    """Sentences by place in the request: what is `wrong` as it was typed, and what is `missing`."""

    wrong: Mapping[Path, str] = field(default_factory=dict)
    missing: Mapping[Path, str] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[Mapping[Path, str], Mapping[Path, str]]:
        return self.wrong, self.missing

    @property
    def all(self) -> dict[Path, str]:
        return {**self.missing, **self.wrong}

    def of_form(self, has_fees: bool) -> "Faults":
        """Those of a form; none of the fee where it offers none."""
        if has_fees:
            return self
        wrong, missing = (
            {path: text for path, text in part.items() if path[-1] != FEE} for part in self.parts
        )
        return Faults(wrong, missing)


def widget_value(name: str, value: Any, zone: tzinfo | None = None) -> Any:
    """The value of a plain field as its widget holds it; a time in this zone, else in that of its own."""
    kind = fields.BY_NAME[name].kind
    if kind.limits is not None:
        return amounts.money_to_text(value) if kind is fields.AMOUNT else amounts.to_text(value)
    if isinstance(value, datetime):
        local = (value.astimezone(zone) if zone else value).replace(tzinfo=None)
        return times.end_to_text(local) if kind is fields.END else times.to_text(local)
    return value or "" if kind in (*fields.TEXTS, *fields.MOMENTS) else value


def contents(values: Mapping[str, Any], zone: tzinfo | None = None) -> dict[str, Any]:
    """The values of plain fields as their widgets hold them."""
    return {name: widget_value(name, value, zone) for name, value in values.items()}


def request_value(name: str, content: Any, zone: tzinfo = UTC) -> Any:
    """What a widget holds as the field of a request, a time in this zone.

    What can't be read stays the text that it is, which differs from what was there.
    """
    kind = fields.BY_NAME[name].kind
    try:
        if kind.limits is not None:
            return amounts.read(content or "", kind.limits)
        if kind in fields.MOMENTS:
            local = times.read(content or "", is_end=kind is fields.END)
            return None if local is None else local.replace(tzinfo=zone)
    except ValueError:
        return content
    return content or None if kind in fields.TEXTS and name != "name" else content


def value(name: str, content: Any, zone: tzinfo = UTC) -> Any:
    """The same; None for what can't be read."""
    request = request_value(name, content, zone)
    kind = fields.BY_NAME[name].kind
    is_unread = isinstance(request, str) and (kind.limits is not None or kind in fields.MOMENTS)
    return None if is_unread else request


def terms_request(terms: FormValues) -> dict[str, Any]:
    """The terms of deals as a request has them; no fee where its type has none."""
    request = {name: value(name, content) for name, content in terms.items()}
    if FEE_TYPE in request and not has_amount(request[FEE_TYPE]):
        request[FEE] = None
    return request


def fault(name: str, content: Any, zone: tzinfo = UTC) -> str:
    """What is wrong with what was typed, as a sentence; empty for what is right, or empty."""
    kind = fields.BY_NAME[name].kind
    if kind.limits is not None:
        return amounts.fault(content or "", limits=kind.limits)
    if kind in fields.MOMENTS:
        return times.fault(content or "", zone)
    if kind is fields.EMAIL and (content or "").strip():
        return "" if texts.is_email(content.strip()) else NO_EMAIL
    return _text_fault((content or "").strip()) if kind in fields.TEXTS else ""


def _text_fault(text: str) -> str:
    """What is wrong with a text in one line, as `fault` says it."""
    if sentence := texts.fault(text):
        return f"This {sentence}."
    is_long = len(text) > LONGEST_NAME
    return f"At most {LONGEST_NAME} characters; this has {len(text):,}." if is_long else ""


def rule_terms(name: str) -> set[str]:
    """The terms that a sentence at this one may be about: itself, and those that its rules have with it."""
    return {name}.union(*(rule.terms for rule in TERM_RULES if rule.name == name))


def faults(
    form_values: FormValues,
    required: Collection[str] = (),
    changes: Collection[str] | None = None,
    zone: tzinfo = UTC,
) -> Faults:
    """What is wrong with fields as they were typed; those `required` are missing when they are empty.

    The end has to be after the start; terms may need or exclude each other (validation.TERM_RULES), of which
    only those about `changes`, the names of fields, are looked at, if these are given. A fee without a type
    isn't sent.
    """
    wrong = {
        name: sentence
        for name in form_values
        if name in fields.BY_NAME and (sentence := fault(name, form_values[name], zone))
    }
    if not has_amount(form_values.get(FEE_TYPE)):
        wrong.pop(FEE, None)
    values = terms_request({name: content for name, content in form_values.items() if name in fields.BY_NAME})
    start, end = (values.get(name) for name in ("start_date", "end_date"))
    if start is not None and end is not None and end <= start:
        wrong["end_date"] = "The end must be after the start."
    missing = {
        name: MISSING.get(name, "Needed.")
        for name in required
        if name in form_values and not (form_values[name] or "").strip()
    }
    for name, rule in broken_rules(values, changes).items():
        if wrong.keys().isdisjoint(rule.terms) and rule.terms <= form_values.keys() | {"deal_sync"}:
            (missing if rule.is_missing else wrong)[name] = rule.sentence
    return Faults(
        {(name,): sentence for name, sentence in wrong.items()},
        {(name,): sentence for name, sentence in missing.items()},
    )


def blank(row: DealField) -> Any:
    """What the widget of a field holds before anything is typed: its default."""
    if row.default is None or row.default is fields.REQUIRED:
        return "" if row.kind in (*fields.TEXTS, *fields.MOMENTS) or row.kind.limits is not None else None
    return widget_value(row.name, row.default)


def cell(row: DealField, text: str, faults: list[str], choices: Mapping[Any, str] | None = None) -> Any:
    """The field's value in a CSV file; None for an empty cell, and for a wrong one, which is added.

    `choices` are those of its kind that the service has, with their words; None: all.
    """
    kind, choices = row.kind, row.kind.choices if choices is None else choices
    if not text:
        return None
    fault = ""
    if kind.limits is not None:
        try:
            return amounts.read(text, kind.limits)
        except ValueError as error:
            fault = str(error)
    elif kind is fields.SWITCH:
        if text.casefold() in SWITCHES:
            return SWITCHES[text.casefold()]
        fault = "write yes or no."
    elif choices is not None:
        for value, word in choices.items():
            if text.casefold() in (word.casefold(), str(value).casefold()):
                return value
        names = ", ".join(choices.values())
        fault = f"write one of {names}." if names else "this service has none."
    else:
        fault = NO_EMAIL if kind is fields.EMAIL and not texts.is_email(text) else _text_fault(text)
    if not fault:
        return text
    faults.append(f"{row.column}: {fault}")
    return None


@dataclass(frozen=True)
class Look:
    """How a widget is drawn: with another label, hidden or not, closed, or with these options alone.

    `width` is in pixels; 0 is its usual one. `on_change` is called with `args` when something was typed or
    chosen.
    """

    label: str = ""
    is_labeled: bool = True
    width: int = 0
    disabled: bool = False
    options: Mapping[Any, str] = field(default_factory=dict)
    placeholder: str = ""
    on_change: Callable[..., None] | None = None
    args: tuple[Any, ...] = ()


USUAL = Look()


def draw(name: str, key: str, look: Look = USUAL) -> None:
    """Draw the widget of a plain field; it keeps what is typed for as long as the session lives.

    Text is sent while it is typed, after a pause: so it is kept through a reload, and what is said about it
    keeps up with it.
    """
    row = fields.BY_NAME[name]
    common: dict[str, Any] = {
        "label": plain(look.label or row.form_label),
        "label_visibility": "visible" if look.is_labeled else "collapsed",
        "key": key,
        "persist_state": "session",
        "disabled": look.disabled,
        "help": row.help or None if look.is_labeled else None,
    } | ({"width": look.width} if look.width else {})
    if row.kind.choices is not None:
        options = dict(look.options or row.kind.choices)
        value = st.session_state.get(key)
        if value is not None and value not in options:
            options[value] = str(value)
        if row.default is not None:  # a choice that is always made is a row of buttons
            st.segmented_control(
                options=list(options), format_func=lambda option: plain(capital(options[option])),
                required=True, **common, **_callback(look),
            )  # fmt: skip
        else:
            st.selectbox(
                options=list(options), index=None, format_func=lambda option: capital(options[option]),
                placeholder=look.placeholder or PLACEHOLDERS.get(row.name, "Not set"),
                **common, **_callback(look),
            )  # fmt: skip
    elif row.kind is fields.SWITCH:
        st.toggle(**common, **_callback(look))
    else:
        # Without a help icon, a time: it would be where Tab goes next, and what is typed then is lost.
        is_email, is_time = row.kind is fields.EMAIL, row.kind in fields.MOMENTS
        hint = f"{times.FORM_HINT}{f' – {look.placeholder}' if look.placeholder else ''}" if is_time else ""
        st.text_input(
            **common, **(_callback(look) or {"on_change": amount_field.note_edit, "args": (key,)}),
            placeholder=hint or look.placeholder or PLACEHOLDERS.get(name, ""),
            type="email" if is_email else "default", validate="" if is_email else None,
            autocomplete=None if row.kind in fields.TEXTS else "off", live=amount_field.PAUSE,
        )  # fmt: skip


def _callback(look: Look) -> dict[str, Any]:
    return {"on_change": look.on_change, "args": look.args} if look.on_change else {}


def draw_with_faults(name: str, key: str, sentences: Iterable[str], look: Look = USUAL) -> None:
    """Draw the widget, and under it what is wrong with it.

    Both are in a container of their own, so that an error that comes or goes moves no other field: one that
    is moved is mounted anew, and loses what is typed in it at that moment.
    """
    with st.container():
        draw(name, key, look)
        beside(sentences)


def capital(text: str) -> str:
    """`Percent of spend`: a choice on screen."""
    return text[:1].upper() + text[1:]
