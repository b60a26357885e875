"""The client with which Streamlit asks the company's provider, bound to the settings.

Authlib takes every algorithm that the provider's metadata lists, `none` too, and a token for another client
if its `azp` names ours.
"""

from collections.abc import Collection
from typing import Any

from authlib.integrations.base_client import OAuthError

from lib.ui import streamlit_compat

ALGORITHMS = "id_token_signing_alg_values_supported"
NO_ALGORITHM = "the provider has no algorithm of the setting oidc.algorithms"
USUAL = ("RS256",)  # OpenID Connect Discovery 1.0: what every provider has


def bind(issuer: str, client_id: str, algorithms: Collection[str]) -> bool:
    """Take ID tokens of this issuer, for this client, signed with one of these algorithms; no others.

    False if this version of Streamlit has no place for that.
    """
    issuers = [issuer.rstrip("/"), f"{issuer.rstrip('/')}/"]
    options = {"iss": {"essential": True, "values": issuers}, "aud": {"essential": True, "value": client_id}}

    def bound(given: type[Any]) -> type[Any]:
        class BoundClient(given):  # type: ignore[misc]
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
