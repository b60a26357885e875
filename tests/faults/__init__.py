"""The desk with failing remote services, behind a proxy that causes the faults."""
