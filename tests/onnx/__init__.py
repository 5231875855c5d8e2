"""Tests of onnx_export."""
