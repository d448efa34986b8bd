"""The model file: writes a fitted estimator to disk and reads it back.

`docs/reference/file_format.md` describes it field by field. Nothing in a file is ever executed.
"""
