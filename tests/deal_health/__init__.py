"""Tests of lib/deal_health."""
