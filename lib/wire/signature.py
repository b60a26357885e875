"""The signature of messages that we send."""

import hashlib
import hmac
import time

from pydantic import SecretStr


def signed_headers(secret: SecretStr | None, body: bytes) -> dict[str, str]:
    """The headers of a message of JSON that its receiver can check.

    `Tranche-Timestamp` is now, in seconds; `Tranche-Signature` is `v1=` and the hexadecimal HMAC-SHA256
    (RFC 2104) over it, a full stop and the body.

    The timestamp lets the receiver refuse a message that somebody sends again later.
    """
    timestamp, key = str(int(time.time())), "" if secret is None else secret.get_secret_value()
    digest = hmac.new(key.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    return {
        "Content-Type": "application/json",
        "Tranche-Timestamp": timestamp,
        "Tranche-Signature": f"v1={digest}",
    }
