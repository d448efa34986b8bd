"""Tables of any kind, made safe to read without further checks."""
