"""examples/ci: the workflow and the hook are YAML of the right form, and the commands in them do what they say.

    check_ci.py HEDDLE
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import yaml

sys.dont_write_bytecode = True  # nothing is left in the source tree
from check_case import HEDDLE, PATIENCE, CheckCase  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CI = os.path.join(ROOT, "examples", "ci")
EXAMPLES = os.path.join(ROOT, "examples", "extensions")

FINE = """// heddle: check --kernel k --args "x: inout float[8]" --grid 1 --block 8
__global__ void k(float *x) { x[threadIdx.x] *= 2; }
"""


def read(name):
    with open(os.path.join(CI, name), encoding="utf-8") as file:
        return yaml.safe_load(file)


def module(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


class Ci(CheckCase):
    def setUp(self):
        super().setUp()
        os.mkdir(os.path.join(self.folder, "tools"))
        os.mkdir(os.path.join(self.folder, "kernels"))
        shutil.copy(os.path.join(CI, "check_kernels.py"), os.path.join(self.folder, "tools"))
        self.environment["PATH"] = os.path.dirname(HEDDLE) + os.pathsep + self.environment.get("PATH", os.environ["PATH"])

    def run_command(self, command, code):
        result = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=self.folder, env=self.environment,
                                timeout=PATIENCE, check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def test_the_workflow_s_check_finds_the_planted_race_and_writes_sarif(self):
        workflow = read("github.yml")
        self.assertIn("pull_request", workflow[True])  # YAML's reading of the key on
        self.assertEqual(workflow["permissions"]["security-events"], "write")
        steps = workflow["jobs"]["heddle"]["steps"]
        commands = [step["run"] for step in steps if "run" in step]
        upload = [step for step in steps if "upload-sarif" in step.get("uses", "")]
        self.assertEqual(upload[0]["with"]["sarif_file"], "heddle.sarif")
        with open(os.path.join(ROOT, "Makefile"), encoding="utf-8") as file:
            targets = re.findall(r"(?m)^([\w-]+):", file.read())
        with open(os.path.join(ROOT, "scripts", "packages"), encoding="utf-8") as file:
            groups = re.findall(r"(?m)^([\w-]+):", file.read())
        self.assertIn(re.search(r"make (\w+)", commands[0]).group(1), targets)
        self.assertLessEqual(set(re.search(r"scripts/setup (.*)", commands[0]).group(1).split()), set(groups))
        shutil.copy(os.path.join(EXAMPLES, "layernorm.cu"), os.path.join(self.folder, "kernels"))
        self.write("fine.cu", FINE)
        self.run_command("git init -q . && git add -A", 0)
        said = self.run_command(next(one for one in commands if "check_kernels.py" in one), 1)
        self.assertIn("fine.cu:1: ok", said)
        self.assertRegex(said, r"kernels/layernorm\.cu:\d+: failed\nerror: data race on shared memory gamma")
        self.assertIn("\n1 of 2 checks failed\n", said)
        with open(os.path.join(self.folder, "heddle.sarif"), encoding="utf-8") as file:
            results = json.load(file)["runs"][0]["results"]
        self.assertEqual({one["ruleId"] for one in results}, {"race"})
        self.assertEqual({one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in results},
                         {"kernels/layernorm.cu"})

    def test_the_hook_checks_the_files_it_is_given(self):
        hook = read("pre-commit-config.yaml")["repos"][0]["hooks"][0]
        self.assertRegex("kernels/a.cu", hook["files"])
        self.assertNotRegex("a.cpp", hook["files"])
        self.write("wrong.cu", "// heddle: check --kernel nosuch --args \"x = 1\"\n__global__ void k(float *x) {}\n")
        self.write("none.cu", "__global__ void k(float *x) {}\n")
        said = self.run_command(hook["entry"] + " wrong.cu none.cu", 2)
        self.assertIn("wrong.cu:1: failed\nheddle: wrong.cu: no kernel is called 'nosuch'", said)
        self.assertIn("1 of 1 check failed\n", said)
        self.assertIn("0 checks", self.run_command(hook["entry"] + " none.cu", 0))
        self.assertIn("command not found", self.run_command(hook["entry"] + " --heddle nosuch none.cu", 3))

    def test_arguments_of_the_program_stay_its_own(self):
        self.write("race.cu", "// heddle: check -- 64\n__global__ void k(int *p) { __shared__ int t[64]; t[threadIdx.x] = 1; "
                   "p[threadIdx.x] = t[63 - threadIdx.x]; }\nint main(int count, char **) { if (count != 2) return 9; int *p; "
                   "cudaMalloc(&p, 256); k<<<1, 64>>>(p); cudaDeviceSynchronize(); cudaFree(p); }\n")
        self.assertIn("error: data race", self.run_command("python3 tools/check_kernels.py --sarif s race.cu", 1))
        with open(os.path.join(self.folder, "s"), encoding="utf-8") as file:
            self.assertEqual([one["ruleId"] for one in json.load(file)["runs"][0]["results"]], ["race"])

    def test_what_cannot_be_checked_is_one_line_and_fails(self):
        script = "python3 tools/check_kernels.py"
        self.write("gone.cu", FINE)
        self.assertEqual(self.run_command("GIT_DIR=/nonexistent " + script, 2).count("\n"), 1)
        self.run_command("git init -q . && git add -A && rm gone.cu", 0)
        self.assertIn("nothing was checked", self.run_command(script, 2))
        self.assertEqual(self.run_command(script + " gone.cu", 2), "0 checks\ngone.cu: No such file or directory\n")

    def test_the_script_and_the_plugin_read_comments_alike(self):
        script = module("check_kernels", os.path.join(CI, "check_kernels.py"))
        plugin = module("heddle_pytest", os.path.join(ROOT, "python", "src", "heddle_pytest", "__init__.py"))
        count = 0
        for name in sorted(os.listdir(EXAMPLES)):
            with open(os.path.join(EXAMPLES, name), encoding="utf-8") as file:
                text = file.read()
            self.assertEqual(script.marks(text), plugin.marks(text))
            count += len(script.marks(text))
        self.assertEqual(count, 5)


if __name__ == "__main__":
    unittest.main()
