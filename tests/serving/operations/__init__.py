"""Tests of lib/serving/operations."""
