"""The board of the Audience page, drawn in the browser from answers of a route."""
