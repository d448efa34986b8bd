"""Reads tables from files as people have them."""
