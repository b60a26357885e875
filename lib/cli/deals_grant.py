"""A grant for deals as it is typed on the command line."""

import click

from lib.people import DealsGrant
from lib.wire.errors import BadRequest


class DealsGrantType(click.ParamType[DealsGrant]):
    """`none`, `read`, `write`, or of some seats alone `read:3,7`; `sync:3,7` for a DSP."""

    name = "none|sync|read|write[:seats]"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> DealsGrant:
        """The grant; a text that is none is a usage error."""
        if isinstance(value, DealsGrant):
            return value
        try:
            return DealsGrant.parse(str(value))
        except BadRequest as error:
            self.fail(error.reason, param, ctx)
