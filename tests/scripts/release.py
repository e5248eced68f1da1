"""Versions, release notes, the changelog of the packages and the source tarball.

    release.py
"""
import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def load(name):
    loader = importlib.machinery.SourceFileLoader("release_notes", os.path.join(ROOT, "scripts", name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


notes = load("release-notes")
CHANGELOG = """# Changelog

## [Unreleased]

Version 0.3.0 in the making.

- new

## [0.2.0] - 2026-11-17

- newer

## [0.1.0] - 2026-11-16

- old
"""


def run(*command, code=0):
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == code, f"{command}: {result.stdout}{result.stderr}"
    return result.stdout


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


class Notes(unittest.TestCase):
    def test_notes_are_the_section_of_the_version(self):
        self.assertEqual(notes.notes("0.1.0", CHANGELOG), "# heddle 0.1.0 (2026-11-16)\n\n- old\n")
        self.assertEqual(notes.notes("0.3.0", CHANGELOG),
                         "# heddle 0.3.0, unreleased\n\nVersion 0.3.0 in the making.\n\n- new\n")
        with self.assertRaisesRegex(notes.Mistake, "nothing about 0.4.0"):
            notes.notes("0.4.0", CHANGELOG)

    def test_wrong_changelogs_are_refused(self):
        for old, new, message in (("0.1.0", "0.1", "not a version"), (" - 2026-11-16", "", "needs a date"),
                                  ("2026-11-16", "2026-13-40", r"^CHANGELOG.md: \[0.1.0\] - 2026-13-40 is not a date: month"),
                                  ("0.1.0", "0.5.0", "newest first"), ("0.1.0", "0.2.0", "newest first")):
            with self.assertRaisesRegex(notes.Mistake, message):
                notes.sections(CHANGELOG.replace(old, new))

    def test_the_packages_changelog_has_every_version_and_one_in_the_making_sorts_before_its_release(self):
        released = re.findall(r"^heddle \((.*)\)", notes.debian("0.2.0", CHANGELOG), re.MULTILINE)
        self.assertEqual(released, ["0.2.0-1", "0.1.0-1"])
        self.assertIn("Tue, 17 Nov 2026 00:00:00 +0000", notes.debian("0.2.0", CHANGELOG))
        making = re.findall(r"^heddle \((.*)\)", notes.debian("0.3.0", CHANGELOG), re.MULTILINE)
        self.assertRegex(making[0], r"^0\.3\.0~git\d{8}\.\w+-1$")
        self.assertEqual(making[1:], released)

    def test_the_project_has_one_version(self):
        version = notes.project_version(notes.read("CMakeLists.txt"))
        self.assertIn(run("scripts/release-notes", "--version").strip(), (version, version + "-dev"))
        self.assertIn(f"heddle {version}", run("scripts/release-notes"))
        first = run("scripts/release-notes", "--debian").splitlines()[0]
        self.assertRegex(first, rf"^heddle \({re.escape(version)}(~git[\w.]+)?-1\) unstable; urgency=medium$")
        run("scripts/release-notes", "--wrong", code=2)
        run("scripts/release-notes", "0.0.1", code=1)


class Dist(unittest.TestCase):
    def test_the_tarball_is_complete_and_the_same_each_time(self):
        with tempfile.TemporaryDirectory() as scratch:
            if not os.path.exists(os.path.join(ROOT, ".git")):
                run("scripts/dist", scratch, code=3)
                return
            paths = [run("scripts/dist", os.path.join(scratch, name)).strip() for name in "ab"]
            contents = [bytes_of(path) for path in paths]
            self.assertTrue(contents[0] == contents[1])
            with tarfile.open(paths[0]) as archive:
                top = os.path.basename(paths[0])[:-len(".tar.gz")] + "/"
                files = {member.name for member in archive if not member.isdir()}
                self.assertEqual(files, {top + name for name in run("git", "ls-tree", "-r", "-z", "--name-only", "HEAD")
                                         .split("\0")[:-1]})
                self.assertEqual(len({member.mtime for member in archive}), 1)
                commit = archive.extractfile(top + "packaging/commit").read().decode().strip()
            self.assertEqual(commit, run("git", "rev-parse", "HEAD").strip())


if __name__ == "__main__":
    unittest.main()
