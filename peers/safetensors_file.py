"""Reads and writes safetensors files, in which heddle has checkpoints and gradients, as NumPy arrays. Not a program."""
import json
import os
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


def metadata(path):
    """{name: text}"""
    with open(path, "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        return json.loads(file.read(length)).get("__metadata__", {})


def write(path, arrays, notes):
    """Whole or not at all. Arrays: {name: array}, notes: {name: text}."""
    names = {str(np.dtype(value)): name for name, value in TYPES.items()}
    header, at = {"__metadata__": notes}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": names[str(array.dtype)], "shape": list(array.shape),
                        "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path + ".new", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in arrays.values():
            file.write(np.ascontiguousarray(array).tobytes())
    os.replace(path + ".new", path)
