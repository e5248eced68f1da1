#!/usr/bin/env python3
"""What is built for a job, and what an edit builds again.

    rebuilds.py BUILD_FOLDER        BUILD_FOLDER: by Ninja, with the sim module built

The files that each object is known to depend on are held against the #include lines of its source.
"""
import collections
import functools
import glob
import os
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.path.join(ROOT, "src", "ops", "cuda")
FOLDERS = [os.path.join(ROOT, *parts) for parts in (("include",), ("src",), ("src", "sim"), ("src", "sim", "include"))]


def known_dependencies(build):
    """{object: files it depends on}, of the sim module's objects."""
    objects = {}
    for path in glob.glob(os.path.join(build, "heddle_module_sim.dir", "*.o.d")):
        with open(path) as file:
            files = file.read().replace("\\\n", " ").split(":", 1)[1].split()
        objects[os.path.basename(path)[:-len(".d")]] = {os.path.realpath(os.path.join(build, name)) for name in files}
    return objects


def includes_of(path):
    """[(name, certain)] of a file: what stands between #if and #endif may be left out. Include guards do not count."""
    depth, found = 0, []
    with open(path) as file:
        for line in file:
            word, _, rest = line.strip().lstrip("#").strip().partition(" ")
            if not line.startswith("#"):
                continue
            if word in ("if", "ifdef") or (word == "ifndef" and found):
                depth += 1
            elif word == "endif":
                depth -= 1
            elif word == "include" and rest.startswith('"'):
                found.append((rest.split('"')[1], depth <= 0))
    return found


@functools.lru_cache(maxsize=None)
def included_by(path, also_possible):
    """The project's files that this one includes, directly or through others, and itself."""
    files, waiting = set(), [path]
    while waiting:
        path = waiting.pop()
        if path in files:
            continue
        files.add(path)
        for name, certain in includes_of(path):
            candidates = (os.path.join(folder, name) for folder in [os.path.dirname(path), *FOLDERS])
            found = next(filter(os.path.exists, candidates), None)
            if found and (certain or also_possible):
                waiting.append(os.path.realpath(found))
    return files


class Rebuilds(unittest.TestCase):
    def setUp(self):
        self.objects = known_dependencies(BUILD)
        self.assertGreater(len(self.objects), 100)

    def test_an_object_is_rebuilt_for_the_headers_that_its_source_includes_and_for_no_others(self):
        headers = {os.path.join(SHARED, name) for name in os.listdir(SHARED) if name.endswith(".h")}
        rebuilt = collections.Counter()
        for name, files in self.objects.items():
            source, = (file for file in files if file.endswith(".cu"))
            known = files & headers
            self.assertLessEqual(included_by(source, False) & headers, known, name)
            self.assertLessEqual(known, included_by(source, True) & headers, name)
            rebuilt.update(known)
        self.assertTrue(any(count < len(self.objects) // 10 for count in rebuilt.values()), rebuilt)

    def test_a_header_of_the_simulator_concerns_every_object(self):
        header = os.path.join(ROOT, "src", "sim", "include", "sim", "standin.h")
        for name, files in self.objects.items():
            self.assertIn(header, files, name)


class Targets(unittest.TestCase):
    def commands(self, *targets):
        """The commands that build these targets from nothing."""
        return subprocess.run(["ninja", "-C", BUILD, "-t", "commands", *targets], check=True, stdout=subprocess.PIPE,
                              text=True).stdout.splitlines()[1:]

    def assert_needs_no(self, commands, *words):
        for command in commands:
            for word in words:
                self.assertNotIn(word, command.replace(ROOT, ""))

    def test_the_command_needs_no_simulated_gpu_no_nvcc_and_no_tests(self):
        commands = self.commands("heddle_command")
        self.assertGreater(len(commands), 100)
        self.assert_needs_no(commands, "simcc", "sim/core/", "nvcc -std", "heddle_module_", "tests/", "help --manual")

    def test_check_needs_the_runtime_and_no_device(self):
        commands = self.commands("heddle_command", "sim")
        self.assertTrue(any("sim/core/" in command for command in commands))
        self.assert_needs_no(commands, "simcc", "nvcc -std", "heddle_module_", "tests/")

    def test_the_sim_device_needs_no_nvcc_and_no_tests(self):
        commands = self.commands("heddle_module_sim")
        self.assertTrue(any("simcc" in command for command in commands))
        self.assert_needs_no(commands, "nvcc -std", "heddle_module_cu", "tests/")


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop())
    unittest.main()
