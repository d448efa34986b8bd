"""The model file: how a trained estimator lies on disk, and how it is read back.

`docs/reference/file_format.md` describes it field by field. Nothing in a file is ever executed.
"""
