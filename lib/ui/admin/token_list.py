"""The list of tokens that a person may revoke, and the confirmation before they stop working."""

from collections.abc import Iterable
from datetime import UTC, datetime

import pandas as pd
import streamlit as st

from lib.people import Person
from lib.people.person import labels
from lib.people.tokens.access import Access
from lib.people.tokens.store import Token
from lib.ui.admin.selection_table import choose_rows
from lib.ui.kit import notes, sign_in
from lib.ui.kit.markdown import plain

ALL, TO_REVOKE = "tokens_all", "tokens_to_revoke"
COLUMNS = {
    "Name": st.column_config.TextColumn(width="medium"),
    "Begins": st.column_config.TextColumn(help="The first characters, to recognize it"),
    "Opens": st.column_config.TextColumn(
        help="Projects and slicers; for deals, read, propose or write, and the ids of seats"
    ),
    "Created": st.column_config.DatetimeColumn(format="D MMM YYYY"),
    "Expires": st.column_config.DatetimeColumn(format="D MMM YYYY, HH:mm"),
    "Last used": st.column_config.DatetimeColumn(format="D MMM YYYY, HH:mm"),
}


def revocable_tokens(access: Access, person: Person) -> list[Token]:
    """The tokens that this person may revoke, the latest first: their own, an administrator everybody's."""
    owner = None if person.role == "admin" else person.username
    return access.store.everything(owner)[::-1]


def visible_tokens(tokens: Iterable[Token], now: datetime, with_all: bool) -> list[Token]:
    """The valid permanent tokens; or all of them, including expired and temporary ones."""
    return [t for t in tokens if with_all or (_is_permanent(t) and t.state(now) == "active")]


def table(tokens: Iterable[Token], now: datetime, with_owner: bool) -> pd.DataFrame:
    """A row per token, times in UTC; missing if it never expires or was never used."""
    rows = [
        {
            "Name": token.name,
            "Owner": token.owner,
            "Service": token.service,
            "Begins": f"{token.prefix}…",
            "Opens": str(token.deals or "") or labels(token.grants) or "all that its owner can see",
            "State": token.state(now),
            "Last used": token.last_used,
            "Expires": token.expires,
            "Created": token.created,
        }
        for token in tokens
    ]
    columns = ["Name", "Owner", "Service", "Begins", "Opens", "State", "Last used", "Expires", "Created"]
    frame = pd.DataFrame(rows, columns=columns)
    times = {name: pd.to_datetime(frame[name], utc=True) for name in ("Last used", "Expires", "Created")}
    return frame.assign(**times).drop(columns=[] if with_owner else ["Owner"])


def draw(access: Access, person: Person) -> None:
    """Draw the list, the switch that shows expired tokens too, and the button that revokes those chosen."""
    now = datetime.now(UTC)
    everything = revocable_tokens(access, person)
    with st.container(horizontal=True, vertical_alignment="center"):
        button_slot = st.container(width="content")
        st.toggle("Include expired and temporary tokens", key=ALL)
        tokens = visible_tokens(everything, now, st.session_state[ALL])
    if not tokens:
        none = "There are no active tokens" if any(map(_is_permanent, everything)) else "No tokens yet"
        st.info(f"{none}. A script needs one to call the APIs.", icon=":material/key:")
        return
    frame = table(tokens, now, person.role == "admin")
    selection = choose_rows("tokens", tokens, frame, COLUMNS, "Access tokens", "never")
    active = [token for token in selection if token.state(now) == "active"]
    button_slot.button(
        "Revoke", icon=":material/block:", key="tokens_revoke", disabled=not active,
        on_click=st.session_state.update, args=({TO_REVOKE: active},),
    )  # fmt: skip
    if pending := st.session_state.get(TO_REVOKE):
        _ask(access, pending)


def _end() -> None:
    st.session_state.pop(TO_REVOKE, None)


@st.dialog("Revoke", icon=":material/block:", on_dismiss=_end)
def _ask(access: Access, tokens: list[Token]) -> None:
    label = "This token" if len(tokens) == 1 else f"These {len(tokens)} tokens"
    st.markdown(f"{label} will stop working at once, permanently:")
    about = [(plain(token.name), plain(token.service), plain(token.prefix)) for token in tokens]
    st.markdown("\n".join(f"- **{name}** ({service}), {prefix}…" for name, service, prefix in about))
    with st.container(horizontal=True):
        if st.button("Revoke", type="primary", key="tokens_revoke_sure"):
            revoke(access, tokens)
            _end()
            notes.say("Revoked")
            st.rerun()
        if st.button("Keep", key="tokens_keep"):
            _end()
            st.rerun()


def revoke(access: Access, tokens: Iterable[Token]) -> None:
    """Revoke those of the tokens that the person signed in may revoke."""
    if person := sign_in.person():
        own_ids = {token.id for token in revocable_tokens(access, person)}
        for token in tokens:
            if token.id in own_ids:
                access.revoke(token, person.username)


def _is_permanent(token: Token) -> bool:
    return token.kind == "permanent"
