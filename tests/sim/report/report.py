"""What the simulator's report says of a program whose findings are known line by line.

    report.py path/to/archive [C++ compiler]

The archive is the report and fakes.c; the program is compiled here, as the user's are on the user's machine.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

ARCHIVE = os.path.abspath(sys.argv.pop(1))
COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else "c++"
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
SOURCE = os.path.join(HERE, "program.cpp")
BUILT = tempfile.TemporaryDirectory()
PROGRAM = os.path.join(BUILT.name, "program")


def setUpModule():
    subprocess.run([COMPILER, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-gdwarf-4", "-g1", "-O2",
                    *("-I" + os.path.join(ROOT, "src", "sim", *part) for part in ([], ["include"])),
                    SOURCE, ARCHIVE, "-o", PROGRAM, "-lpthread"], check=True, timeout=120)


def tearDownModule():
    BUILT.cleanup()


def line_of(mark):
    with open(SOURCE, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            if text.rstrip().endswith("// line: " + mark):
                return number
    raise KeyError(mark)


class Report(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.scratch.name, "report.json")

    def tearDown(self):
        self.scratch.cleanup()

    def start(self, *arguments, code=0, **environment):
        variables = {key: value for key, value in os.environ.items() if not key.startswith("SIM_")}
        variables.update(environment)
        run = subprocess.run([PROGRAM, *arguments], env=variables, capture_output=True, check=False, timeout=20)
        self.output = run.stdout.decode()
        self.errors = run.stderr.decode("latin-1")
        self.assertEqual(run.returncode, code, self.errors)

    def report(self, *arguments, **environment):
        self.start(*arguments, SIM_REPORT=self.path, **environment)
        with open(self.path, encoding="utf-8") as file:
            self.assertEqual(os.listdir(self.scratch.name).count("report.json"), 1)
            return json.load(file)

    def test_equal_findings_are_one_with_the_first_block_and_thread_as_example(self):
        findings = self.report("dedupe")["findings"]
        self.assertEqual(len(findings), 1)
        self.assertEqual(findings[0]["count"], 4)
        self.assertEqual(findings[0]["kernel"], "mm<1>")
        places = findings[0]["places"]
        self.assertEqual([place["block"] for place in places], [[0, 0, 0]] * 2)
        self.assertEqual(sorted(place["thread"][0] for place in places), [7, 8])
        self.assertEqual({place["role"]: place["line"] for place in places},
                         {"write": line_of("write"), "read": line_of("read")})
        self.assertEqual(places[0]["file"], SOURCE)
        self.assertEqual(places[0]["function"], "mm<1>")

    def test_a_finding_names_the_first_part_of_the_program_that_has_it_and_its_example_is_from_there(self):
        second, first = sorted(self.report("parts")["findings"], key=lambda finding: finding["count"])
        self.assertEqual((first["kernel"], first["part"], first["count"]), ("mm<1>", "the first", 4))
        self.assertEqual((first["places"][0]["block"], first["places"][0]["thread"]), ([2, 0, 0], [3, 0, 0]))
        self.assertEqual((second["kind"], second["part"]), ("uninitialised", "the second"))
        self.assertNotIn("part", self.report("ways")["findings"][0])

    def test_errors_come_first_then_the_graver_kind_then_the_line(self):
        findings = self.report("rank")["findings"]
        self.assertEqual([(finding["tier"], finding["kind"]) for finding in findings],
                         [("error", "out-of-bounds"), ("error", "race"), ("error", "race"), ("error", "leak"),
                          ("warning", "out-of-bounds"), ("warning", "race")])
        self.assertEqual([finding["places"][0]["line"] for finding in findings[1:3]],
                         [line_of("rank second"), line_of("rank third")])

    def test_strict_makes_errors_of_warnings(self):
        tiers = {finding["tier"] for finding in self.report("rank", SIM_STRICT="1")["findings"]}
        self.assertEqual(tiers, {"error"})

    def test_allocations_have_the_call_that_made_them(self):
        findings = self.report("names")["findings"]
        memory = [finding["memory"] for finding in findings]
        self.assertEqual([part["name"] for part in memory], [""] * 6)  # the source has it
        allocated = memory[0]["allocated"]
        self.assertEqual((allocated["file"], allocated["line"], allocated["call"]),
                         (SOURCE, line_of("d_c"), "cudaMalloc"))
        self.assertGreater(allocated["offset"], 0)
        self.assertEqual((memory[0]["bytes"], memory[0]["offset"], memory[0]["size"]), (400, 400, 4))
        self.assertTrue(memory[0]["live"])
        self.assertFalse(memory[1]["live"])
        self.assertEqual(memory[1]["freed"]["line"], line_of("free d_c"))

    def test_variables_are_found_in_every_space(self):
        findings = self.report("variables")["findings"]
        found = {(part["memory"]["space"], part["memory"]["name"], part["memory"]["bytes"], part["memory"]["offset"])
                 for part in findings if part["memory"]["name"] or part["memory"]["dynamic"]}
        self.assertEqual(found, {("shared", "local", 16, 4), ("shared", "corner", 4, 2),
                                 ("shared", "file_tile", 64, 60), ("shared", "", 64, 68),
                                 ("device variable", "device_table", 32, 8),
                                 ("device variable", "counter", 8, 4)})
        self.assertIn("host", {part["memory"]["space"] for part in findings})

    def test_shared_variables_are_the_programs_and_not_the_simulators(self):
        self.report("variables")
        names = sorted(re.findall(r"shared (\w+) \d+", self.output))
        self.assertEqual(names, ["corner", "file_tile", "local", "tile", "tile"])
        self.assertIn("at 1", self.output)

    def test_a_file_suppresses(self):
        rules = os.path.join(self.scratch.name, "rules")
        with open(rules, "w", encoding="utf-8") as file:
            file.write(f"# ours\nuninit* program.cpp:{line_of('in file')}\n\n* kernel:legacy_*  # old\n"
                       "leak report/*.cpp\nrace report/*\nrace elsewhere.cpp\ntrap program.cpp:1\n")
        report = self.report("suppress", SIM_SUPPRESS=rules)
        self.assertEqual([finding["places"][0]["line"] for finding in report["findings"]], [line_of("left")])
        self.assertEqual(report["suppressed"], {"total": 5, "race": 2, "leak": 1, "uninitialised": 1, "trap": 1})

    def test_copies_of_one_barrier_are_one_barrier(self):
        findings = self.report("barriers")["findings"]
        self.assertEqual([finding["message"] for finding in findings], ["two barriers"])

    def test_inlined_places_keep_their_callers(self):
        place = self.report("inlining")["findings"][0]["places"][0]
        self.assertEqual(place["line"], line_of("inlined"))
        self.assertEqual([frame["line"] for frame in place["stack"]], [line_of("inlined"), line_of("caller")])
        self.assertEqual(place["stack"][1]["function"], "kernel_with_helper")

    def test_lines_in_stand_in_headers_are_the_users(self):
        place = self.report("headers")["findings"][0]["places"][0]
        self.assertEqual((place["file"], place["line"]), (SOURCE, line_of("intrinsic")))
        self.assertEqual({frame["file"] for frame in place["stack"]}, {SOURCE})

    def test_findings_of_several_threads_are_all_counted(self):
        self.assertEqual([finding["count"] for finding in self.report("threads")["findings"]], [2000])

    def test_counters_of_one_line_are_added_up(self):
        report = self.report("inlining")
        self.assertEqual(len(report["kernels"]), 1)
        lines = {line["line"]: line for line in report["kernels"][0]["lines"]}
        self.assertEqual(sorted(lines), [line_of("inlined"), line_of("counted")])
        counted = lines[line_of("counted")]
        self.assertEqual((counted["requests"], counted["lanes"], counted["units"], counted["ideal"]), (2, 64, 36, 8))
        self.assertEqual(counted["worst"]["units"], 32)
        self.assertEqual(len(counted["worst"]["offsets"]), 32)
        self.assertEqual(report["totals"]["launches"], 1)
        self.assertEqual(report["totals"]["algorithms"], 3)
        self.assertEqual(report["copies"], ["000000000000001f", "0000000000abcdef"])
        self.assertTrue(report["copied_into"][0].endswith(" 4096 number"))
        self.assertTrue(report["copied_into"][1].endswith(" 8192"))

    def test_branches_of_one_line_are_added_up(self):
        branches = self.report("inlining")["kernels"][0]["branches"]
        self.assertEqual([(line["line"], line["executions"], line["divergent"]) for line in branches],
                         [(line_of("inlined"), 10, 0), (line_of("counted"), 20, 3)])

    def test_two_stores_of_one_line_are_one_finding_that_asks_for_the_values_of_both(self):
        finding, = self.report("values")["findings"]
        self.assertEqual(finding["count"], 2)
        self.assertEqual(finding["places"][0]["line"], line_of("two stores"))
        self.assertEqual(len(set(finding["values"])), 2)

    def test_a_store_of_one_value_settles_itself_alone(self):
        first, second = self.report("settled")["findings"]
        self.assertEqual(first["places"][0]["line"], line_of("a store in question, one of one value"))
        self.assertEqual((len(first["values"]), len(first["settled"])), (1, 1))
        self.assertNotEqual(first["values"], first["settled"])
        self.assertEqual(first["tier"], "error")
        self.assertEqual(second["places"][0]["line"], line_of("and one that is wrong for certain"))
        self.assertEqual((second["tier"], second["count"]), ("error", 3))
        self.assertFalse({"values", "settled"} & set(second))  # nothing is left to ask

    def test_calls_of_one_line_are_told_apart_by_their_names(self):
        findings = self.report("calls")["findings"]
        self.assertEqual({finding["places"][0]["line"] for finding in findings}, {line_of("three calls")})
        self.assertEqual(sorted((finding["message"].split()[0], finding["count"]) for finding in findings),
                         [("cudaFree", 2), ("cudaFreeHost", 1)])

    def test_two_places_that_race_in_two_ways_are_one_finding_that_tells_of_both(self):
        finding, = self.report("ways")["findings"]
        self.assertEqual((finding["count"], finding["note"]), (2, "also seen as write and write"))

    def test_odd_characters_survive(self):
        message = self.report("rank")["findings"][0]["message"]
        self.assertEqual(message, "something \"quoted\"\n\x01 and \xff odd")

    def test_without_addr2line_places_are_functions(self):
        environment = {"PATH": "/nonexistent", "ADDR2LINE": "/nonexistent/addr2line"}
        place = self.report("dedupe", **environment)["findings"][0]["places"][0]
        self.assertEqual((place["file"], place["line"]), ("", 0))
        self.assertRegex(place["function"], r"mm.*\+0x")

    def test_a_crash_is_reported_once(self):
        self.start("crash", SIM_REPORT=self.path, code=139)
        with open(self.path, encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(report["status"], "crashed: SIGSEGV")
        self.assertEqual([finding["kind"] for finding in report["findings"]], ["fault", "race"])
        self.assertEqual(report["findings"][0]["places"][0]["line"], line_of("crash"))
        self.assertNotIn("thread", report["findings"][0]["places"][0])

    def test_a_child_process_writes_nothing(self):
        self.assertEqual(len(self.report("forks")["findings"]), 1)
        self.assertIn("parent -1", self.output)

    def test_text_names_lines_and_memory(self):
        self.start("names")
        self.assertIn(f"program.cpp:{line_of('use d_c')}", self.errors)
        self.assertIn("an allocation, 400 bytes, cudaMalloc at program.cpp", self.errors)
        self.assertIn("4 bytes past its end", self.errors)
        self.assertIn("sim: 6 errors, 0 warnings", self.errors)

    def test_the_exit_status_changes_only_when_asked(self):
        self.start("dedupe", "7", code=7)
        self.start("dedupe", "0", code=0)
        self.start("dedupe", "0", code=1, SIM_EXIT="1")
        self.start("nothing", "0", code=0, SIM_EXIT="1")
        self.assertEqual(self.errors, "")


if __name__ == "__main__":
    unittest.main()
