"""Reads tables of any kind, checks them and encodes them as float32."""
