"""The actions on a package or a deal: pause, resume, clone, delete."""

from collections.abc import Callable

import streamlit as st

from lib.deals.abilities import Abilities
from lib.deals.models import DemandDeal, SupplyPackage
from lib.ui.deals import clone
from lib.ui.deals.places import OPEN, SAID
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.frame.problems import is_open
from lib.ui.supply import catalogue
from lib.ui.supply.rows import KINDS, Key
from lib.wire.errors import NotFound, TrancheError

PROBLEM = "action_problem"
Entity = SupplyPackage | DemandDeal


def draw(here: Here, key: Key, entity: Entity, does: Abilities) -> None:
    """Draw the buttons."""
    if entity.is_active is not None and not does.why_not(key[0], "change"):
        _pause(here, key, entity)
    if not does.why_not(key[0], "create"):
        clone.draw(here, key, entity)
    if not does.why_not(key[0], "delete"):
        with st.popover("Delete", icon=":material/delete:", key="action_delete"):
            _delete(here, key, entity)


def _pause(here: Here, key: Key, entity: Entity) -> None:
    is_active = bool(entity.is_active)
    st.button(
        "Pause" if is_active else "Resume",
        icon=":material/pause:" if is_active else ":material/play_arrow:",
        key="action_active",
        disabled=(is_over := entity.status == "complete"),
        help="It has ended" if is_over else None,
        on_click=set_active,
        args=(here, key, not is_active, entity.etag),
    )


def problem() -> None:
    """Draw the error of the last action, once."""
    if said := st.session_state.pop(PROBLEM, None):
        st.error(plain(said), icon=":material/error:")


def set_active(here: Here, key: Key, is_active: bool, etag: str | None) -> None:
    """Pause or resume it, unless it changed since it was shown. A callback."""
    if _did(lambda: catalogue.client(here).change(*key, {"is_active": is_active}, etag)):
        st.session_state[SAID] = "Resumed" if is_active else "Paused"
        st.rerun()


def delete(here: Here, key: Key, etag: str | None) -> None:
    """Delete it, unless it changed since it was shown. A callback."""
    if _did(lambda: _gone(here, key, etag)):
        st.query_params.pop(OPEN, None)
        st.session_state[SAID] = f"{KINDS[key[0]]} {key[1]} is deleted"
        st.rerun()


def dependants(entity: Entity) -> list[str]:
    """The entities that keep it from being deleted, by name and id."""
    if isinstance(entity, DemandDeal):
        return []
    return [f"{deal.name or 'Deal'} ({deal.id})" for deal in entity.demand_deals]


def _delete(here: Here, key: Key, entity: Entity) -> None:
    """Draw the entities that depend on it; without any, the button that deletes it."""
    if names := dependants(entity):
        count = f"{len(names)} deal{' depends' if len(names) == 1 else 's depend'}"
        st.markdown(f"**{count} on this package.** It can be deleted once they are deleted or unlinked:")
        st.markdown("\n".join(f"- {plain(name)}" for name in names))
        return
    if isinstance(entity, DemandDeal) and entity.supply_deals:
        packages = ", ".join(plain(one.name or str(one.id)) for one in entity.supply_deals)
        st.markdown(f"The seat loses its access to {packages}.")
    st.markdown("This can't be undone; the history stays.")
    st.button(
        "Delete permanently",
        type="primary",
        key="action_delete_sure",
        on_click=delete,
        args=(here, key, entity.etag),
    )


def _gone(here: Here, key: Key, etag: str | None) -> None:
    """Delete it; a second click that finds it deleted is no error."""
    try:
        catalogue.client(here).remove(*key, etag)
    except NotFound:
        return


def _did(work: Callable[[], None]) -> bool:
    """Run `work` and return whether it succeeded; errors are shown in the drawer."""
    try:
        work()
    except TrancheError as error:
        done = "It may have succeeded" if is_open(error) else "Nothing was changed"
        st.session_state[PROBLEM] = f"{error.reason.rstrip('.')}. {done}."
        return False
    finally:
        catalogue.forget()
    return True
