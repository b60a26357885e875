"""Tests of lib/ingest."""
