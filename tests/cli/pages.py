"""The manual page and the completions name every command and option, and the shells and man take them.

    pages.py path/to/heddle
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HEDDLE = os.path.abspath(sys.argv.pop(1))
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"  # commands.py looks for leaks


def heddle(*arguments):
    return subprocess.run([HEDDLE, *arguments], capture_output=True, text=True, check=True, timeout=60).stdout


def commands():
    """Every command and action with its options, as help lists them."""
    found = {}
    waiting = re.findall(r"(?m)^  (\w+) ", heddle("help").split("Commands:")[1].split("\n\n")[0])
    for name in waiting:
        page = heddle("help", *name.split())
        found[name] = re.findall(r"(?m)^  (?:-\w, )?--([\w-]+)", page.split("\nOptions:")[1])
        if "Actions:" in page:
            waiting += re.findall(r"(?m)^  (\w+ \w+) ", page.split("Actions:")[1].split("\n\n")[0])
    return found


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.commands = commands()

    def check_with(self, program, arguments, text):
        path = shutil.which(program)
        if path is None:
            return
        with tempfile.NamedTemporaryFile("w", suffix=".1") as file:
            file.write(text)
            file.flush()
            result = subprocess.run([path, *arguments, file.name], capture_output=True, text=True, timeout=60)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_all_commands_are_found(self):
        self.assertGreaterEqual(len(self.commands), 12)
        self.assertIn("data show", self.commands)
        self.assertIn("count", self.commands["data show"])

    def test_the_manual_page_names_every_option(self):
        page = heddle("help", "--manual")
        for command, options in self.commands.items():
            self.assertIn(f".SS heddle {command}", page)
            for option in options:
                self.assertIn("\\-\\-" + option.replace("-", "\\-"), page)
        for line in page.splitlines():
            self.assertNotRegex(line, r"^'", "troff would read it as a request")
        self.check_with("groff", ["-man", "-Tutf8", "-ww", "-z"], page)

    def test_bash_completes_every_option(self):
        script = heddle("help", "--completion", "bash")
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(script)
            file.flush()

            def complete(*words):
                quoted = " ".join(f"'{word}'" for word in words)
                program = f". {file.name}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _heddle; echo ${{COMPREPLY[@]}}"
                return subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True).stdout.split()

            for command, options in self.commands.items():
                offered = complete("heddle", *command.split(), "--")
                self.assertEqual(sorted(offered), sorted("--" + option for option in options), command)
            names = {command.split()[0] for command in self.commands}
            self.assertEqual(set(complete("heddle", "")), names | {"--help", "--version"})
            self.assertEqual(complete("heddle", "da"), ["data"])
            self.assertEqual(complete("heddle", "data", "sh"), ["show"])
            self.assertEqual(complete("heddle", "data", "show", "--split", ""), ["train", "test"])
            self.assertEqual(complete("heddle", "data", "show", "--png", ""), [])

    def test_bash_completes_values(self):
        operators = {name for one in json.loads(heddle("ops", "--json"))["operators"]
                     for name in (one["name"], one["ladder_name"])}
        datasets = {one["name"] for one in json.loads(heddle("data", "list", "--json"))["datasets"]}
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "script")
            with open(script, "w", encoding="utf-8") as file:
                file.write(heddle("help", "--completion", "bash"))
            os.mkdir(os.path.join(folder, "own-images"))

            def complete(*words):
                quoted = " ".join(f"'{word}'" for word in words)
                program = f". {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _heddle; echo ${{COMPREPLY[@]}}"
                return set(subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True,
                                          cwd=folder).stdout.split())

            for command in ("train", "eval", "predict", "bench", "pipeline"):
                self.assertEqual(complete("heddle", command, "--device", ""), {"cpu", "cuda", "sim"})
            for command in ("train", "eval", "predict", "bench"):
                self.assertEqual(complete("heddle", command, "--data", ""), datasets | {"own-images", "script"})
                self.assertLessEqual({"fp32", "bf16"}, complete("heddle", command, "--precision", ""))
                self.assertLessEqual({"naive", "fused"}, complete("heddle", command, "--kernels", ""))
            self.assertEqual(complete("heddle", "train", "--data", "ow"), {"own-images"})
            models = {"cnn", "mlp", "lenet", "vgg", "resnet", "mlp3", "wide-cnn"}
            self.assertLessEqual(models, complete("heddle", "train", "--model", ""))
            self.assertLessEqual({"h200", "a100", "rtx4090"}, complete("heddle", "check", "--gpu", ""))
            self.assertEqual(complete("heddle", "check", "--op", ""), operators)
            self.assertEqual(complete("heddle", "check", "--op", "=", "transp"), {"transpose"})
            self.assertEqual(complete("heddle", "train", "--device", "="), {"cpu", "cuda", "sim"})
            self.assertEqual(complete("heddle", "bench", "--kernels", "naive,fu"), {"naive,fused"})
            self.assertEqual(complete("heddle", "bench", ""),
                             operators | {"train", "infer", "out-of-core", "collectives"})
            self.assertEqual(complete("heddle", "ops", "matmul_fo"), {"matmul_forward"})
            self.assertEqual(complete("heddle", "data", "get", ""), datasets)
            self.assertEqual(complete("heddle", "devices", "s"), {"sim"})
            self.assertEqual(complete("heddle", "help", "da"), {"data"})
            self.assertIn("--json", complete("heddle", "train", "--j"))
            self.assertEqual(complete("heddle", "data", "list", "--json", "--f"), {"--folder"})

    def test_zsh_and_fish_name_every_option(self):
        zsh = heddle("help", "--completion", "zsh")
        fish = heddle("help", "--completion", "fish")
        self.assertTrue(zsh.startswith("#compdef heddle\n"))
        for command, options in self.commands.items():
            self.assertRegex(fish, rf"-a {command.split()[-1]} ")
            for option in options:
                if command != "data":
                    self.assertIn(f"--{option}", zsh)
                    self.assertIn(f" -l {option} ", fish)
        for option in ("--data", "--device", "--gpu", "--op", "--kernels", "--precision"):
            self.assertIn(f":_heddle_values_{option[2:]}'", zsh)
            self.assertRegex(fish, rf"-l {option[2:]} (-x|-r -F) -a '\w")
        self.check_with("zsh", ["-n"], zsh)
        self.check_with("fish", ["--no-execute"], fish)


if __name__ == "__main__":
    unittest.main()
