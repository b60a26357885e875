"""The seam of the sign-in: what a method has to do, and the methods: password, demo, company account.

A method finds out who somebody is, nothing more. The session, its cookie and its end are `sign_in.py`, which
lists the methods in the order of the page.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Protocol

import streamlit as st
import streamlit_authenticator as stauth

from lib.people import Person
from lib.people.credentials import PASSWORD as DEMO_PASSWORD
from lib.people.tokens.company import PROVIDER
from lib.serving import connect
from lib.serving.front import OUTCOME
from lib.ui import streamlit_compat
from lib.ui.kit.markdown import plain
from lib.wire.errors import NotAdmitted, StoreUnavailable

DEMO_PEOPLE = {
    "viewer": "Reads reports",
    "manager": "Also sets up deals",
    "admin": "Manages people and permissions",
}
TO_TRY = (
    "To begin, choose the slicer *curation*; impressions fell, and *What moved* finds the deal that did it."
)
PROBLEM, REFUSALS = "sign_in_problem", "sign_in_refusals"
FIELDS = {"Form name": "Sign in", "Username": "Name", "Password": "Password", "Login": "Sign in"}
METHOD, IS_TRIED = "company", "company_tried"
OUTCOMES = {
    "denied": "You cancelled the company sign-in, or your company refused it.",
    "unreachable": "The company sign-in can't be reached. Try again in a moment.",
    "failed": "The company sign-in could not be completed. Try again. If it fails again, ask an "
    "administrator: the log says why.",
}
ALGORITHMS = "id_token_signing_alg_values_supported"
NO_ALGORITHM = "the provider has no algorithm of the setting oidc.algorithms"
USUAL = ("RS256",)  # OpenID Connect Discovery 1.0: what every provider has


@dataclass(frozen=True)
class Visit:
    """A visit to the sign-in page: the installation, the address of the browser, and what signs people in."""

    installation: connect.Installation
    address: str | None
    authenticator: stauth.Authenticate


class SignInMethod(Protocol):
    """A way to sign in. Each is asked on every run of a tab in which nobody is signed in."""

    def arrival(self, visit: Visit) -> Person | None:
        """The person whom this page authenticates; None if there is none, with the reason in `problem`.

        The method notes the sign-in in the audit log itself, as `Access.sign_in` does.
        """
        return None

    def draw(self, visit: Visit) -> None:
        """Draw its part of the sign-in page; nothing where the installation has no such sign-in."""


def problem(sentence: str, method: str = "") -> None:
    """Let a method show why nobody is signed in (empty: that by password), in place of what was shown before.

    An empty sentence shows nothing.
    """
    st.session_state[PROBLEM] = {method: sentence}


def problem_of(method: str) -> str:
    """What this method has to show; empty if nothing."""
    return str(st.session_state.get(PROBLEM, {}).get(method, ""))


class PasswordForm(SignInMethod):
    """Name and password."""

    def draw(self, visit: Visit) -> None:
        """streamlit-authenticator's form, and what was wrong with the last attempt.

        A refused password is not shown again: a label with another end makes another field.
        """
        refusals, before = st.session_state.get(REFUSALS, 0), st.session_state.get(PROBLEM)
        fields = FIELDS | {"Password": f"Password{' ' * (refusals % 2)}"}
        with st.container(key="sign_in_form"):  # for style.css and desk.js: a form's key is no class
            visit.authenticator.login(fields=fields, key="sign_in")
        if is_refused := st.session_state.get(PROBLEM) is not before:
            st.session_state[REFUSALS] = refusals + 1
        if is_refused or st.session_state["authentication_status"]:
            st.rerun()
        if sentence := problem_of(""):
            st.session_state.pop(PROBLEM)
            st.error(plain(sentence), icon=":material/error:")


class DemoButtons(SignInMethod):
    """The people of the demo, with a click each."""

    def draw(self, visit: Visit) -> None:
        """A button for each; nothing outside of the demo."""
        if not visit.installation.settings.demo:
            return
        st.info(
            "This is a demo with made-up data. Sign in as one of three people with a click, or type "
            f"their name and the password `{DEMO_PASSWORD}`. {TO_TRY}",
            icon=":material/science:",
        )
        with st.container(horizontal=True):
            for username, does in DEMO_PEOPLE.items():
                st.button(
                    username.capitalize(), key=f"demo_{username}", help=does, width="stretch",
                    on_click=visit.authenticator.authentication_controller.login,
                    args=(username, DEMO_PASSWORD),
                )  # fmt: skip


class CompanyAccount:
    """An account at the OpenID Connect provider of the settings."""

    def arrival(self, visit: Visit) -> Person | None:
        """The person whom the provider sends with this page; None without one, or if they may not sign in.

        Tried once per tab: what was refused is shown until the tab is reloaded.
        """
        company = visit.installation.company
        if company is None or IS_TRIED in st.session_state or not _claims().get("is_logged_in"):
            return None
        st.session_state[IS_TRIED] = True
        try:
            return visit.installation.access.sign_in_with(company, _claims(), visit.address)
        except (NotAdmitted, StoreUnavailable) as error:
            problem(error.reason, METHOD)
        return None

    def draw(self, visit: Visit) -> None:
        """The button, and what failed, with a button to leave the company account.

        Nothing without a provider.
        """
        settings = visit.installation.settings.company.oidc
        if settings is None or not streamlit_compat.has_company_client():
            return
        if outcome := st.query_params.get(OUTCOME):
            del st.query_params[OUTCOME]
            problem(OUTCOMES.get(outcome, OUTCOMES["failed"]), METHOD)
        if sentence := problem_of(METHOD):
            st.error(plain(sentence), icon=":material/error:")
            if _claims().get("is_logged_in"):
                st.button(
                    "Sign out of the company account", key="company_leave", width="stretch",
                    on_click=visit.authenticator.cookie_controller.delete_cookie,
                )  # fmt: skip
        st.button(
            plain(settings.button), icon=":material/domain:", key="company_sign_in", width="stretch",
            on_click=st.login, args=(PROVIDER,),
        )  # fmt: skip


def _claims() -> dict[str, object]:
    """The provider's claims about the person in this browser; Streamlit reads them when a tab is opened."""
    return dict(st.user.to_dict())


def bind(issuer: str, client_id: str, algorithms: Collection[str]) -> bool:
    """Take ID tokens of this issuer, for this client, signed with one of these algorithms; no others.

    False if this version of Streamlit has no place for that.
    """
    from authlib.integrations.base_client import OAuthError

    issuers = [issuer.rstrip("/"), f"{issuer.rstrip('/')}/"]
    options = {"iss": {"essential": True, "values": issuers}, "aud": {"essential": True, "value": client_id}}

    def make_client(base: type[Any]) -> type[Any]:
        class BoundClient(base):  # type: ignore[misc]
            async def parse_id_token(
                self, token: Any, nonce: str, claims_options: Any = None, **more: Any
            ) -> Any:
                offers = (await self.load_server_metadata()).get(ALGORITHMS) or USUAL
                usable = [algorithm for algorithm in offers if algorithm in algorithms]
                if not usable:
                    raise OAuthError(description=NO_ALGORITHM)
                self.server_metadata[ALGORITHMS] = usable
                return await super().parse_id_token(token, nonce, claims_options or options, **more)

        return BoundClient

    return streamlit_compat.replace_company_client(make_client)
