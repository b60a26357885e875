"""One person in a drawer: role, what they may see, another password, and taking them off the desk."""

from collections.abc import Callable, Iterable
from functools import partial

import streamlit as st

from lib.people import ROLES, SHORTEST_PASSWORD, Grant, Person, Role
from lib.tokens.access import Access
from lib.ui import sign_in
from lib.ui.frame import Here
from lib.ui.markdown import plain
from lib.wire.errors import BadRequest, Forbidden, TrancheError

PROBLEM = "person_problem"
DOES: dict[Role, str] = {
    "viewer": "reads reports and deals",
    "manager": "reads reports, and sets up deals",
    "admin": "does all of that, sees everything, and decides who else may",
}
Closed = Callable[[], None]


def sees(person: Person) -> str:
    """What a person may see, in words."""
    if person.role == "admin":
        return "everything"
    return ", ".join("everything" if str(g) == "*" else str(g) for g in person.grants) or "nothing yet"


def offered(slicers: Iterable[tuple[str, str]], held: Iterable[Grant] = ()) -> list[str]:
    """What can be granted: everything, the projects, their slicers, and what else is held."""
    pairs = list(slicers)
    there = ["*", *dict.fromkeys(p for p, _ in pairs), *(f"{p}/{s}" for p, s in pairs)]
    return list(dict.fromkeys([*there, *map(str, held)]))


def regrant(access: Access, person: Person, wanted: Iterable[str]) -> None:
    """Let the person hold these grants and no others."""
    grants = [Grant.parse(text) for text in wanted]
    if more := [grant for grant in grants if grant not in person.grants]:
        access.people.grant(person.username, more)
    if less := [grant for grant in person.grants if grant not in grants]:
        access.people.revoke(person.username, less)


def add(here: Here, access: Access, closed: Closed) -> None:
    """Open the drawer for a new person; `closed` is called when it is closed."""
    drawer = st.dialog(
        "A new person", position="right", width=480, icon=":material/person_add:", on_dismiss=closed
    )
    drawer(_add)(here, access, closed)


def change(here: Here, access: Access, person: Person, closed: Closed) -> None:
    """Open the drawer of a person; `closed` is called when it is closed."""
    drawer = st.dialog(
        plain(person.name), position="right", width=480, icon=":material/person:", on_dismiss=closed
    )
    drawer(_change)(here, access, person, closed)


def _add(here: Here, access: Access, closed: Closed) -> None:
    username = st.text_input("User name", key="person_username", help="What they sign in with")
    name = st.text_input("Name", key="person_name", help="As the desk shows it")
    email = st.text_input("E-mail", key="person_email", placeholder="Not needed")
    role = _role("new", "viewer", disabled=False)
    grants = _grants(here, "new", role, ())
    password = _password("person_password", "Password")
    if st.button("Add", type="primary", key="person_add_sure"):
        person = partial(
            Person, username.strip().lower(), name.strip() or username.strip(), email.strip() or None, role
        )
        _try(partial(_added, access, person, grants, password), f"{username} is added", closed)
    _problem()


def _added(access: Access, person: Callable[..., Person], grants: Iterable[str], password: str) -> None:
    if not st.session_state["person_username"].strip():
        raise BadRequest("Type the user name")
    access.people.add(person(tuple(map(Grant.parse, grants))), checked(password))


def _change(here: Here, access: Access, person: Person, closed: Closed) -> None:
    is_oneself = person.username == here.person.username
    st.caption(plain(" · ".join(filter(None, (person.username, person.email, sees(person))))))
    role = _role(person.username, person.role, disabled=is_oneself)
    if is_oneself:
        st.caption("Your own role, and whether you are here at all, is for another administrator to change.")
    grants = _grants(here, person.username, role, person.grants)
    if st.button("Save", type="primary", key="person_save"):
        _try(partial(_changed, access, person, role, grants), f"{person.name} is changed", closed)
    st.space("small")
    password = _password("person_new_password", "New password")
    if st.button("Set password", key="person_set_password", disabled=not password):
        work = partial(_repassword, access, person, password)
        _try(work, f"{person.name} has a new password, and is signed out", closed)
    st.space("small")
    with st.popover("Remove", icon=":material/person_remove:", disabled=is_oneself):
        st.markdown(f"{plain(person.name)} can't sign in any more, and their tokens stop working at once.")
        if st.button("Remove for good", type="primary", key="person_remove_sure"):
            _try(partial(access.remove, person.username), f"{person.name} is removed", closed)
    _problem()


def _changed(access: Access, person: Person, role: Role, grants: Iterable[str]) -> None:
    regrant(access, person, grants)
    if role != person.role:
        access.people.set_role(person.username, role)


def _repassword(access: Access, person: Person, password: str) -> None:
    access.people.set_password(person.username, checked(password))


def checked(password: str) -> str:
    """The password, if it is long enough; BadRequest otherwise."""
    if len(password) < SHORTEST_PASSWORD:
        raise BadRequest(f"The password is too short: at least {SHORTEST_PASSWORD} characters")
    return password


def _role(whose: str, role: Role, disabled: bool) -> Role:
    picked: Role = st.segmented_control(
        "Role",
        ROLES,
        default=role,
        format_func=str.capitalize,
        required=True,
        key=f"person_role_{whose}",
        disabled=disabled,
    )
    st.caption(f"{picked.capitalize()} {DOES[picked]}.")
    return picked


def _grants(here: Here, whose: str, role: Role, held: Iterable[Grant]) -> list[str]:
    return st.multiselect(
        "May see",
        offered(here.clients.slicers, held),
        default=list(map(str, held)),
        format_func=lambda text: "Everything" if text == "*" else text,
        key=f"person_grants_{whose}",
        accept_new_options=True,
        placeholder="An administrator sees everything" if role == "admin" else "Projects, or single slicers",
        help="A whole project, or project/slicer",
    )


def _password(key: str, label: str) -> str:
    return st.text_input(
        label,
        type="password",
        key=key,
        autocomplete="new-password",
        help=f"At least {SHORTEST_PASSWORD} characters",
    )


def _try(work: Callable[[], object], said: str, closed: Closed) -> None:
    """Do it if whoever is signed in now is an administrator; what fails is said in the drawer."""
    me = sign_in.person()
    try:
        if me is None or me.role != "admin":
            raise Forbidden("Only an administrator may do this")
        work()
    except TrancheError as error:
        st.session_state[PROBLEM] = error.reason
        return
    closed()
    st.toast(plain(said))
    st.rerun()


def _problem() -> None:
    if problem := st.session_state.pop(PROBLEM, None):
        st.error(f"{plain(problem)}. Nothing was changed.", icon=":material/error:")
