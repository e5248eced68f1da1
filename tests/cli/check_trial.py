"""What the trials of `heddle check` share: a folder of their own, tools that are played, a kernel without Landlock.

The first argument of the test that imports this is the path of heddle.
"""

import ctypes
import errno
import os
import struct
import subprocess
import sys
import tempfile
import unittest

from check_environment import check_environment

HEDDLE = os.path.abspath(sys.argv.pop(1))
PATIENCE = 240

ADD = """#include <cstdio>
#ifndef VALUE
#define VALUE "none"
#endif
__global__ void add(int *a) { a[threadIdx.x] = 1; }
int main()
{
    int *a;
    cudaMalloc(&a, 128);
    add<<<1, 32>>>(a);
    cudaDeviceSynchronize();
    cudaFree(a);
    printf("value %s\\n", VALUE);
}
"""

# Plays bubblewrap: writes down its words, and contains nothing.
PLAYED_BWRAP = """#!/bin/sh
echo "$*" >> "$WORDS"
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
"""


def hide_landlock():
    """Makes the kernel answer this process and its children as one without Landlock."""
    no_new_privileges, set_filters, filter_mode, create_ruleset = 38, 22, 2, 444
    load_number, jump_if_equal, answer, allow, no_such_call = 0x20, 0x15, 0x06, 0x7fff0000, 0x00050000 | errno.ENOSYS
    lines = [(load_number, 0, 0, 0), (jump_if_equal, 0, 1, create_ruleset), (answer, 0, 0, no_such_call), (answer, 0, 0, allow)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    libc = ctypes.CDLL(None)
    if (libc.prctl(no_new_privileges, 1, 0, 0, 0) != 0 or
            libc.prctl(set_filters, filter_mode, struct.pack("HxxxxxxP", len(lines), ctypes.addressof(code))) != 0):
        raise OSError("no filters for system calls")


class Trial(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = os.path.join(self.scratch.name, "mine")
        self.temporary = os.path.join(self.scratch.name, "temporary")
        self.tools = os.path.join(self.scratch.name, "tools")
        for folder in (self.folder, self.temporary, self.tools):
            os.mkdir(folder)
        self.environment = check_environment(TMPDIR=self.temporary)

    def tearDown(self):
        self.scratch.cleanup()

    def write(self, name, text=ADD):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def play_nvcc(self, script):
        self.play("nvcc", script)

    def play(self, name, script):
        path = os.path.join(self.tools, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        os.chmod(path, 0o755)
        self.environment["PATH"] = self.tools + ":" + os.environ["PATH"]

    def check(self, *arguments, code=0, folder=None, clean_up=True, given=None, before=None):
        result = subprocess.run([HEDDLE, "check", "--no-counters", *arguments], capture_output=True, text=True,
                                env=self.environment, cwd=folder or self.folder, timeout=PATIENCE, check=False,
                                input=given, preexec_fn=before)  # pylint: disable=subprocess-popen-preexec-fn
        self.assertEqual(result.returncode, code, f"{arguments}:\n{result.stdout}\n{result.stderr}")
        if clean_up:
            self.assertEqual(os.listdir(self.temporary), [])
        return result
