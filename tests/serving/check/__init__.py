"""Tests of lib/serving/check."""
