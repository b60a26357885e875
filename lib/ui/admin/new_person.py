"""The form of a new person. It shows all errors at once, each beside its field, and keeps the input."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

import streamlit as st

from lib.deals.models import Seat
from lib.people import DealsAccess, DealsGrant, Grant, Person, passwords
from lib.people.person import Username, email_fault, name_fault
from lib.people.tokens.access import Access
from lib.ui.kit.field_problems import beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import BadRequest, TrancheError

LEVELS: dict[DealsAccess, str] = {
    "none": "None",
    "sync": "Deal sync",
    "read": "Read",
    "propose": "Propose",
    "write": "Write",
}
USERNAME, NAME, EMAIL, PASSWORD = "person_username", "person_name", "person_email", "person_password"
LABELS = {USERNAME: "User name", NAME: "Name", EMAIL: "E-mail", PASSWORD: "Password"}
LIVE = "100ms"
IS_TRIED = "person_tried"  # in the session after a click on Add


def draw_deals_grant(
    context: PageContext,
    key: str,
    grant: DealsGrant,
    most: DealsGrant,
    label: str = "Deals",
    least: DealsAccess = "none",
    width: int | Literal["stretch"] = "stretch",
) -> DealsGrant:
    """Draw the pickers and return the grant.

    `grant` is what they begin with; what can be granted is between `least` and `most`.
    """
    names: list[DealsAccess] = list(LEVELS)
    levels = names[names.index(least) : names.index(most.access) + 1]
    level = st.segmented_control(
        label, levels, default=grant.access if grant.access in levels else levels[-1],
        format_func=LEVELS.__getitem__, required=True, key=f"{key}_level_{most.access}",
        disabled=len(levels) == 1,
        help="Deals belong to no project, and have their own permissions. Deal sync is for a DSP: it fetches "
        "the deals of its seats and reports their status, and sees nothing else. What "
        "somebody proposes, somebody who may write approves",
    )  # fmt: skip
    if level == "none":
        return DealsGrant()
    seat_names = {**{seat: f"Seat {seat}" for seat in sorted(grant.seats or ())}, **seats(context)}
    seat_choices = [seat for seat in seat_names if most.seats is None or seat in most.seats]
    all_seats = "All seats" if most.seats is None else "All of yours"
    selection = st.multiselect(
        "Of these seats", seat_choices, format_func=seat_names.__getitem__, key=f"{key}_seats",
        default=[seat for seat in sorted(grant.seats or ()) if seat in seat_choices], select_all=False,
        placeholder="The seats of the DSP" if level == "sync" else all_seats, width=width,
    )  # fmt: skip
    if level == "sync" and not selection:
        st.caption(":material/info: Choose the seats of the DSP.")
        return DealsGrant()
    return DealsGrant(level, frozenset(selection) if selection else most.seats)


def seats(context: PageContext) -> dict[int, str]:
    """The seats to choose from, by id; none if the deals service can't be reached."""
    try:
        seats = list(context.deals.everything(Seat, ordering="name"))
    except TrancheError as error:
        st.caption(f":material/info: The names of the seats can't be loaded: {plain(error.reason)}")
        return {}
    names = {
        seat.id: (seat.name or f"Seat {seat.id}", seat.dsp.name if seat.dsp else None)
        for seat in seats
        if seat.id is not None
    }
    return {id_: " · ".join(filter(None, parts)) for id_, parts in names.items()}


def deals_grant_label(grant: DealsGrant, names: Mapping[int, str]) -> str:
    """A grant in a few words, as a cell of a table."""
    if grant.seats is None:
        return LEVELS[grant.access] if grant.access == "none" else f"{LEVELS[grant.access]}, all seats"
    seats = ", ".join(names.get(seat, f"seat {seat}") for seat in sorted(grant.seats))
    return f"{LEVELS[grant.access]}: {seats}"


def way_in(person: Person) -> str:
    """How a person signs in: with a password, or with an account of that host, unless they are blocked."""
    method = f"Company ({urlsplit(person.company).netloc})" if person.company else "Password"
    return f"{method}, blocked: {person.blocked}" if person.blocked else method


@dataclass(frozen=True)
class PersonEntry:
    """The input, stripped; the password unchanged."""

    username: str
    name: str
    email: str
    password: str


def read_input() -> PersonEntry:
    """The current input."""
    texts = [(st.session_state.get(key) or "").strip() for key in (USERNAME, NAME, EMAIL)]
    return PersonEntry(texts[0].lower(), texts[1], texts[2], st.session_state.get(PASSWORD) or "")


def faults(access: Access, entry: PersonEntry) -> dict[str, str]:
    """The errors by field."""
    sentences = {USERNAME: "", NAME: name_fault(entry.name), EMAIL: email_fault(entry.email)}
    sentences[PASSWORD] = passwords.fault(entry.password)
    if not entry.username:
        sentences[USERNAME] = "Type a user name."
    elif not Username.fullmatch(entry.username):
        rule = "Lower-case letters, digits and . _ @ + -, beginning with a letter or digit."
        sentences[USERNAME] = rule
    elif access.people.get(entry.username):
        sentences[USERNAME] = f"There is a person '{entry.username}' already."
    return {field: sentence for field, sentence in sentences.items() if sentence}


def grants_fault(grants: Iterable[str]) -> str:
    """Why these grants are not valid; empty if they are."""
    try:
        for grant in grants:
            Grant.parse(grant)
    except BadRequest as error:
        return f"{error.reason}."
    return ""


def draw(access: Access) -> dict[str, str]:
    """Draw the fields; returns the errors. Missing fields are reported only after a click on Add.

    No field has a help icon: it would be where the Tab key goes next, and what is typed then is lost. The
    password is sent while it is typed: the Tab key goes to the button that shows it, inside of the field,
    and a field that is not left sends nothing.
    """
    entry = read_input()
    sentences = faults(access, entry)
    for key, value, placeholder in (
        (USERNAME, entry.username, "Used to sign in"),
        (NAME, entry.name, "Shown on screen"),
        (EMAIL, entry.email, "Optional"),
        (PASSWORD, entry.password, f"At least {passwords.SHORTEST_PASSWORD} characters"),
    ):
        is_password = key == PASSWORD
        st.text_input(
            LABELS[key], key=key, placeholder=placeholder, type="password" if is_password else "default",
            autocomplete="new-password" if is_password else "off", live=LIVE if is_password else False,
        )  # fmt: skip
        beside([sentences[key]] if key in sentences and (IS_TRIED in st.session_state or value) else [])
    return sentences
