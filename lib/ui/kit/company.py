"""The company sign-in: its button, who came back from the provider, what failed there, and its checks.

Streamlit talks to the provider by a client of Authlib, which takes every algorithm that the provider's
metadata lists, `none` too, and a token for another client if its `azp` names ours. `bind` has it check more.
"""

from collections.abc import Collection
from typing import Any

import streamlit as st

from lib.front import OUTCOME
from lib.people import Person
from lib.tokens.company import PROVIDER
from lib.ui import streamlit_compat
from lib.ui.kit.markdown import plain
from lib.ui.kit.sign_in_methods import Visit, problem, problem_of
from lib.wire.errors import DeadlineExceeded, NotAdmitted, StoreUnavailable

METHOD, TRIED = "company", "company_tried"
OUTCOMES = {
    "denied": "You cancelled the company sign-in, or your company refused it.",
    "unreachable": "The company sign-in can't be reached. Try again in a moment.",
    "failed": "The company sign-in could not be completed. Try again. If it fails again, ask an "
    "administrator: the log says why.",
}
ALGORITHMS = "id_token_signing_alg_values_supported"
NO_ALGORITHM = "the provider has no algorithm of the setting oidc.algorithms"
USUAL = ("RS256",)  # OpenID Connect Discovery 1.0: what every provider has


class CompanyAccount:
    """An account at the OpenID Connect provider of the settings."""

    def arrival(self, visit: Visit) -> Person | None:
        """Who comes from the provider with this page; None if nobody does, or they may not sign in.

        Tried once per tab: what was refused is shown until the tab is reloaded.
        """
        company = visit.installation.company
        if company is None or TRIED in st.session_state or not _claims().get("is_logged_in"):
            return None
        st.session_state[TRIED] = True
        try:
            return visit.installation.access.sign_in_with(company, _claims(), visit.address)
        except (NotAdmitted, StoreUnavailable, DeadlineExceeded) as error:
            problem(error.reason, METHOD)
        return None

    def draw(self, visit: Visit) -> None:
        """The button, and what failed, with a button to leave the company account.

        Nothing without a provider.
        """
        settings = visit.installation.settings.oidc
        if settings is None or not streamlit_compat.has_company_client():
            return
        if outcome := st.query_params.get(OUTCOME):
            del st.query_params[OUTCOME]
            problem(OUTCOMES.get(outcome, OUTCOMES["failed"]), METHOD)
        if sentence := problem_of(METHOD):
            st.error(plain(sentence), icon=":material/error:")
            if _claims().get("is_logged_in"):
                st.button(
                    "Sign out of the company account",
                    key="company_leave",
                    width="stretch",
                    on_click=visit.leave,
                )
        st.button(
            plain(settings.button),
            icon=":material/domain:",
            key="company_sign_in",
            width="stretch",
            on_click=st.login,
            args=(PROVIDER,),
        )


def _claims() -> dict[str, object]:
    """What the provider said of who has this browser; Streamlit reads it when a tab is opened."""
    return dict(st.user.to_dict())


def bind(issuer: str, client_id: str, algorithms: Collection[str]) -> bool:
    """Take ID tokens of this issuer, for this client, signed with one of these algorithms; no others.

    False if this version of Streamlit has no place for that.
    """
    from authlib.integrations.base_client import OAuthError

    issuers = [issuer.rstrip("/"), f"{issuer.rstrip('/')}/"]
    options = {"iss": {"essential": True, "values": issuers}, "aud": {"essential": True, "value": client_id}}

    def bound(base: type[Any]) -> type[Any]:
        class BoundClient(base):  # type: ignore[misc]
            async def parse_id_token(
                self, token: Any, nonce: str, claims_options: Any = None, **more: Any
            ) -> Any:
                supported = (await self.load_server_metadata()).get(ALGORITHMS) or USUAL
                allowed = [one for one in supported if one in algorithms]
                if not allowed:
                    raise OAuthError(description=NO_ALGORITHM)
                self.server_metadata[ALGORITHMS] = allowed
                return await super().parse_id_token(token, nonce, claims_options or options, **more)

        return BoundClient

    return streamlit_compat.replace_company_client(bound)
