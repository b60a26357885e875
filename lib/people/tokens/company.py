"""The company sign-in that the settings describe, for the desk and for Streamlit."""

from typing import Any

from sqlalchemy import Engine

from lib.people import People
from lib.people.company import ClaimRule, Company
from lib.people.secret import secret
from lib.settings import CALLBACK, Settings
from lib.wire.errors import BadRequest, Misconfigured

PROVIDER = "company"
"""The provider's name in Streamlit's secrets, which may have no underscore."""


def company_of(settings: Settings, people: People) -> Company | None:
    """The company sign-in over these people, if there is one; Misconfigured for a rule that can't be."""
    provider = settings.company.oidc
    if provider is None:
        return None
    account = provider.issuer, provider.client_id, claim_rules(settings), provider.name_claim
    return Company(people, *account, settings.session_hours)


def claim_rules(settings: Settings) -> list[ClaimRule]:
    """The rules of company accounts in the settings; Misconfigured for one that can't be."""
    rules = settings.company.oidc.rules if settings.company.oidc else ()
    try:
        return [ClaimRule.parse(r.claim, r.value, r.role, r.grants, r.deals, r.shares) for r in rules]
    except BadRequest as error:
        raise Misconfigured(f"Setting oidc.rules: {error.reason}") from None


def streamlit_secrets(settings: Settings, engine: Engine) -> dict[str, dict[str, Any]]:
    """What Streamlit has to know of the company sign-in, as in its `secrets.toml`; empty without one.

    To be handed over in memory (`st.App(secrets=…)`): tables are not put into the environment, as single
    values would be. The key that signs its cookies is made on first use, the same for all desks.
    """
    oidc = settings.company.oidc
    if oidc is None or settings.company.oidc_secret is None:
        return {}
    provider = {
        "client_id": oidc.client_id,
        "client_secret": settings.company.oidc_secret.get_secret_value(),
        "server_metadata_url": oidc.metadata_url,
        "client_kwargs": {"scope": oidc.scope},
    }
    back = f"{settings.company_address}{CALLBACK}"
    return {"auth": {"redirect_uri": back, "cookie_secret": secret(engine, PROVIDER), PROVIDER: provider}}
