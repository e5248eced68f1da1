#!/usr/bin/env python3
"""scripts/mutate on a project of one source and one test."""
import json
import os
import signal
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCE = """// A relation in a comment, 1 < 2, is none.
struct pair { int first, second; };

int larger(int a, int b)
{
    return a > b ? a : b;
}

int untested(int a)
{
    if (a == 7)
        return 3;
    return 5;
}

int same_code(int a)
{
    return a + 0 * 9;
}

struct pair make(int a)
{
    struct pair made = {a, a};
    return made;
}

int next(int a)
{
    a += 1;
    return a;
}
"""
TEST = """int larger(int a, int b);
int same_code(int a);
int next(int a);
int main(void)
{
    return larger(1, 2) != 2 || larger(2, 1) != 2 || same_code(4) != 4 || next(1) != 2;
}
"""
CMAKE = """cmake_minimum_required(VERSION 3.18)
project(small C)
enable_testing()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
add_executable(test_small tests/test_small.c src/room/small.c)
add_test(NAME room.small COMMAND test_small)
"""
TABLE = {"configure": [], "commands": {"tests": "ctest --test-dir {build} --no-tests=error -R {argument}"},
         "rooms": [{"files": "src/room/*", "stages": [{"targets": ["test_*"], "tests": "^room"}]}]}
FILES = {"src/room/small.c": SOURCE, "tests/test_small.c": TEST, "CMakeLists.txt": CMAKE, ".gitignore": "/build*/\n",
         "tests/mutate.json": json.dumps(TABLE)}


