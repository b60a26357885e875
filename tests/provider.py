"""A small OpenID Connect provider: discovery, keys, sign-in, tokens, who somebody is, sign-out.

It follows OpenID Connect Core 1.0 (authorization code, RS256), Discovery 1.0, RP-Initiated Logout 1.0 and
RFC 7636 (PKCE); everybody signs in by a click on their account.
"""

import base64
import hashlib
import html
import secrets
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode

from joserfc import jwt
from joserfc.jwk import RSAKey
from joserfc.jws import JWSRegistry
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

CLIENT, SECRET = "tranche", "the client's secret"


@dataclass
class Provider:
    """Its accounts (subject → claims), and what was done: sign-outs as the parameters that they came with.

    `secret` is what it takes from the desk, `seconds` how long an ID token is valid, `is_down` answers 503.
    `others` are claims of ID tokens in place of the right ones; tokens are signed with `algorithm`, which the
    metadata lists.
    """

    accounts: dict[str, dict[str, Any]]
    secret: str = SECRET
    seconds: float = 300
    is_down: bool = False
    others: dict[str, Any] = field(default_factory=dict)
    algorithm: str = "RS256"
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one", "use": "sig"}))
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    sign_outs: list[dict[str, str]] = field(default_factory=list)

    def app(self) -> Starlette:
        """The provider as an application; its issuer is the address at which it is asked."""
        paths = {
            "/.well-known/openid-configuration": self._metadata,
            "/jwks": self._keys,
            "/authorize": self._authorize,
            "/userinfo": self._userinfo,
            "/end-session": self._end_session,
        }
        routes = [Route(path, answer) for path, answer in paths.items()]
        return Starlette(routes=[*routes, Route("/token", self._token, methods=["POST"])])

    def _metadata(self, request: Request) -> Response:
        if self.is_down:
            return Response(status_code=503)
        issuer = _issuer(request)
        places = {f"{name}_endpoint": f"{issuer}/{name}" for name in ("token", "userinfo")}
        return JSONResponse(
            {
                "issuer": issuer,
                "jwks_uri": f"{issuer}/jwks",
                "authorization_endpoint": f"{issuer}/authorize",
                "end_session_endpoint": f"{issuer}/end-session",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": [self.algorithm],
                "code_challenge_methods_supported": ["S256"],
                **places,
            }
        )

    def _keys(self, _: Request) -> Response:
        return JSONResponse({"keys": [self.key.as_dict(private=False)]})

    def _authorize(self, request: Request) -> Response:
        """The page with the accounts; a click comes here again with `account`, or with `deny`."""
        asked = dict(request.query_params)
        if asked.get("client_id") != CLIENT or "openid" not in asked.get("scope", "").split():
            return Response("no such client, or no openid", 400)
        if "deny" in asked:
            return _back(asked, {"error": "access_denied"})
        if (account := asked.pop("account", None)) is not None:
            code = secrets.token_urlsafe(16)
            self.codes[code] = asked | {"account": account}
            return _back(asked, {"code": code})
        links = [(f"Continue as {name}", {"account": name}) for name in self.accounts]
        drawn = [
            f'<p><a href="?{html.escape(urlencode(asked | more))}">{html.escape(label)}</a></p>'
            for label, more in [*links, ("Cancel", {"deny": "1"})]
        ]
        return HTMLResponse(f"<!doctype html><title>Provider</title><h1>Provider</h1>{''.join(drawn)}")

    async def _token(self, request: Request) -> Response:
        form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        given = base64.b64decode(request.headers.get("authorization", "").removeprefix("Basic ")).decode()
        asked = self.codes.pop(form.get("code", ""), None)
        if given != f"{CLIENT}:{self.secret}":
            return JSONResponse({"error": "invalid_client"}, 401)
        verifier = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(verifier).decode().rstrip("=")
        proof = (challenge, form.get("redirect_uri"))
        if asked is None or proof != (asked["code_challenge"], asked["redirect_uri"]):
            return JSONResponse({"error": "invalid_grant"}, 400)
        token = self.id_token(_issuer(request), asked["account"], asked["nonce"])
        return JSONResponse(
            {"access_token": asked["account"], "token_type": "Bearer", "expires_in": 300, "id_token": token}
        )

    def id_token(self, issuer: str, account: str, nonce: str) -> str:
        """The signed claims of an account."""
        now = int(time.time())
        claims = {"iss": issuer, "aud": CLIENT, "iat": now, "exp": now + int(self.seconds), "nonce": nonce}
        claims |= self._claims(account) | self.others
        header = {"alg": self.algorithm, "kid": "one"}
        return jwt.encode(header, claims, self.key, registry=JWSRegistry(algorithms=[self.algorithm]))

    def _claims(self, account: str) -> dict[str, Any]:
        return {"sub": account} | self.accounts[account]

    def _userinfo(self, request: Request) -> Response:
        return JSONResponse(self._claims(request.headers["authorization"].removeprefix("Bearer ")))

    def _end_session(self, request: Request) -> Response:
        self.sign_outs.append(dict(request.query_params))
        return RedirectResponse(request.query_params["post_logout_redirect_uri"], 302)


def _issuer(request: Request) -> str:
    return str(request.base_url).rstrip("/")


def _back(asked: dict[str, str], told: dict[str, str]) -> Response:
    query = urlencode(told | {"state": asked["state"]})
    return RedirectResponse(f"{asked['redirect_uri']}?{query}", 302)


def toml_of(issuer: str, *rules: str) -> str:
    """A desk's settings for this provider: rules `value role grants deals` of the claim `groups`."""
    tables = ""
    for rule in rules:
        value, role, grants, deals = rule.split()
        listed = "" if grants == "-" else f'"{grants}"'
        tables += f'[[oidc.rules]]\nclaim = "groups"\nvalue = "{value}"\nrole = "{role}"\n'
        tables += f'grants = [{listed}]\ndeals = "{deals}"\n'
    head = f'oidc_secret = "{SECRET}"\n[oidc]\nissuer = "{issuer}"\nclient_id = "{CLIENT}"\n'
    return f'{head}button = "Sign in with Example Corp"\n{tables}'
