"""What a document of OpenAPI says, with its references at hand."""

from typing import Any

Document = dict[str, Any]


def whole(document: Document, schema: Document) -> Document:
    """The schema as one that jsonschema checks with: its references lead into the document's components."""
    return {**named(document, schema), "components": document["components"]}


def named(document: Document, schema: Document) -> Document:
    """The component that the schema refers to, or the schema."""
    name = schema.get("$ref", "").rpartition("/")[2]
    component: Document = document["components"]["schemas"][name] if name else schema
    return component
