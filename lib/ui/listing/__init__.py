"""A list of entities, page by page: a row opens, a header orders, boxes choose."""
