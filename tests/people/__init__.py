"""Tests of lib/people."""
