"""What the tests of the built command share: a home of their own, and ways to run and refuse."""

import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

HEDDLE = os.path.abspath(sys.argv.pop(1))


def write_idx(path, dims, payload):
    with open(path, "wb") as file:
        file.write(struct.pack(">BBBB", 0, 0, 8, len(dims)) + struct.pack(f">{len(dims)}I", *dims) + bytes(payload))


def write_png(path, width, rows, alpha=False):
    """Grey pixels, eight bits each; with alpha, each is followed by its opacity."""
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    header = struct.pack(">IIBBBBB", width, len(rows), 8, 4 if alpha else 0, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
                   chunk(b"IDAT", zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))) + chunk(b"IEND", b""))


class Command(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.home = self.scratch.name

    def tearDown(self):
        self.scratch.cleanup()

    def run_heddle(self, *arguments, code=0, leaks=False, **environment):
        """Looking for leaks as the program ends takes seconds in a build with sanitizers: only where asked for."""
        variables = {key: value for key, value in os.environ.items()
                     if key not in ("HEDDLE_DATA", "HEDDLE_LOG", "XDG_DATA_HOME")}
        variables.update(HOME=self.home, **environment)
        if not leaks:
            variables["ASAN_OPTIONS"] = variables.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        result = subprocess.run(["heddle", *arguments], executable=HEDDLE,
                                capture_output=True, text=True, env=variables, timeout=300)
        self.assertEqual(result.returncode, code, f"{arguments}: {result.stdout}{result.stderr}")
        return result

    def folder_of_images(self):
        """A dataset of 3 × 2 pixels with 4 classes: image i is all one grey, its label i % 4."""
        folder = os.path.join(self.home, "tiny")
        os.mkdir(folder)
        for split, count in (("train", 8), ("t10k", 5)):
            write_idx(f"{folder}/{split}-images-idx3-ubyte", (count, 2, 3), [40 * (i // 6) % 256 for i in range(6 * count)])
            write_idx(f"{folder}/{split}-labels-idx1-ubyte", (count,), [i % 4 for i in range(count)])
        return folder

    def assert_refused(self, arguments, message):
        result = self.run_heddle(*arguments, code=2)
        self.assertEqual(result.stderr, message + "\n")
        self.assertEqual(result.stdout, "")

    def train_in(self, folder, *options, code=0, **named):
        """A run of a moment, from a folder of its own: what is not told goes to runs/."""
        os.makedirs(folder, exist_ok=True)
        result = subprocess.run([HEDDLE, "train", "--data", "synth:count=100", "--model", "mlp", "--epochs", "1",
                                 *options], cwd=folder, capture_output=True, text=True, timeout=300,
                                env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"), **named)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result
