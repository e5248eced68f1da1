"""What train, eval and predict say of settings and files that are not as they should be, and what to do instead.

    advice.py path/to/heddle
"""

import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HEDDLE = os.path.abspath(sys.argv.pop(1))
NOBODY = 65534
SHORT = ["train", "--data", "synth:count=100", "--model", "mlp", "--epochs", "1"]


class Advice(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.home = self.scratch.name

    def heddle(self, *arguments, code=0, user=None, **environment):
        variables = {key: value for key, value in os.environ.items() if key not in ("HEDDLE_DATA", "HEDDLE_LOG")}
        variables.update(ASAN_OPTIONS="detect_leaks=0", HOME=self.home, **environment)
        result = subprocess.run(["heddle", *arguments], executable=HEDDLE,
                                cwd=self.home, capture_output=True, text=True, env=variables,
                                timeout=300, user=user)
        self.assertEqual(result.returncode, code, f"{arguments}: {result.stdout}{result.stderr}")
        return result

    # --- the folder of a run ------------------------------------------------------------------------------------------

    def test_a_folder_of_a_run_is_taken_for_its_best_checkpoint(self):
        self.heddle(*SHORT, "--out", "run")
        for words in (["eval"], ["predict", "--index", "0"]):
            by_file = self.heddle(*words, "run/best.safetensors", "--json")
            self.assertEqual(by_file.stderr, "")
            for folder in ("run", "run/"):
                by_folder = self.heddle(*words, folder, "--json")
                self.assertEqual(by_folder.stderr, "")
                self.assertIn(f"heddle: info: {folder} is a folder: using run/best.safetensors\n",
                              self.heddle("--log", "info", *words, folder).stderr)
                if words[0] == "predict":  # eval's JSON has its time
                    self.assertEqual(by_folder.stdout, by_file.stdout)

    def test_a_folder_without_a_best_checkpoint_is_taken_for_its_last(self):
        self.heddle(*SHORT, "--out", "run")
        os.remove(self.home + "/run/best.safetensors")
        for words in (["eval", "--device", "cpu"], ["predict", "--device", "cpu", "--index", "0"]):
            self.assertEqual(self.heddle(*words, "run").stderr,
                             "heddle: warning: run is a folder: using run/last.safetensors, because there is no "
                             "best.safetensors\n")

    def test_which_checkpoint_is_taken_is_one_line_of_the_log(self):
        self.heddle(*SHORT, "--out", "two\nlines")
        os.remove(self.home + "/two\nlines/best.safetensors")
        said = self.heddle("predict", "two\nlines", "--index", "0", "--device", "cpu").stderr
        self.assertEqual(said, "heddle: warning: two?lines is a folder: using two?lines/last.safetensors, because there "
                               "is no best.safetensors\n")
        self.assertEqual(self.heddle("--log", "error", "predict", "two\nlines", "--index", "0", "--device",
                                     "cpu").stderr, "")

    def test_other_images_than_a_network_was_trained_on_are_told(self):
        self.heddle(*SHORT, "--out", "run")
        for words in (["eval", "run"], ["predict", "run", "--count", "2"]):
            self.assertNotIn("trained on", self.heddle(*words).stdout)
            self.assertTrue(self.heddle(*words, "--data", "synth:count=50").stdout.endswith(
                "\ntrained on synth:count=100\n"))
        self.assertNotIn("trained on", self.heddle("predict", "run", "--data", "synth:count=50", "--json").stdout)

    def test_a_run_on_the_simulated_gpu_says_that_it_was_checked(self):
        run = ["train", "--device", "sim", "--model", "mlp", "--kernels", "naive", "--data", "synth:count=8", "--batch", "4",
               "--epochs", "1", "--out", "run"]
        checked = "\nevery access and launch of the kernels was checked: no errors found\n"
        if not os.path.exists(os.path.join(os.path.dirname(HEDDLE), "libheddle-sim.so")):
            self.assertIn("run `make sim`", self.heddle(*run, code=3).stderr)
            return
        self.assertIn(checked, self.heddle(*run).stdout)
        self.assertNotIn(checked, self.heddle(*run, "--resume").stdout)  # of nothing

    def test_a_folder_without_a_checkpoint_says_what_is_missing(self):
        os.mkdir(self.home + "/empty")
        for words in (["eval"], ["predict", "--index", "0"]):
            self.assertEqual(self.heddle(*words, "empty", code=2).stderr,
                             "heddle: empty has neither best.safetensors nor last.safetensors: give a checkpoint or "
                             "the folder of a run\n")

    def test_without_a_run_there_is_nothing_to_resume(self):
        os.mkdir(self.home + "/empty")
        for folder in ("nosuch", "empty"):
            self.assertEqual(self.heddle("train", "--out", folder, "--resume", code=2).stderr,
                             f"heddle: there is no run to resume in {folder}; leave out --resume to start one\n")
        self.assertEqual(os.listdir(self.home), ["empty"])

    def unreadable_run(self):
        """A run in a folder that one may not look into, and who may not."""
        self.heddle(*SHORT, "--out", "run")
        user = NOBODY if os.geteuid() == 0 else None
        try:
            if user and subprocess.run(["test", "-x", HEDDLE], user=user).returncode != 0:
                self.skipTest("only root can run heddle where it is")
        except OSError:
            self.skipTest("there is no other user here")
        os.chmod(self.home, 0o755)
        os.chmod(self.home + "/run", 0)
        self.addCleanup(os.chmod, self.home + "/run", 0o700)
        return user

    def test_a_folder_that_cannot_be_looked_into_is_not_said_to_hold_no_run(self):
        user = self.unreadable_run()
        for words in ([*SHORT, "--out", "run"], [*SHORT, "--out", "run", "--overwrite"],
                      ["train", "--out", "run", "--resume"], ["eval", "run"], ["predict", "run", "--index", "0"]):
            refused = self.heddle(*words, code=1, user=user)
            self.assertEqual(refused.stdout, "")
            self.assertEqual(refused.stderr,
                             "heddle: run: cannot see whether there is a run in it: Permission denied\n")

    def test_a_file_is_no_folder_of_a_run_and_refused_before_anything_is_said_of_it(self):
        with open(self.home + "/file", "w", encoding="utf-8"):
            pass
        for options in ([], ["--resume"], ["--overwrite"]):
            for out, said in (("file", "file is a file, and a run has a folder"),
                              ("file/run", "file/run: one of the folders above it is a file")):
                refused = self.heddle(*SHORT, *options, "--out", out, code=2)
                self.assertEqual(refused.stdout, "")
                self.assertEqual(refused.stderr, f"heddle: {said}: choose another name (--out)\n")

    def test_a_run_without_its_last_checkpoint_is_told_of_the_best(self):
        self.heddle(*SHORT, "--out", "run")
        os.remove(self.home + "/run/last.safetensors")
        self.assertIn("best.safetensors beside it is whole, as of the end of epoch 1: use that, or copy it to ",
                      self.heddle("train", "--out", "run", "--resume", code=2).stderr)

    def test_a_taken_folder_is_refused_before_anything_is_said_of_the_run(self):
        self.heddle(*SHORT, "--out", "run")
        refused = self.heddle(*SHORT, "--out", "run", code=2)
        self.assertEqual(refused.stdout, "")
        self.assertEqual(refused.stderr, "heddle: run already holds a run; resume it (--resume), choose another folder "
                                         "(--out) or replace it (--overwrite)\n")

    def test_a_folder_that_is_trained_in_is_refused_before_anything_is_said_of_the_run(self):
        first = subprocess.Popen([HEDDLE, *SHORT[:-1], "1000000", "--out", "run", "--quiet"], cwd=self.home,
                                 stderr=subprocess.DEVNULL)
        self.addCleanup(first.wait, timeout=300)
        self.addCleanup(first.kill)
        deadline = time.monotonic() + 60
        while not os.path.exists(self.home + "/run/last.safetensors"):
            self.assertIsNone(first.poll())
            self.assertLess(time.monotonic(), deadline, "it has not saved its start")
            time.sleep(0.02)
        for options in ([], ["--overwrite"], ["--resume"]):
            refused = self.heddle("train", "--data", "synth:count=100", *options, "--out", "run", code=2)
            self.assertEqual(refused.stdout, "")
            self.assertEqual(refused.stderr, "heddle: another run is training in run now; wait for it or choose another "
                                             "folder\n")

    # --- damaged checkpoints ------------------------------------------------------------------------------------------

    def assert_damage_is_told(self, part, advice):
        """By all who open it, in one line."""
        for words in (["eval", "run/last.safetensors"], ["predict", "run/last.safetensors", "--index", "0"],
                      ["train", "--out", "run", "--resume", "--epochs", "2"]):
            self.assertRegex(self.heddle(*words, code=1).stderr,
                             rf"^heddle: run/last\.safetensors: {part}.*it is corrupt, or another program changed it"
                             rf"( \(.*\))?; use another checkpoint{advice}.*\n$")

    def test_a_damaged_checkpoint_is_not_used(self):
        self.heddle(*SHORT, "--quiet", "--out", "run")
        with open(self.home + "/run/last.safetensors", "rb") as file:
            whole = file.read()
        remove = ", or remove heddle\\.checksums, header_crc32 and tensors_crc32 from its metadata"
        header, data = "its header does not match its checksum: ", "its data does not match its checksum: "
        for part, advice, old, new in (
                (header, remove, b'\\"learning_rate\\":0.05,', b'\\"learning_rate\\":0.85,'),
                (header, remove, b'\\"epsilon\\":1e-08', b'\\"epsilon\\":1e-01'),
                (header, remove, b'\\"channels\\":', b'\\"ciannels\\":'),
                (header, remove, b'"tensors_crc32":', b'"tensors_crc33":'),
                (header, remove, b'"header_crc32":', b'"header_crc33":'),
                (header, remove, b'"heddle.checksums":', b'"heddle.checksumz":'),
                ("line 1, column ", "", b'{"__metadata__":', b'{"__metadata__"z'),
                ("says its header has ", "", whole[:8], whole[:7] + b"\x01"),
                (data, remove, whole[-1000:], bytes([whole[-1000] ^ 1]) + whole[-999:])):
            with self.subTest(new[:30]):
                self.assertEqual(whole.count(old), 1)
                with open(self.home + "/run/last.safetensors", "wb") as file:
                    file.write(whole.replace(old, new))
                self.assert_damage_is_told(part, advice)

    def test_a_checkpoint_is_a_file_that_others_read(self):
        self.heddle(*SHORT, "--quiet", "--out", "run")
        with open(self.home + "/run/last.safetensors", "rb") as file:
            content = file.read()
        length = int.from_bytes(content[:8], "little")
        header = json.loads(content[8:8 + length])
        metadata = header.pop("__metadata__")
        self.assertTrue(all(isinstance(value, str) for value in metadata.values()))
        self.assertEqual(metadata["heddle.checksums"], "header_crc32 tensors_crc32")
        for name in metadata["heddle.checksums"].split():
            self.assertRegex(metadata[name], "^[0-9a-f]{8}$")
        ends = [0]
        for tensor in sorted(header.values(), key=lambda tensor: tensor["data_offsets"]):
            begin, end = tensor["data_offsets"]
            self.assertEqual((begin, end), (ends[-1], ends[-1] + 4 * math.prod(tensor["shape"])))
            ends.append(end)
        self.assertEqual(8 + length + ends[-1], len(content))
        # As another program writes it again: the same things in another order.
        turned = dict(reversed(header.items()), __metadata__=dict(reversed(metadata.items())))
        text = json.dumps(turned, indent=1).encode()
        with open(self.home + "/again.safetensors", "wb") as file:
            file.write(len(text).to_bytes(8, "little") + text + content[8 + length:])
        words = ["predict", "--index", "0", "--json"]
        self.assertEqual(self.heddle(*words, "again.safetensors").stdout,
                         self.heddle(*words, "run/last.safetensors").stdout)

    @unittest.skipUnless(importlib.util.find_spec("safetensors") and importlib.util.find_spec("numpy"),
                         "the package safetensors is not here")
    def test_the_package_safetensors_reads_a_checkpoint_and_writes_it_again(self):
        from safetensors import safe_open
        from safetensors.numpy import save_file
        self.heddle(*SHORT, "--quiet", "--out", "run")
        with safe_open(self.home + "/run/last.safetensors", "numpy") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}
            save_file(tensors, self.home + "/again.safetensors", file.metadata())
        self.assertIn("linear1.weight", tensors)
        words = ["predict", "--index", "0", "--json"]
        self.assertEqual(self.heddle(*words, "again.safetensors").stdout,
                         self.heddle(*words, "run/last.safetensors").stdout)

    # --- settings that can hardly be meant ----------------------------------------------------------------------------

    def test_a_batch_of_more_images_than_there_are_is_warned_of(self):
        said = self.heddle(*SHORT, "--batch", "101").stderr
        self.assertEqual(said, "heddle: warning: --batch 101 is more than the 100 training images: an epoch is a "
                               "single step, which learns little\n")
        self.assertEqual(self.heddle(*SHORT, "--batch", "100").stderr, "")

    def test_more_threads_than_cores_are_warned_of(self):
        said = self.heddle(*SHORT, "--device", "cpu", "--threads", "1024").stderr
        self.assertRegex(said, r"^heddle: warning: --threads 1024 is more than the \d+ available cores?; one thread "
                               r"per core is faster\n$")
        self.assertEqual(self.heddle(*SHORT, "--threads", "1").stderr, "")

    def test_a_long_run_on_the_simulated_gpu_is_warned_of(self):
        if not os.path.exists(os.path.join(os.path.dirname(HEDDLE), "libheddle-sim.so")):
            self.skipTest("built without the simulated GPU")
        run = ["train", "--device", "sim", "--epochs", "2", "--out", "run", "--data"]
        process = subprocess.Popen([HEDDLE, *run, "synth:count=601"], cwd=self.home, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.assertIn("model", process.stdout.readline())
        process.kill()
        self.assertEqual(process.communicate(timeout=300)[1],
                         "heddle: warning: 601 images in 2 epochs may take 10 min 1 s on the simulated GPU, at about "
                         "2 images per second; --data synth:count=64 is a short run\n")
        shutil.rmtree(self.home + "/run", ignore_errors=True)
        self.assertEqual(self.heddle(*run, "synth:count=4", "--model", "mlp", "--batch", "4").stderr, "")

    def test_a_fraction_is_not_a_percentage(self):
        for until in ("2", "99"):
            self.assertEqual(self.heddle(*SHORT, "--until", until, code=2).stderr,
                             f"heddle train: --until {until} is out of range: 0 to 1 (a fraction: 99 % is 0.99)\n")

    # --- what is left after it diverged -------------------------------------------------------------------------------

    def test_a_run_that_diverges_at_once_has_only_its_start(self):
        said = self.heddle(*SHORT, "--lr", "1e5", "--out", "run", code=1).stderr
        self.assertTrue(said.endswith("; the last checkpoint is from before the first step\n"), said)
        said = self.heddle(*SHORT, "--lr", "1e5", "--out", "run", "--overwrite", "--save-every", "1e-9", code=1).stderr
        self.assertTrue(said.endswith("; the last checkpoint is from before\n"), said)

    def test_a_run_that_diverges_before_its_first_checkpoint_replaces_nothing(self):
        self.heddle(*SHORT, "--out", "run")

        def content():
            return {name: open(f"{self.home}/run/{name}", "rb").read() for name in os.listdir(self.home + "/run")}
        before = content()
        said = self.heddle(*SHORT, "--lr", "1e5", "--out", "run", "--overwrite", code=1).stderr
        self.assertTrue(said.endswith("; the run that it was to replace is still there\n"), said)
        self.assertEqual(content(), before)
        self.heddle(*SHORT, "--seed", "2", "--out", "run", "--overwrite")
        self.assertEqual(set(content()), set(before))
        self.assertNotEqual(content()["last.safetensors"], before["last.safetensors"])

    # --- a GPU that is not here ---------------------------------------------------------------------------------------

    def test_a_driver_that_is_not_there_is_not_called_too_old(self):
        if not os.path.exists(os.path.join(os.path.dirname(HEDDLE), "libheddle-cuda.so")):
            self.skipTest("built without CUDA")
        if os.path.exists("/proc/driver/nvidia/version"):
            self.skipTest("there is a driver")
        self.assertEqual(self.heddle(*SHORT, "--device", "cuda", code=3).stderr,
                         "heddle: no CUDA device here (no NVIDIA driver is loaded); use cpu instead, or sim for "
                         "kernels\n")
        self.assertEqual(self.heddle("bench", "train", "--device", "cuda", code=3).stderr,
                         "heddle: no CUDA device here (no NVIDIA driver is loaded); use --device cpu\n")

    def test_without_a_gpu_each_job_is_told_what_it_can_do(self):
        kernel = self.home + "/mine.cu"
        with open(kernel, "w", encoding="utf-8") as file:
            file.write("__global__ void one(float *c) { c[0] = 1; }\n"
                       "void matmul(const float *a, const float *b, float *c, int m, int n, int k)\n"
                       "{\n    one<<<1, 1>>>(c);\n}\n")
        told = (
            (["train"], "use cpu instead, or sim for kernels"),
            (["bench", "train"], "use --device cpu"),  # which has nothing to measure on sim
            (["bench", "infer"], "use --device cpu"),
            (["bench", "train", "--gradients", "step.safetensors"], "use --device cpu or --device sim"),
            (["bench", "matmul"], "--device cpu measures the CPU's rungs, and --device sim checks the GPU's (no "
                                  "timings)"),
            (["bench", "matmul/01_naive"], "--device sim checks this rung (no timings)"),
            (["bench", "matmul/cpu_naive"], "this rung runs on cpu: use --device cpu"),
            (["bench", "matmul/cublas"], None),
            (["bench", kernel, "--op", "matmul"], f"`heddle check {kernel} --op matmul` checks it without a GPU"),
            (["bench", "out-of-core"], "--device sim checks its rungs (no timings)"),
        )
        for words, advice in told:
            said = self.heddle(*words, "--device", "cuda", code=3, HEDDLE_MODULES=self.home).stderr
            self.assertEqual(said, f"heddle: no cuda device: HEDDLE_MODULES is {self.home}, where there is no "
                                   f"libheddle-cuda.so{'; ' + advice if advice else ''}\n")

    def test_without_the_simulated_gpu_there_is_the_cpu(self):
        missing = f"heddle: no sim device: HEDDLE_MODULES is {self.home}, where there is no libheddle-sim.so"
        for words, advice in ((["train"], "; use cpu instead"), (["bench", "matmul"], "")):
            said = self.heddle(*words, "--device", "sim", code=3, HEDDLE_MODULES=self.home).stderr
            self.assertEqual(said, missing + advice + "\n")

    # --- files that check does not take -------------------------------------------------------------------------------

    def refused_by_check(self, name, content):
        with open(os.path.join(self.home, name), "wb") as file:
            file.write(content)
        said = self.heddle("check", name, code=2).stderr
        self.assertEqual(said.count("\n"), 1)
        return said

    def test_what_is_no_cuda_source_is_told_so(self):
        for content, said in ((b"", "the file is empty"), (b" \n\n", "the file is empty"),
                              (b"dear diary\n", "this is not CUDA source"), (b"\x7fELF\0\0{", "this is not text")):
            with self.subTest(content):
                self.assertIn(f"odd.cu: {said}", self.refused_by_check("odd.cu", content))
                self.assertIn("give it a .cu file", self.refused_by_check("odd.cu", content))

    def test_a_source_with_another_ending_is_refused(self):
        for name in ("add.txt", "add", "add.h", "add.o"):
            with self.subTest(name):
                self.assertEqual(self.refused_by_check(name, b"int main() { return 0; }\n"),
                                 f"heddle: {name}: neither an object nor, by its ending, a source file; "
                                 "CUDA source ends in .cu\n")


if __name__ == "__main__":
    unittest.main()