class Mutate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="mutate-")
        cls.addClassCleanup(folder.cleanup)
        cls.root = folder.name
        for name, text in FILES.items():
            os.makedirs(os.path.dirname(os.path.join(cls.root, name)), exist_ok=True)
            cls.write(name, text)
        subprocess.run(["git", "init", "-q"], cwd=cls.root, check=True)

    @classmethod
    def write(cls, name, text):
        with open(os.path.join(cls.root, name), "w") as file:
            file.write(text)

    def mutate(self, *options):
        return subprocess.run([os.path.join(ROOT, "scripts", "mutate"), *options], cwd=self.root, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def assert_untouched(self):
        for name, text in FILES.items():
            with open(os.path.join(self.root, name)) as file:
                self.assertEqual(file.read(), text, name)

    def listed(self, *options):
        return self.mutate("--list", *options, "src/room").stdout

    def test_mutants_are_drawn_by_the_seed_and_only_from_code(self):
        self.assertEqual(self.listed("--count", "5"), self.listed("--count", "5"))
        self.assertNotEqual(self.listed("--count", "5"), self.listed("--count", "5", "--seed", "2"))
        every = self.listed("--count", "1000")
        for line in ("- return a > b ? a : b;\n+ return a >= b ? a : b;", "- if (a == 7)\n+ if (!(a == 7))",
                     "- if (a == 7)\n+ if (a == 8)", "- return 5;\n+ return 0;", "- a += 1;\n+ ;"):
            self.assertIn(line, every)
        self.assertNotIn("+ // A relation", every)
        self.assertNotIn("+ struct pair", every)

    def test_a_change_leaves_the_mutants_of_other_functions(self):
        def of_the_first(listed):
            return [mutant for mutant in listed.split("src/room/")[1:] if "in larger" in mutant.split("\n")[0]]

        before = self.listed("--count", "9")
        self.write("src/room/small.c", SOURCE.replace("a == 7", "a == 6"))
        try:
            self.assertEqual(of_the_first(self.listed("--count", "9")), of_the_first(before))
        finally:
            self.write("src/room/small.c", SOURCE)

    def test_each_folder_has_its_share(self):
        os.mkdir(os.path.join(self.root, "src/other"))
        self.write("src/other/one.c", "int one(int a)\n{\n    return a < 3 && a > 1;\n}\n")
        try:
            names = self.mutate("--list", "--count", "6", "src/room", "src/other").stdout
        finally:
            os.remove(os.path.join(self.root, "src/other/one.c"))
        self.assertEqual((names.count("src/room/"), names.count("src/other/")), (3, 3))

    def test_what_is_tested_is_caught_and_the_rest_is_told(self):
        done = self.mutate("--count", "1000", "src/room/small.c")
        self.assertEqual(done.returncode, 1, done.stdout)
        with open(os.path.join(self.root, "build/mutate/result.json")) as file:
            result = json.load(file)
        outcomes = {}
        for row in result["mutants"]:
            outcomes.setdefault((row["line"], row["kind"]), set()).add(row["outcome"])
        self.assertEqual(outcomes[6, "relation"], {"caught", "survived"})  # >= gives the larger one too
        self.assertEqual(outcomes[11, "relation"], {"survived"})
        self.assertEqual(outcomes[18, "constant"] & {"same code"}, {"same code"})
        self.assertEqual(outcomes[24, "return value"], {"does not compile"})
        self.assertEqual(outcomes[29, "removed statement"], {"caught"})
        self.assertEqual(sum(result["totals"].values()), result["drawn"])
        self.assertEqual(result["drawn"], len(result["mutants"]))
        self.assertIn("survived: src/room/small.c:11, relation\n", done.stdout)
        self.assertIn("- if (a == 7)\n+ if (a != 7)\n", done.stdout)
        self.assertRegex(done.stdout, r"\n\d+ mutants drawn with seed 1: \d+ caught, \d+ survived \(\d+ % caught\); ")
        self.assertEqual({row["by"] for row in result["mutants"] if row["outcome"] == "caught"}, {"room.small"})
        self.assertEqual(result["folders"], [dict({"folder": "src/room"}, **result["totals"])])
        self.assert_untouched()
        self.resume_with_explanations(result)

    def resume_with_explanations(self, result):
        """Those explained are not survivors; the others that survived are tried again, and nothing else is."""
        survivors = [row for row in result["mutants"] if row["outcome"] == "survived"]
        keys = ("file", "function", "was", "now")
        explained = [dict({key: survivors[0][key] for key in keys}, why="nobody can tell")]
        self.write("tests/mutate.json", json.dumps(dict(TABLE, explained=explained)))
        try:
            done = self.mutate("--count", "1000", "--resume", "src/room/small.c")
            explained[0]["now"] = "gone"
            self.write("tests/mutate.json", json.dumps(dict(TABLE, explained=explained)))
            stale = self.mutate("--count", "1", "src/room/small.c")
        finally:
            self.write("tests/mutate.json", FILES["tests/mutate.json"])
        tried = " of %d  survived" % (len(survivors) - 1)
        self.assertEqual(done.stdout.count(tried), len(survivors) - 1, done.stdout)
        self.assertNotIn(" caught  ", done.stdout)
        self.assertIn(", %d survived" % (len(survivors) - 1), done.stdout)
        self.assertIn("; 1 explained, ", done.stdout)
        self.assertEqual(stale.stdout, "mutate: tests/mutate.json explains a mutant of src/room/small.c that is not there "
                         "any more: gone\n")

    def test_an_interrupt_tells_what_is_known(self):
        job = subprocess.Popen([os.path.join(ROOT, "scripts", "mutate"), "--count", "1000", "src/room"], cwd=self.root,
                               text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        said = ""
        with job.stdout:
            for line in job.stdout:
                said += line
                if line.startswith("  2 of "):
                    job.send_signal(signal.SIGINT)
        self.assertEqual(job.wait(), 130, said)
        self.assertRegex(said, r"; \d+ not tried\nwritten to ")
        self.assert_untouched()

    def test_tests_that_fail_anyway_are_told(self):
        self.write("tests/test_small.c", "int main(void)\n{\n    return 1;\n}\n")
        try:
            done = self.mutate("--count", "1", "src/room")
        finally:
            self.write("tests/test_small.c", TEST)
        self.assertEqual(done.returncode, 1)
        self.assertIn("mutate: a test of src/room/* fails without any mistake", done.stdout)

    def test_a_source_without_tests_of_its_own_is_told(self):
        done = self.mutate("--count", "1", "tests/test_small.c")
        self.assertEqual(done.stdout, "mutate: no tests are known for tests/test_small.c: add its room to tests/mutate.json\n")
        done = self.mutate("src/nosuch.c")
        self.assertEqual(done.stdout, "mutate: there is no src/nosuch.c\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
