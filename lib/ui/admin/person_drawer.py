"""The drawer of a person: role, grants, a new password, and removal."""

from collections.abc import Callable, Iterable
from functools import partial

import streamlit as st

from lib.people import (
    ALL_DEALS,
    NO_DEALS,
    READERS,
    ROLES,
    DealsGrant,
    Grant,
    Person,
    Role,
    cap_grant,
    passwords,
)
from lib.tokens.access import Access
from lib.ui.admin import new_person, row_filters
from lib.ui.kit import notes, sign_in
from lib.ui.kit.field_problems import beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import Forbidden, TrancheError

PROBLEM, CONFIRMATION = "person_problem", "person_added"
DOES: dict[Role, str] = {
    "viewer": "sees what is granted, and changes nothing",
    "manager": "sees what is granted, and can be granted changes of deals",
    "admin": "sees and changes everything, and manages people",
}
OnClose = Callable[[], None]


def sees(person: Person) -> str:
    """A person's permissions in words."""
    if person.role == "admin":
        return "everything"
    return ", ".join("everything" if str(g) == "*" else g.label for g in person.grants) or "nothing yet"


def grant_options(slicers: Iterable[tuple[str, str]], grants: Iterable[Grant] = ()) -> list[str]:
    """The grants to choose from: everything, projects, slicers, and other grants that the person has."""
    pairs = list(slicers)
    options = ["*", *dict.fromkeys(p for p, _ in pairs), *(f"{p}/{s}" for p, s in pairs)]
    return list(dict.fromkeys([*options, *(grant.place for grant in grants)]))


def add(context: PageContext, access: Access, close: OnClose) -> None:
    """Open the drawer for a new person; `close` is called when it is closed."""

    def end() -> None:
        new_person.forget()
        close()

    drawer = st.dialog(
        "A new person", position="right", width=480, icon=":material/person_add:", on_dismiss=end
    )
    drawer(_add)(context, access, end)


def change(context: PageContext, access: Access, person: Person, close: OnClose) -> None:
    """Open the drawer of a person; `close` is called when it is closed."""
    drawer = st.dialog(
        plain(person.name), position="right", width=480, icon=":material/person:", on_dismiss=close
    )
    drawer(_change)(context, access, person, close)


def _add(context: PageContext, access: Access, close: OnClose) -> None:
    if confirmation := st.session_state.pop(CONFIRMATION, None):
        notes.say(confirmation)
        st.rerun()
    wrong = new_person.draw(access)
    role = _role("new", "viewer", disabled=False)
    grants = _grants(context, "new", role, ())
    fault = new_person.grants_fault(grants)
    beside([fault] if fault else [])
    deals = _deals(context, "new", role, NO_DEALS)
    if role != "admin":
        row_filters.draw(context, "new", grants, (), deals)
    _shares("new", role, shares=False)
    st.button(
        "Add", type="primary", key="person_add_sure", on_click=_add_person,
        args=(context, access, deals, close),
    )  # fmt: skip
    fields = new_person.labels_of_errors(wrong, fault)
    beside([f"Not added. To fix: {', '.join(fields)}."] if fields and new_person.was_tried() else [])
    _problem()


def _add_person(context: PageContext, access: Access, deals: DealsGrant, close: OnClose) -> None:
    """Add the person if there are no errors. A callback, so that a later rerun can't interrupt it."""
    new_person.note_attempt()
    entry, grants = new_person.read_input(), list(st.session_state["person_grants_new"])
    role: Role = st.session_state["person_role_new"]
    if new_person.faults(access, entry) or new_person.grants_fault(grants):
        return
    name, email = entry.name or entry.username, entry.email or None
    shares = bool(st.session_state.get("person_shares_new"))

    def add() -> None:
        new_grants = tuple(row_filters.grants_with_filters("new", grants))
        new = Person(
            entry.username, name, email, role, new_grants, deals=cap_grant(role, deals), shares=shares
        )
        access.add(new, entry.password, context.person.username)

    if _attempt(add):
        close()
        st.session_state[CONFIRMATION] = f"{entry.username} is added"


def _change(context: PageContext, access: Access, person: Person, close: OnClose) -> None:
    is_oneself = person.username == context.person.username
    facts = dict.fromkeys(filter(None, (person.username, person.email, sees(person))))
    st.caption(plain(" · ".join(facts)))
    if person.company:
        if new_person.draw_company_person(person, is_oneself=is_oneself):
            block = partial(
                access.block, person.username, context.person.username, is_blocked=not person.is_shut_out
            )
            _try(block, f"{person.name} {'may sign in again' if person.is_shut_out else 'is blocked'}", close)
    else:
        _rights_and_password(context, access, person, close, is_oneself=is_oneself)
    st.space("small")
    _removal(context, access, person, close, is_oneself=is_oneself)
    _problem()


