"""Tranche: slice report data and set up deals, in the browser."""
