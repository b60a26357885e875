"""Tests of lib/reporting/engines."""
