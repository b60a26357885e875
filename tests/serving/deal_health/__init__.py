"""Tests of lib/serving/deal_health."""
