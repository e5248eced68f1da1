#!/usr/bin/env python3
"""Writes the module that tells Python what libheddle's functions and structures look like.

    declarations.py INCLUDE_FOLDER VERSION OUTPUT.py

The public headers are the only source: comments, preprocessor lines and attributes are taken out, and what is left is what
cffi reads. The output needs neither a compiler nor the headers.
"""
import pathlib
import re
import sys

import cffi


def headers_in_order(folder):
    """The headers that heddle/heddle.h includes, each after those that it includes itself."""
    ordered = []

    def visit(name):
        text = (folder / name).read_text()
        for included in re.findall(r'^#include "(heddle/[a-z_]+\.h)"', text, re.M):
            if included not in ordered:
                visit(included)
        ordered.append(name)

    visit('heddle/heddle.h')
    return ordered


def declarations(folder):
    text = ''.join((folder / name).read_text() for name in headers_in_order(folder))
    if 'heddle_version' not in text:
        raise SystemExit(f'declarations: {folder} does not have the headers of libheddle')
    text = re.sub(r'//[^\n]*', '', text)
    text = re.sub(r'^#if(?:n?def)? .*?__cplusplus.*?^#endif', '', text, flags=re.M | re.S)
    text = re.sub(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', '', text, flags=re.M)
    text = re.sub(r'\bHEDDLE_API\b|\bHEDDLE_PRINTF\([^)]*\)', '', text)
    return re.sub(r'\n\s*\n+', '\n', text)


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    folder, version, output = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    builder = cffi.FFI()
    # No library is named: the package opens it when it knows where it is.
    builder.set_source('heddle._c', None)
    builder.cdef(declarations(folder))
    builder.emit_python_code(str(output))
    # A library of another version may have other structures: the package compares.
    with output.open('a') as file:
        file.write(f'\nVERSION = {version!r}\n')


if __name__ == '__main__':
    main()
