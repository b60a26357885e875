"""The drawer of a person: role, grants, a new password, and removal."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import streamlit as st

from lib import people
from lib.people.tokens.access import Access
from lib.ui.admin import new_person, row_filters
from lib.ui.kit import notes, sign_in
from lib.ui.kit.field_problems import beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import Forbidden, TrancheError

PROBLEM = "person_problem"
DOES: dict[people.Role, str] = {
    "viewer": "sees what is granted, and changes nothing",
    "manager": "sees what is granted, and can be granted changes of deals",
    "admin": "sees and changes everything, and manages people",
}
OnClose = Callable[[], None]


def sees(person: people.Person) -> str:
    """A person's permissions in words."""
    if person.role == "admin":
        return "everything"
    labels = ("everything" if str(grant) == "*" else grant.label for grant in person.grants)
    return ", ".join(labels) or "nothing yet"


def grant_options(slicers: Iterable[tuple[str, str]], grants: Iterable[people.Grant] = ()) -> list[str]:
    """The grants to choose from: everything, projects, slicers, and other grants that the person has."""
    pairs = list(slicers)
    projects = dict.fromkeys(project for project, _ in pairs)
    options = ["*", *projects, *(f"{project}/{slicer}" for project, slicer in pairs)]
    return list(dict.fromkeys([*options, *(grant.place for grant in grants)]))


def add(context: PageContext, access: Access, close: OnClose) -> None:
    """Open the drawer for a new person; `close` is called when it is closed."""

    def end() -> None:
        st.session_state.pop(new_person.IS_TRIED, None)
        close()

    drawer = st.dialog(
        "A new person", position="right", width=480, icon=":material/person_add:", on_dismiss=end
    )
    drawer(_add)(context, access, end)


def change(context: PageContext, access: Access, person: people.Person, close: OnClose) -> None:
    """Open the drawer of a person; `close` is called when it is closed."""
    drawer = st.dialog(
        plain(person.name), position="right", width=480, icon=":material/person:", on_dismiss=close
    )
    drawer(_change)(_PersonDrawer(context, access, person, close))


def _add(context: PageContext, access: Access, close: OnClose) -> None:
    wrong = new_person.draw(access)
    role = _role("new", "viewer", disabled=False)
    grants = _grants(context, "new", role, ())
    fault = new_person.grants_fault(grants)
    beside([fault] if fault else [])
    deals = _deals(context, "new", role, people.NO_DEALS)
    if role != "admin":
        row_filters.draw(context, "new", grants, (), deals)
    _shares("new", role, shares=False)
    st.button(
        "Add", type="primary", key="person_add_sure", on_click=_add_person,
        args=(context, access, deals, close),
    )  # fmt: skip
    fields = [new_person.LABELS[key] for key in wrong] + (["May see"] if fault else [])
    is_tried = new_person.IS_TRIED in st.session_state
    beside([f"Not added. To fix: {', '.join(fields)}."] if fields and is_tried else [])
    _problem()


def _add_person(context: PageContext, access: Access, deals: people.DealsGrant, close: OnClose) -> None:
    """Add the person if there are no errors. A callback, so that a later rerun can't interrupt it."""
    st.session_state[new_person.IS_TRIED] = True
    entry, grants = new_person.read_input(), list(st.session_state["person_grants_new"])
    role: people.Role = st.session_state["person_role_new"]
    if new_person.faults(access, entry) or new_person.grants_fault(grants):
        return
    name, email = entry.name or entry.username, entry.email or None
    shares = bool(st.session_state.get("person_shares_new"))

    def add() -> None:
        new_grants = tuple(row_filters.grants_with_filters("new", grants))
        new = people.Person(
            entry.username, name, email, role, new_grants, deals=people.cap_grant(role, deals), shares=shares
        )
        access.add(new, entry.password, context.person.username)

    if _attempt(add):
        close()
        notes.say(f"{entry.username} is added")
        st.rerun()


