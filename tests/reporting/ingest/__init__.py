"""Tests of lib/reporting/ingest."""
