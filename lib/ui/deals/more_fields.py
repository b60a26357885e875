"""Widgets for plain fields of a package or a deal that have no special place in its form."""

from decimal import Decimal
from typing import Any

import streamlit as st

from lib.deals import fields
from lib.ui.deals import facts
from lib.ui.kit import amounts
from lib.ui.kit.field_problems import FieldProblems, beside
from lib.ui.kit.markdown import plain

PLACED = ("name", "price", "agency_curation_fee", "contact_email")


def names(entity: str) -> tuple[str, ...]:
    """The texts and amounts drawn here; switches are grouped in the form itself."""
    kinds = (*fields.TEXTS, fields.AMOUNT)
    return tuple(name for name in fields.writable(entity, *kinds) if name not in PLACED)


def held(name: str, value: Any) -> Any:
    """A plain field as the value of its widget."""
    kind = fields.BY_NAME[name].kind
    if kind is fields.AMOUNT:
        return amounts.typed(value)
    return value or "" if kind in fields.TEXTS else value


def sent(name: str, typed: Any) -> Any:
    """The value of a plain field's widget as the field of a PUT request.

    A number that can't be read stays the text that it is, which differs from what was there.
    """
    kind = fields.BY_NAME[name].kind
    if kind is fields.AMOUNT:
        return _number(typed)
    return typed or None if kind in fields.TEXTS and name != "name" else typed


def _number(text: str) -> Decimal | str | None:
    try:
        return amounts.read(text)
    except ValueError:
        return text


def draw(entity: str, prefix: str, problems: FieldProblems) -> None:
    """Draw a widget with its error for each of these fields in the form."""
    for name in names(entity):
        if prefix + name not in st.session_state:
            continue
        if fields.BY_NAME[name].kind is fields.AMOUNT:
            amounts.field(facts.title(name), prefix + name)
        else:
            st.text_input(plain(facts.title(name)), key=prefix + name, persist_state="session")
        beside(problems.at(name))
