"""The reporting API, table by table of its specification, then what the specification leaves open."""
