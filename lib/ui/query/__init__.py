"""The question of Slicers, Audience and Export: the URL, dates, filters, split, and the answers to it."""
