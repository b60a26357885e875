"""Proposals: changes that somebody who may change deals approves, edits or declines."""
