"""Text fields for numbers and times: the input is never rewritten, and strictly validated."""
