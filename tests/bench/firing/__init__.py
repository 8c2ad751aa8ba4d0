"""Scenarios of `./dev bench` that fire jobs."""
