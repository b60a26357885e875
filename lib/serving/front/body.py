"""The body of a request, up to a size."""

from starlette.requests import Request


async def read_body(request: Request, most: int) -> bytes | None:
    """The body; None where it has more bytes, whatever its headers promise."""
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > most:
        return None
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            return None
    return body
