"""The arrays of a forest as columns of a file: encodings, descriptions, reading in place."""
