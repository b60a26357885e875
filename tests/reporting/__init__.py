"""Tests of lib/reporting."""