def _rights_and_password(
    context: PageContext, access: Access, person: Person, close: OnClose, *, is_oneself: bool
) -> None:
    """Draw what can be changed of a person with a password."""
    role = _role(person.username, person.role, disabled=is_oneself)
    if is_oneself:
        st.caption("Only another administrator can change your role or remove you.")
    grants = _grants(context, person.username, role, person.grants)
    deals = _deals(context, person.username, role, person.deals)
    if role != "admin":
        row_filters.draw(context, person.username, grants, person.grants, deals)
    email = st.text_input("E-mail", person.email or "", key=f"person_email_{person.username}").strip()
    shares = _shares(person.username, role, shares=person.shares)
    if st.button("Save", type="primary", key="person_save"):
        work = partial(_save, context, access, person, role, grants, deals, email, shares)
        _try(work, f"{person.name} is changed", close)
    st.space("small")
    _new_password(context, access, person, close, is_oneself=is_oneself)


def _removal(
    context: PageContext, access: Access, person: Person, close: OnClose, *, is_oneself: bool
) -> None:
    with st.popover("Remove", icon=":material/person_remove:", disabled=is_oneself):
        st.markdown(f"{plain(person.name)} can no longer sign in, and their tokens stop working at once.")
        if person.company:
            st.caption(new_person.REMOVAL_EFFECT)
        if st.button("Remove permanently", type="primary", key="person_remove_sure"):
            remove = partial(access.remove, person.username, context.person.username)
            _try(remove, f"{person.name} is removed", close)


def _save(
    context: PageContext,
    access: Access,
    person: Person,
    role: Role,
    grants: Iterable[str],
    deals: DealsGrant,
    email: str,
    shares: bool,
) -> None:
    new_grants = row_filters.grants_with_filters(person.username, grants, person.grants)
    access.change(person.username, context.person.username, role, new_grants, deals, email, shares)


def _new_password(
    context: PageContext, access: Access, person: Person, close: OnClose, *, is_oneself: bool
) -> None:
    """Draw the form of a new password. It revokes other people's tokens, and one's own only on request."""
    password = _password("person_new_password", "New password")
    revokes = not is_oneself or st.checkbox("Revoke my tokens too", value=True, key="person_revoke_tokens")
    if not is_oneself:
        st.caption(f"{plain(person.name)} is signed out everywhere, and their tokens stop working.")
    fault = passwords.fault(password)
    beside([fault] if password and fault else [])
    if st.button("Set password", key="person_set_password"):

        def work() -> object:
            by, text = context.person.username, passwords.check(password)
            return access.set_password(person.username, text, by, revokes_tokens=revokes)

        effect = "signed out, and the tokens revoked" if revokes else "signed out; the tokens keep working"
        _try(work, f"{person.name} has a new password: {effect}", close)


def _role(whose: str, role: Role, disabled: bool) -> Role:
    choice: Role = st.segmented_control(
        "Role",
        ROLES,
        default=role,
        format_func=str.capitalize,
        required=True,
        key=f"person_role_{whose}",
        disabled=disabled,
    )
    st.caption(f"{choice.capitalize()} {DOES[choice]}.")
    return choice


def _grants(context: PageContext, whose: str, role: Role, grants: Iterable[Grant]) -> list[str]:
    return st.multiselect(
        "May see",
        grant_options(context.clients.slicers, grants),
        default=list(dict.fromkeys(grant.place for grant in grants)),
        format_func=lambda text: "Everything" if text == "*" else text,
        key=f"person_grants_{whose}",
        accept_new_options=True,
        placeholder="An administrator sees everything" if role == "admin" else "project, or project/slicer",
    )


def _deals(context: PageContext, whose: str, role: Role, grant: DealsGrant) -> DealsGrant:
    if role == "admin":
        return ALL_DEALS
    return new_person.draw_deals_grant(
        context, f"person_deals_{whose}", cap_grant(role, grant), READERS.get(role, ALL_DEALS)
    )


def _shares(whose: str, role: Role, *, shares: bool) -> bool:
    """Draw the permission for share links; returns what is granted, which an administrator needs not."""
    return st.checkbox(
        "May make share links, which people without an account open",
        value=shares,
        key=f"person_shares_{whose}",
        disabled=role == "admin",
    )


def _password(key: str, label: str) -> str:
    return st.text_input(
        label,
        type="password",
        key=key,
        autocomplete="new-password",
        placeholder=f"At least {passwords.SHORTEST_PASSWORD} characters",
        live=new_person.LIVE,
    )


def _try(work: Callable[[], object], sentence: str, close: OnClose) -> None:
    """Run `work` and close the drawer; errors are shown in it."""
    if _attempt(work):
        close()
        notes.say(sentence)
        st.rerun()


def _attempt(work: Callable[[], object]) -> bool:
    """Run `work` if the person signed in is still an administrator; returns whether it succeeded."""
    me = sign_in.person()
    try:
        if me is None or me.role != "admin":
            raise Forbidden("Only an administrator may do this")
        work()
    except TrancheError as error:
        st.session_state[PROBLEM] = error.reason
        return False
    return True


def _problem() -> None:
    if problem := st.session_state.pop(PROBLEM, None):
        st.error(f"{plain(problem)}. Nothing was changed.", icon=":material/error:")
