"""Tests of lib/serving/remote."""