@dataclass(frozen=True)
class _PersonDrawer:
    """The drawer of `person`, drawn for the administrator of `context`; `close` closes it."""

    context: PageContext
    access: Access
    person: people.Person
    close: OnClose

    @property
    def is_oneself(self) -> bool:
        return self.person.username == self.context.person.username

    def draw_company_account(self) -> None:
        """Draw where the person comes from, what they may do with deals, and the button to (un)block them."""
        person, deals = self.person, new_person.deals_grant_label(self.person.deals, {})
        st.markdown(
            f"Signs in with an account of {plain(person.company)}. Role, grants and permission for deals "
            "come from the rules in the settings, at each sign-in."
        )
        st.caption(plain(f"{person.role.capitalize()} · deals: {deals}"))
        if person.blocked:
            st.warning(plain(f"Blocked: {person.blocked}."), icon=":material/block:")
        if self.is_oneself:
            st.caption("Only another administrator can block or remove you.")
        elif person.is_shut_out:
            st.caption(f"{plain(person.name)} may then sign in again, if a rule matches.")
        else:
            st.caption(f"Blocking signs {plain(person.name)} out everywhere; their tokens stop working.")
        label, icon = ("Unblock", "lock_open") if person.is_shut_out else ("Block", "block")
        if st.button(label, icon=f":material/{icon}:", key="person_block", disabled=self.is_oneself):
            by, is_blocked = self.context.person.username, not person.is_shut_out
            block = partial(self.access.block, person.username, by, is_blocked=is_blocked)
            self._try(block, f"{person.name} {'is blocked' if is_blocked else 'may sign in again'}")

    def draw_rights(self) -> None:
        """Draw what can be changed of a person with a password, but for that."""
        person, username = self.person, self.person.username
        role = _role(username, person.role, disabled=self.is_oneself)
        if self.is_oneself:
            st.caption("Only another administrator can change your role or remove you.")
        grants = _grants(self.context, username, role, person.grants)
        deals = _deals(self.context, username, role, person.deals)
        if role != "admin":
            row_filters.draw(self.context, username, grants, person.grants, deals)
        email = st.text_input("E-mail", person.email or "", key=f"person_email_{username}").strip()
        shares = _shares(username, role, shares=person.shares)

        def save() -> None:
            new_grants = row_filters.grants_with_filters(username, grants, person.grants)
            by = self.context.person.username
            self.access.change(username, by, role, new_grants, deals, email, shares)

        if st.button("Save", type="primary", key="person_save"):
            self._try(save, f"{person.name} is changed")

    def draw_password(self) -> None:
        """Draw the form of a new password, which revokes others' tokens, and one's own only on request."""
        password = st.text_input(
            "New password", type="password", key="person_new_password", autocomplete="new-password",
            placeholder=f"At least {people.passwords.SHORTEST_PASSWORD} characters", live=new_person.LIVE,
        )  # fmt: skip
        revokes = not self.is_oneself or st.checkbox(
            "Revoke my tokens too", value=True, key="person_revoke_tokens"
        )
        if not self.is_oneself:
            st.caption(f"{plain(self.person.name)} is signed out everywhere, and their tokens stop working.")
        fault = people.passwords.fault(password)
        beside([fault] if password and fault else [])

        def set_password() -> None:
            text, by = people.passwords.check(password), self.context.person.username
            self.access.set_password(self.person.username, text, by, revokes_tokens=revokes)

        if st.button("Set password", key="person_set_password"):
            effect = (
                "signed out, and the tokens revoked" if revokes else "signed out; the tokens keep working"
            )
            self._try(set_password, f"{self.person.name} has a new password: {effect}")

    def draw_removal(self) -> None:
        person = self.person
        with st.popover("Remove", icon=":material/person_remove:", disabled=self.is_oneself):
            st.markdown(f"{plain(person.name)} can no longer sign in, and their tokens stop working at once.")
            if person.company:
                st.caption(
                    "With the next company sign-in they are added again, if a rule matches: to keep them "
                    "out, block them."
                )
            if st.button("Remove permanently", type="primary", key="person_remove_sure"):
                remove = partial(self.access.remove, person.username, self.context.person.username)
                self._try(remove, f"{person.name} is removed")

    def _try(self, work: Callable[[], object], sentence: str) -> None:
        """Do it and close the drawer; errors are shown in it."""
        if _attempt(work):
            self.close()
            notes.say(sentence)
            st.rerun()


def _change(drawer: _PersonDrawer) -> None:
    person = drawer.person
    facts = dict.fromkeys(filter(None, (person.username, person.email, sees(person))))
    st.caption(plain(" · ".join(facts)))
    if person.company:
        drawer.draw_company_account()
    else:
        drawer.draw_rights()
        st.space("small")
        drawer.draw_password()
    st.space("small")
    drawer.draw_removal()
    _problem()


def _role(whose: str, role: people.Role, disabled: bool) -> people.Role:
    choice: people.Role = st.segmented_control(
        "Role", people.ROLES, default=role, format_func=str.capitalize, required=True,
        key=f"person_role_{whose}", disabled=disabled,
    )  # fmt: skip
    st.caption(f"{choice.capitalize()} {DOES[choice]}.")
    return choice


def _grants(context: PageContext, whose: str, role: people.Role, grants: Iterable[people.Grant]) -> list[str]:
    return st.multiselect(
        "May see", grant_options(context.clients.slicers, grants), key=f"person_grants_{whose}",
        default=list(dict.fromkeys(grant.place for grant in grants)), accept_new_options=True,
        format_func=lambda text: "Everything" if text == "*" else text,
        placeholder="An administrator sees everything" if role == "admin" else "project, or project/slicer",
    )  # fmt: skip


def _deals(
    context: PageContext, whose: str, role: people.Role, grant: people.DealsGrant
) -> people.DealsGrant:
    if role == "admin":
        return people.ALL_DEALS
    now, most = people.cap_grant(role, grant), people.READERS.get(role, people.ALL_DEALS)
    return new_person.draw_deals_grant(context, f"person_deals_{whose}", now, most)


def _shares(whose: str, role: people.Role, *, shares: bool) -> bool:
    """Draw the permission for share links; returns what is granted, which an administrator needs not."""
    label = "May make share links, which people without an account open"
    return st.checkbox(label, shares, f"person_shares_{whose}", disabled=role == "admin")


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
