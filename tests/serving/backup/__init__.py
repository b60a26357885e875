"""Tests of lib/serving/backup."""
