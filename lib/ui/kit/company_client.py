"""The client with which Streamlit asks the company's provider, bound to the settings.

Authlib takes every algorithm that the provider's metadata lists, `none` too, and a token for another client
if its `azp` names ours.
"""

from collections.abc import Collection
from typing import Any

from authlib.integrations import starlette_client
from authlib.integrations.base_client import OAuthError
from streamlit.web.server.starlette import starlette_auth_routes

ALGORITHMS = "id_token_signing_alg_values_supported"
USUAL = ("RS256",)  # OpenID Connect Discovery 1.0: what every provider has


def bind(issuer: str, client_id: str, algorithms: Collection[str]) -> None:
    """Take ID tokens of this issuer, for this client, signed with one of these algorithms; no others.

    Streamlit makes its client from one class per process, and hands no other in.
    """
    streamlits = starlette_auth_routes._create_streamlit_oauth_class(starlette_client)
    given: type[Any] = streamlits.oauth2_client_cls
    issuers = [issuer.rstrip("/"), f"{issuer.rstrip('/')}/"]
    options = {"iss": {"essential": True, "values": issuers}, "aud": {"essential": True, "value": client_id}}

    class BoundClient(given):  # type: ignore[misc]
        async def parse_id_token(
            self, token: Any, nonce: str, claims_options: Any = None, **more: Any
        ) -> Any:
            supported = (await self.load_server_metadata()).get(ALGORITHMS) or USUAL
            allowed = [one for one in supported if one in algorithms]
            if not allowed:
                raise OAuthError(description="the provider has no algorithm of the setting oidc.algorithms")
            self.server_metadata[ALGORITHMS] = allowed
            return await super().parse_id_token(token, nonce, claims_options or options, **more)

    streamlits.oauth2_client_cls = BoundClient
