"""A change that was typed in the drawer and not saved: kept for this person, and offered after a reload."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import streamlit as st
from pydantic import ValidationError

from lib.deals.client import model_of, to_json
from lib.deals.fields import SUPPLY
from lib.deals.models import DemandDeal, SupplyPackage, Targeting
from lib.ui.deals import facts
from lib.ui.deals.changes import merge
from lib.ui.deals.changes.merge import Fields
from lib.ui.deals.forms import entity_form
from lib.ui.deals.forms.entity_form import LINKS, EntityForm
from lib.ui.deals.list.deal_rows import Key
from lib.ui.deals.targeting import pending
from lib.ui.kit import times
from lib.ui.kit.frame import PageContext
from lib.wire.errors import TrancheError

log = logging.getLogger(__name__)
KEPT, FOUND = "kept_changes", "found_changes"


@dataclass(frozen=True)
class KeptChange:
    """What was typed, when, and the state of the entity that it was typed over."""

    at: datetime
    base: Fields
    etag: str | None
    proposal: int | None
    typed: Mapping[str, Any]


def find(context: PageContext, key: Key) -> KeptChange | None:
    """The change that a reload left; None without one that can be read. It is looked for once per session."""
    changes: dict[Key, KeptChange | None] = st.session_state.setdefault(FOUND, {})
    if key not in changes:
        changes[key] = _read(context, key)
    return changes[key]


def _read(context: PageContext, key: Key) -> KeptChange | None:
    try:
        kept_draft = context.clients.change_drafts.get(key)
    except TrancheError as error:
        log.warning("What was typed and not saved can't be read: %s", error.reason)
        return None
    if kept_draft is None:
        return None
    body = kept_draft.body
    try:
        entity = model_of(key[0]).model_validate(body["base"])
        stored = merge.of(entity) if isinstance(entity, SupplyPackage | DemandDeal) else {}
        base = {name: value for name, value in stored.items() if name in body["base"]}
        change = KeptChange(kept_draft.at, base, body["etag"], body["proposal"], body["typed"])
        Targeting.model_validate(change.typed["targeting"])
    except (ValidationError, KeyError):
        log.exception("A change that was kept can't be read")
        return None
    _kept()[key] = body
    return change


def offer(change: KeptChange, prefix: str, resume: Callable[[], None], discard: Callable[[], None]) -> None:
    """Ask whether to go on with a change; both answers are callbacks."""
    when = facts.moment(change.at.astimezone(times.zone()))
    st.info(f"Your change from {when} is here, and was not saved.", icon=":material/history:")
    with st.container(horizontal=True):
        st.button("Continue", type="primary", key=f"{prefix}_continue", on_click=resume)
        st.button("Discard", key=f"{prefix}_drop", on_click=discard)


def fill(prefix: str, entity: str, change: KeptChange) -> None:
    """Fill the widgets with what was typed."""
    typed = change.typed
    targeting = Targeting.model_validate(typed["targeting"]) if entity == SUPPLY else None
    entity_form.fill(prefix, typed["contents"], typed["offset"], targeting)
    if entity == SUPPLY:
        pending.fill(f"{prefix}target", {side: tuple(values) for side, values in typed["pending"].items()})
    for name, value in typed["links"].items():
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
        "typed": {
            "contents": form.contents,
            "offset": form.offset,
            "targeting": to_json(form.targeting) if is_package else {},
            "pending": pending.pending(f"{form.prefix}target") if is_package else {},
            "links": {name: state[form.prefix + name] for name in names if form.prefix + name in state},
        },
    }
    if body == _kept().get(key):
        return ""
    try:
        context.clients.change_drafts.keep(key, body)
    except TrancheError as error:
        _kept().pop(key, None)
        return f"{error.reason.rstrip('.')}. A reload of this page would lose what you typed."
    _kept()[key] = body
    return ""


def is_stored(key: Key) -> bool:
    """Whether something of this entity is kept, to be offered after a reload."""
    return key in _kept()


def discard(context: PageContext, key: Key) -> None:
    """Keep nothing of this entity any more. Where that fails it is offered once more after a reload."""
    st.session_state.get(FOUND, {}).pop(key, None)
    if key not in _kept():
        return
    try:
        context.clients.change_drafts.discard(key)
    except TrancheError as error:
        log.warning("A change that was saved or discarded is still kept: %s", error.reason)
    del _kept()[key]


def _kept() -> dict[Key, Any]:
    """What this session has stored or found, by entity."""
    kept: dict[Key, Any] = st.session_state.setdefault(KEPT, {})
    return kept
