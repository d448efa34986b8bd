"""Forests as ONNX models: standard graphs that run wherever an ONNX runtime does."""

from bevel.export.onnx.model import to_onnx, write_onnx

__all__ = ["to_onnx", "write_onnx"]
