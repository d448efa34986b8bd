"""Reads tables from CSV, TSV and Parquet files."""
