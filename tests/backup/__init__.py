"""Tests of lib/backup."""
