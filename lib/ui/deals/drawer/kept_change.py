"""What was typed in the drawer and not saved: kept for the person who typed it, offered after a reload."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import streamlit as st
from pydantic import ValidationError

from lib.deals import moments
from lib.deals.client import model_of, to_json
from lib.deals.fields import SUPPLY
from lib.deals.models import DemandDeal, SupplyPackage, Targeting
from lib.ui.deals.changes import merge
from lib.ui.deals.changes.merge import Fields
from lib.ui.deals.deal_rows import Key
from lib.ui.deals.forms import entity_form
from lib.ui.deals.forms.entity_form import LINKS, EntityForm
from lib.ui.deals.targeting import pending
from lib.ui.kit.frame import PageContext
from lib.wire.errors import TrancheError

log = logging.getLogger(__name__)
STORED, FOUND = "kept_changes", "found_changes"


@dataclass(frozen=True)
class KeptChange:
    """What was typed, when, and the state of the entity that it was typed over."""

    at: datetime
    base: Fields
    etag: str | None
    proposal: int | None
    form: Mapping[str, Any]


def find(context: PageContext, key: Key) -> KeptChange | None:
    """The change that a reload left; None without one that can be read. It is found once per session.

    Raises why it can't be looked for; the next call looks anew.
    """
    changes: dict[Key, KeptChange | None] = st.session_state.setdefault(FOUND, {})
    if key in changes:
        return changes[key]
    kept_draft, changes[key] = context.clients.drafts.get(key), None
    try:
        if kept_draft is not None:
            body = kept_draft.body
            entity = model_of(key[0]).model_validate(body["base"])
            values = merge.of(entity) if isinstance(entity, SupplyPackage | DemandDeal) else {}
            base = {name: value for name, value in values.items() if name in body["base"]}
            change = KeptChange(kept_draft.at, base, body["etag"], body["proposal"], body["form"])
            Targeting.model_validate(change.form["targeting"])
            moments.rules(change.form["offset"])
            _bodies()[key], changes[key] = body, change
    except (ValidationError, KeyError):
        log.exception("A change that was kept can't be read")
    return changes[key]


def fill(prefix: str, entity: str, change: KeptChange) -> None:
    """Fill the widgets with what was typed."""
    form = change.form
    targeting = Targeting.model_validate(form["targeting"]) if entity == SUPPLY else None
    entity_form.fill(prefix, form["contents"], form["offset"], targeting)
    if entity == SUPPLY:
        pending.fill(f"{prefix}target", {side: tuple(values) for side, values in form["pending"].items()})
    for name, value in form["links"].items():
        st.session_state[prefix + name] = value


def keep(
    context: PageContext, key: Key, form: EntityForm, base: Fields, etag: str | None, proposal: int | None
) -> str:
    """Keep what is typed; why it could not be kept, in a sentence, else empty."""
    state, names = st.session_state, (LINKS[form.entity], "seat")
    is_package = form.entity == SUPPLY
    body = {
        "base": to_json(base),
        "etag": etag,
        "proposal": proposal,
        "form": {
            "contents": form.contents,
            "offset": form.zone,
            "targeting": to_json(form.targeting) if is_package else {},
            "pending": pending.pending(f"{form.prefix}target") if is_package else {},
            "links": {name: state[form.prefix + name] for name in names if form.prefix + name in state},
        },
    }
    if body == _bodies().get(key):
        return ""
    try:
        context.clients.drafts.keep(body, key)
    except TrancheError as error:
        _bodies().pop(key, None)
        return f"{error.sentence} A reload of this page would lose what you typed."
    _bodies()[key] = body
    return ""


def is_stored(key: Key) -> bool:
    """Whether something of this entity is kept, to be offered after a reload."""
    return key in _bodies()


def discard(context: PageContext, key: Key) -> None:
    """Keep nothing of this entity any more. Where that fails it is offered once more after a reload."""
    st.session_state.get(FOUND, {}).pop(key, None)
    if key not in _bodies():
        return
    try:
        context.clients.drafts.discard(key)
    except TrancheError as error:
        log.warning("A change that was saved or discarded is still kept: %s", error.reason)
    del _bodies()[key]


def _bodies() -> dict[Key, Any]:
    bodies: dict[Key, Any] = st.session_state.setdefault(STORED, {})
    return bodies
