"""Reads safetensors files, which heddle writes checkpoints and gradients in, into NumPy arrays. Not a program."""
import json
import struct

import numpy as np

TYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32, "U8": np.uint8}


def read(path):
    """{name: array}"""
    with open(path, "rb") as file:
        content = file.read()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + length])
    header.pop("__metadata__", None)
    arrays = {}
    for name, one in header.items():
        begin, end = (8 + length + offset for offset in one["data_offsets"])
        arrays[name] = np.frombuffer(content[begin:end], TYPES[one["dtype"]]).reshape(one["shape"]).copy()
    return arrays
