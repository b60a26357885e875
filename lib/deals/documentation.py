"""What /openapi.json says of the deals endpoints."""

from typing import Any


def operation(entity: str, verb: str) -> dict[str, Any]:
    """The documentation of one endpoint, as `add_api_route` takes it."""
    return {"operation_id": f"{verb}_{entity}", "response_model": None}
