"""`heddle bench` of ladders as a person uses it: exit codes, the JSON document, the page, mistakes in the command line.

    bench.py path/to/heddle [folder of a module with wrong rungs]
"""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
import unittest
from html.parser import HTMLParser

sys.dont_write_bytecode = True  # nothing is left in the source tree
from bench_case import HEDDLE, BenchCase  # noqa: E402

WRONG = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else None
FIGURES = ["microseconds", "low", "high", "back_to_back", "gflops", "gbytes_per_second"]


class Bench(BenchCase):
    def cpu(self, *arguments, **named):
        return self.document("--device", "cpu", "--seconds", "0.01", *arguments, **named)

    # --- figures ------------------------------------------------------------------------------------------------------

    def test_a_ladder_on_the_cpu_has_figures_for_every_rung(self):
        document = self.cpu("add_forward", "--shape", "n=1000; n=77", "--shape", "n=5", "--seed",
                            "18446744073709551615")
        self.assertEqual({result["shape"] for result in document["results"]}, {"n=1000", "n=77", "n=5"})
        self.assertEqual(document["seed"], "18446744073709551615")
        self.assertTrue(document["complete"])
        self.assertGreater(document["copy_bandwidth"], 0)
        for key in ("machine", "device_name", "driver", "runtime", "clocks", "version", "date"):
            self.assertIn(key, document)
        for result in document["results"]:
            self.assertEqual((result["status"], result["checked"], result["dtype"]), ("right", True, "f32"))
            for name in FIGURES:
                self.assertGreater(result[name], 0, name)
            self.assertLessEqual(result["low"], result["microseconds"])
            self.assertLessEqual(result["microseconds"], result["high"])
            self.assertLessEqual(result["error_share"], 1)

    def test_a_sweep_measures_a_range_of_shapes(self):
        page = os.path.join(self.scratch.name, "sweep.html")
        result = self.bench("transpose", "--device", "cpu", "--seconds", "0.001", "--sweep", "rows,cols=8:64:x2", "--html",
                            page, "--json=" + self.file)
        self.assertRegex(result.stdout, r"\ntranspose  rows,cols=8:64:x2\nrows = cols  type  rung ")
        self.assertEqual(re.findall(r"\n +(\d+) +f32 +cpu_\w+ ", result.stdout), ["8", "16", "32", "64"])
        with open(self.file, encoding="utf-8") as file:
            document = json.load(file)
        self.assertEqual(document["sweep"], "rows,cols=8:64:x2")
        self.assertEqual(list(dict.fromkeys(row["shape"] for row in document["results"])),
                         ["rows=%d cols=%d" % (size, size) for size in (8, 16, 32, 64)])
        with open(page, encoding="utf-8") as file:
            picture = file.read().split('class="sweep"')
        self.assertEqual(len(picture), 3, "a plot of the roofline and one of the time")
        self.assertGreaterEqual(picture[2].count("<circle"), 4)
        shapes = self.cpu("conv2d_forward/cpu_naive", "--shape", "n=1 c=2 h=5 w=5 k=3", "--sweep", "padding=1:3:+1")
        self.assertEqual(list(dict.fromkeys(row["shape"] for row in shapes["results"])),
                         ["n=1 c=2 h=5 w=5 k=3" + padding for padding in ("", " padding=2", " padding=3")])

    def test_a_sweep_that_is_none_is_refused(self):
        for sweep in ("m", "m=8", "m=8:", "=1:8", "m=0:8", "m=1:8:x1", "m=1:8:+0", "m=1:8:2", "m=1:8x2", "m,=1:8", "m=1:2e3",
                      "m n=1:8", "m=-1:8"):
            self.assert_refused(["matmul_forward", "--device", "cpu", "--sweep", sweep],
                                "heddle: --sweep '%s' is not a range: give FIELD=FROM:TO, such as m=128:8192:x2, "
                                "m=64:1024:+64, or m,n,k=256:4096 for fields that are equal" % sweep)
        for sweep, said in (("m=9:8", "--sweep 'm=9:8': 9 is larger than 8; FROM comes first"),
                            ("m=1:65:+1", "--sweep 'm=1:65:+1': more than 64 shapes; take larger steps"),
                            ("q=1:8", "matmul_forward: a shape has no 'q'")):
            self.assert_refused(["matmul_forward", "--device", "cpu", "--sweep", sweep], "heddle: " + said)
        self.assert_refused(["matmul", "--shape", "m=1 n=1 k=1; m=2 n=2 k=2", "--sweep", "m=1:2"],
                            "heddle: --sweep changes one shape: give one --shape")
        self.assert_refused(["--sweep", "m=1:2"],
                            "heddle: --sweep needs an operator: heddle bench matmul_forward --sweep m=128:8192")

    def test_a_product_larger_than_its_tiles_is_checked_on_the_simulated_gpu(self):
        document = self.document("out-of-core", "--device", "sim", "--shape", "m=50 n=40 k=30 memory=4")
        rungs = {rung["rung"]: rung["right"] for rung in document["results"][0]["rungs"]}
        self.assertTrue(rungs["01_one_stream"] and rungs["02_streams"] and all(rungs.values()))
        self.assertNotIn("seconds", document["results"][0]["rungs"][0])
        self.assertTrue(document["complete"])
        for key in ("machine", "device_name", "driver", "runtime", "clocks", "copy_bandwidth", "version", "date",
                    "seed"):
            self.assertIn(key, document)

    def test_out_of_core_without_a_gpu_says_what_there_is(self):
        output = self.bench("out-of-core", "--device", "sim").stdout
        self.assertRegex(output, r"02_streams +right, \d+ % of the allowed error")
        self.assertNotIn("TFLOP", output)
        self.assert_refused(["out-of-core", "--device", "cpu"],
                            "heddle: out-of-core needs a device with memory of its own: use --device cuda, or "
                            "--device sim (correctness only, no timings)")
        result = self.bench("out-of-core", code=3, HEDDLE_MODULES=self.scratch.name)
        self.assertEqual(result.stderr, "heddle: out-of-core needs a GPU (`heddle doctor` says why there is none); "
                                        "--device sim checks its rungs (no timings)\n")

    def test_a_shape_that_cannot_be_measured_leaves_the_ones_before_it_in_the_file(self):
        result = self.bench("out-of-core", "--device", "sim", "--shape",
                            "m=9 n=8 k=7 memory=4; m=2000000 n=2000000 k=9", "--json=" + self.file, code=1)
        self.assertRegex(result.stderr,
                         r"m=2000000 n=2000000 k=9: the matrices take \S+ \S+ of host memory, .* are free")
        with open(self.file, encoding="utf-8") as file:
            document = json.load(file)
        self.assertEqual((len(document["results"]), document["complete"]), (1, False))

    def test_shapes_that_fill_a_gpu_are_made_smaller_for_a_cpu(self):
        result = self.bench("saxpy", "--device", "cpu", "--quick", "--seconds", "0.001")
        self.assertIn("shapes sized for a GPU are reduced for the CPU; --shape takes any shape\n", result.stdout)
        measured = int(result.stdout.split("n=")[1].split()[0])
        self.assertLess(12 * measured, 100e6)  # bytes: some megabytes, not gigabytes

    def test_a_shape_is_written_without_its_defaults(self):
        document = self.cpu("matmul_forward/cpu_blocked", "--shape", "m=8 n=9 k=10 beta=1 transpose_a=0")
        self.assertEqual(document["results"][0]["shape"], "m=8 n=9 k=10 beta=1")

    def test_a_rung_is_compared_with_the_one_named(self):
        document = self.cpu("matmul_forward/cpu_blocked", "--shape", "m=64 n=64 k=64", "--against", "cpu_naive")
        found = {result["rung"]: result for result in document["results"]}
        self.assertEqual(set(found), {"cpu_naive", "cpu_blocked"})
        self.assertEqual({result["vendor_rung"] for result in found.values()}, {"cpu_naive"})
        self.assertEqual(found["cpu_naive"]["ratio"], 1)
        self.assertGreater(found["cpu_blocked"]["ratio"], 0)

    def test_the_table_marks_the_best(self):
        output = self.bench("add_forward", "--device", "cpu", "--shape", "n=1000", "--seconds", "0.01").stdout
        self.assertIn("best own", output)
        self.assertIn("seed 1", output)
        self.assertIn("###", output)

    def test_json_prints_a_line_for_each_rung_and_the_document_at_the_end(self):
        result = self.bench("add_forward", "--device", "cpu", "--shape", "n=9; n=5", "--seconds", "0.01", "--json")
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([line.pop("event") for line in lines], ["measured"] * 4 + ["result"])
        self.assertEqual(lines[-1]["results"], lines[:-1])

    def test_one_shape_for_all_is_a_telling_one(self):
        # The first test shapes of these are empty, of one element, or such that zeros would pass.
        for op in ("add_forward", "sum_forward", "matmul_forward", "conv2d_bias_relu"):
            results = self.document(op, "--device", "sim", "--quick")["results"]
            self.assertEqual(len({result["shape"] for result in results}), 1)
            self.assertEqual({result["status"] for result in results} - {"not run"}, {"right"})
            self.assertGreater(results[0]["flops"], 1000)

    def test_a_quick_look_takes_a_shape_for_the_precision(self):
        results = self.document("cnn_step", "--device", "sim", "--quick", "--dtype", "bf16")["results"]
        self.assertIn("right", {result["status"] for result in results})

    def test_what_cannot_run_has_a_word(self):
        results = self.cpu("fft", "--shape", "batch=2 n=12")["results"]
        of = {(result["op"], result["rung"]): (result["status"], result["message"]) for result in results}
        self.assertEqual(of["fft", "cpu_recursive"], ("not run", "cpu_recursive: does not support this shape"))
        shown = self.bench("matmul_forward", "--device", "sim", "--shape", "m=3 n=5 k=7").stdout
        self.assertRegex(shown, r"(?m)^not run: [^:]*13_tf32_wgmma_tma.*: only on a real GPU$")

    def test_a_rung_that_is_named_is_measured_or_refused(self):
        self.assert_refused(["fft/cpu_recursive", "--device", "cpu", "--shape", "batch=2 n=1000"],
                            "heddle: rung cpu_recursive of fft does not support batch=2 n=1000: \"halves of halves: "
                            "log2 n products per number, and a call for each\"")
        # fft2d has a rung of that name too, and the shape is none of its own
        self.assert_refused(["fft/cpu_dft", "--device", "cpu", "--shape", "batch=1,n=1048576"],
                            "heddle: rung cpu_dft of fft does not support batch=1,n=1048576: \"the defining sum: "
                            "n products per number\"")
        results = self.cpu("fft/cpu_recursive", "--shape", "batch=2 n=1000; batch=1 n=16")["results"]
        own = {result["shape"]: result["status"] for result in results if result["rung"] == "cpu_recursive"}
        self.assertEqual(own, {"batch=2 n=1000": "not run", "batch=1 n=16": "right"})

    def test_where_zeros_would_pass_there_is_no_figure(self):
        for arguments in (["transpose", "--shape", "rows=0 cols=4"], ["fft", "--shape", "batch=2 n=64 scale=0"]):
            result = self.bench(*arguments, "--device", "cpu", code=1)
            self.assertIn("not checked: at this shape ", result.stdout)
            self.assertNotIn("best own", result.stdout)
            self.assertIn("nothing could be checked", result.stderr)

    def test_the_simulated_gpu_checks_and_gives_no_time(self):
        output = self.bench("add_forward", "--device", "sim").stdout
        self.assertIn("the simulated GPU reports no timings", output)
        self.assertIn("correct: 01_one_thread", output)
        document = self.document("add_forward", "--device", "sim", "--shape", "n=1003")
        for result in document["results"]:
            self.assertEqual((result["status"], result["microseconds"], result["gflops"]), ("right", None, None))

    # --- wrong rungs --------------------------------------------------------------------------------------------------

    @unittest.skipUnless(WRONG, "needs the module with wrong rungs")
    def test_a_wrong_rung_is_named_and_the_exit_code_is_1(self):
        result = self.bench("add_forward", "--device", "sim", "--shape", "n=1003", "--json=" + self.file, code=1,
                            HEDDLE_MODULES=WRONG)
        self.assertRegex(result.stderr, r"heddle: rung 03_grid of add_forward is wrong at n=1003: element 1002 of "
                                        r"'output' is -?nan, expected \S+, off by -?nan, allowed \S+")
        self.assertRegex(result.stderr, r"rung 04_grid_stride of add_forward is wrong at n=1003: element 0 of "
                                        r"'output' is 0,")
        self.assertIn("WRONG: rung 03_grid", result.stdout)
        with open(self.file, encoding="utf-8") as file:
            states = {one["rung"]: (one["status"], one["checked"]) for one in json.load(file)["results"]}
        self.assertEqual(states["03_grid"], ("wrong", False))
        self.assertEqual(states["04_grid_stride"], ("wrong", False))
        self.assertEqual(states["02_one_block"], ("right", True))

    @unittest.skipUnless(WRONG, "needs the module with wrong rungs")
    def test_a_rung_that_breaks_the_device_takes_the_blame_alone(self):
        result = self.bench("out-of-core", "--device", "sim", "--shape", "m=9 n=8 k=7 memory=4; m=5 n=6 k=7 memory=4",
                            "--json=" + self.file, code=1, HEDDLE_MODULES=WRONG)
        self.assertRegex(result.stdout, r"(?m)^02_streams +not run: 01_one_stream broke the device$")
        self.assertEqual(result.stdout.count("01_one_stream broke the device"),
                         len([line for line in result.stdout.splitlines() if line[:1] == "0"]) - 1)
        self.assertIn("left the device unusable", result.stderr)
        with open(self.file, encoding="utf-8") as file:
            document = json.load(file)
        self.assertEqual((len(document["results"]), document["complete"]), (1, False))

    # --- mistakes -----------------------------------------------------------------------------------------------------

    def test_mistakes_are_one_line(self):
        self.assert_refused(["matmull"], "heddle: unknown operator or ladder 'matmull'; did you mean matmul?")
        self.assert_refused(["add_forward/cpu_naiv"],
                            "heddle: add_forward has no rung 'cpu_naiv'; did you mean 'cpu_naive'?")
        self.assert_refused(["add_forward", "--against", "03_gridd"],
                            "heddle: --against: add_forward has no rung '03_gridd'; did you mean '03_grid'?")
        self.assert_refused(["matmul_forward", "--shape", "m=1 n=2"],
                            "heddle: matmul_forward: the shape must name 'k' (columns of a, rows of b)")
        self.assert_refused(["--shape", "n=3"],
                            'heddle: --shape needs an operator: heddle bench matmul --shape "m=64 n=64 k=64"')
        self.assert_refused(["add_forward/03_grid", "--device", "cpu"],
                            "heddle: rung 03_grid runs on cuda: use --device cuda, or --device sim (correctness "
                            "only, no timings)")
        self.assert_refused(["add_forward", "--device", "cpu", "--against", "03_grid"],
                            "heddle: --against: rung 03_grid runs on cuda: use --device cuda, or --device sim "
                            "(correctness only, no timings)")
        for near, name in (("colectives", "collectives"), ("out-of-cor", "out-of-core")):
            self.assert_refused([near], f"heddle: unknown operator or ladder '{near}'; did you mean {name}?")
        self.assert_refused(["add", "--json=a", "--json=b"],
                            "heddle bench: --json is given twice, but takes one file")
        self.assert_refused(["add_forward", "--dtype", "f16", "--device", "cpu"],
                            "heddle: nothing to measure: add_forward has no rung in f16 on cpu")
        self.assert_refused(["add_forward", "--batch", "3"],
                            "heddle bench: --batch applies only to `bench train` and `bench infer`")
        self.assert_refused(["train", "--shape", "n=3"],
                            "heddle bench: --shape applies to operators, not to train and infer")
        self.assert_refused(["out-of-core", "--quick"], "heddle bench: --quick does not apply to `bench out-of-core`")
        self.assert_refused(["out-of-core", "--batch", "3"],
                            "heddle bench: --batch applies only to `bench train` and `bench infer`")
        self.assert_refused(["add_forward", "--device", "abacus"],
                            "heddle: no device 'abacus': there are cpu, cuda and sim")

    def test_a_run_that_checked_nothing_is_no_success(self):
        result = self.bench("matmul_forward", "--device", "cpu", "--shape", "m=9000 n=9000 k=9000", code=1)
        self.assertIn("not checked: shape too large for the reference", result.stdout)
        self.assertIn("nothing could be checked", result.stderr)

    def test_a_file_is_checked_before_anything_is_built(self):
        own = os.path.join(self.scratch.name, "own.cu")
        with open(own, "w", encoding="utf-8") as file:
            file.write("void relu(const float *input, float *output, int n) {}\n")
        self.assert_refused([own, "--device", "cpu"],
                            f"heddle: timing {own} needs a GPU; `heddle check {own} --op relu_forward` checks it "
                            "without a GPU", code=3)
        self.assert_refused([own, "--device", "sim"],
                            f"heddle: timing {own} needs a real GPU; `heddle check {own} --op relu_forward` checks it "
                            "without a GPU")
        self.assert_refused([own + "x.cu"], f"heddle: {own}x.cu: No such file or directory")
        self.assert_refused(["add", "--op", "add"], "heddle: --op needs a file: heddle bench FILE.cu --op add")
        with open(own, "w", encoding="utf-8") as file:
            file.write("void nothing() {}\n")
        self.assert_refused([own, "--device", "cpu"],
                            f"heddle: timing {own} needs a GPU; `heddle check {own} --op NAME` checks it without a GPU",
                            code=3)

    def test_a_rung_for_a_gpu_without_one_is_refused_at_once(self):
        result = self.bench("transpose/03_padded_tiles", code=3, HEDDLE_MODULES=self.scratch.name)
        self.assertEqual(result.stderr, "heddle: rung 03_padded_tiles needs a GPU (`heddle doctor` says why there is "
                                        "none); --device sim checks it (no timings)\n")
        self.assertEqual(result.stdout, "")

    def test_a_shape_larger_than_memory_says_what_it_takes(self):
        result = self.bench("transpose", "--device", "cpu", "--shape", "rows=1000000 cols=1000000", code=1)
        self.assertRegex(result.stdout, r"not checked: the operands need 7\.3 TiB, the device has .* free")

    def test_a_device_that_is_not_here_is_missing(self):
        result = self.bench("add_forward", "--device", "cuda", code=3, HEDDLE_MODULES=self.scratch.name)
        self.assertIn("libheddle-cuda.so", result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1)

    def test_a_file_that_cannot_be_written_fails_before_anything_is_measured(self):
        for option in ("--json", "--html"):
            result = self.bench("add_forward", "--device", "cpu", "--seconds", "3000", option + "=/nowhere/results",
                                code=1)
            self.assertEqual(result.stderr, "heddle: /nowhere/results: No such file or directory\n")
            self.assertEqual(result.stdout, "")

    def test_an_interrupt_leaves_what_was_measured(self):
        process = subprocess.Popen([HEDDLE, "bench", "add", "--device", "cpu", "--shape", "n=100", "--seconds", "3",
                                    "--json=" + self.file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
        deadline = time.monotonic() + 60
        while not os.path.exists(self.file) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=100)
        with open(self.file, encoding="utf-8") as file:
            document = json.load(file)
        self.assertGreater(len(document["results"]), 0)
        if process.returncode != 0:  # it may have been at its end
            self.assertEqual(process.returncode, 130)
            self.assertIn("stopped", errors)
            self.assertFalse(document["complete"])

    @unittest.skipUnless(WRONG, "needs the module with wrong rungs")
    def test_an_interrupt_ends_a_rung_that_does_not(self):
        page = os.path.join(self.scratch.name, "page.html")
        for number in (signal.SIGINT, signal.SIGTERM):
            terminal, errors = pty.openpty()  # on which it says what it is at
            process = subprocess.Popen([HEDDLE, "bench", "relu_forward/01_naive", "--device", "sim", "--shape",
                                        "n=50; n=2000", "--json=" + self.file, "--html", page], stdout=subprocess.PIPE,
                                       stderr=errors, text=True,
                                       env={**os.environ, "HEDDLE_MODULES": WRONG, "TERM": "xterm"})
            os.close(errors)
            said = b""
            while b"n=2000 01_naive: checking" not in said:
                said += os.read(terminal, 4096)
            process.send_signal(number)
            output, _ = process.communicate(timeout=100)
            said += os.read(terminal, 4096)
            os.close(terminal)
            self.assertEqual(process.returncode, 128 + number)
            self.assertIn(b"heddle: stopped\r\n", said)
            self.assertIn("relu_forward  n=50\ncorrect: 01_naive", output)
            self.assertNotIn("n=2000", output)
            with open(self.file, encoding="utf-8") as file:
                document = json.load(file)
            self.assertEqual([result["shape"] for result in document["results"]], ["n=50"])
            self.assertFalse(document["complete"])
            with open(page, encoding="utf-8") as file:
                self.assertIn("The run was interrupted.", file.read())

    # --- the page -----------------------------------------------------------------------------------------------------

    def test_the_page_is_whole_and_fetches_nothing(self):
        page = os.path.join(self.scratch.name, "page.html")
        self.cpu("matmul_forward", "--shape", "m=64 n=64 k=64", "--html", page)
        with open(page, encoding="utf-8") as file:
            text = file.read()

        open_tags = []
        void = {"meta", "line", "rect", "polyline", "br"}

        class Reader(HTMLParser):
            def handle_starttag(self, tag, attributes):
                if tag not in void:
                    open_tags.append(tag)

            def handle_startendtag(self, tag, attributes):
                pass

            def handle_endtag(self, tag):
                assert open_tags and open_tags[-1] == tag, f"</{tag}> after {open_tags}"
                open_tags.pop()

        Reader().feed(text)
        self.assertEqual(open_tags, [])
        for part in ("<svg class=\"ladder\"", "<svg class=\"roofline\"", "prefers-color-scheme: dark",
                     "width=device-width", "cpu_blocked", "seed"):
            self.assertIn(part, text)
        for part in ("http:", "https:", "<script", "nan", "inf "):
            self.assertNotIn(part, text)

    def test_a_page_that_cannot_be_written_leaves_the_one_before(self):
        page = os.path.join(self.scratch.name, "page.html")
        with open(page, "w", encoding="utf-8") as file:
            file.write("the old one")
        limited = ["sh", "-c", 'ulimit -f 2; trap "" XFSZ; exec "$@"', "sh", HEDDLE, "bench", "matmul_forward", "--device",
                   "cpu", "--quick", "--shape", "m=64 n=64 k=64", "--html", page]
        done = subprocess.run(limited, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("page.html: ", done.stderr)
        self.assertEqual(os.listdir(self.scratch.name), ["page.html"])
        with open(page, encoding="utf-8") as file:
            self.assertEqual(file.read(), "the old one")

    def test_the_page_of_the_simulated_gpu_has_no_times(self):
        page = os.path.join(self.scratch.name, "page.html")
        self.bench("shift", "--device", "sim", "--shape", "n=33", "--html", page)
        with open(page, encoding="utf-8") as file:
            rows = [line for line in file if line.startswith("<tr><td>01_naive")]
        self.assertEqual(len(rows), 1)
        self.assertRegex(rows[0], "<td>naive</td><td>f32</td><td>0</td><td>[a-z]")

    def test_the_page_of_a_rung_has_its_source_with_counters(self):
        page = os.path.join(self.scratch.name, "page.html")
        self.bench("transpose/02_tiles", "--device", "sim", "--quick", "--html", page)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        store = next(line for line in text.split("<tr id=") if "= tile[threadIdx.x]" in line)
        self.assertIn('<span class="counter', store)
        self.assertIn("counted on the simulated GPU at rows=", text)
        self.assertIn('id="trace"', text)  # which pictures are drawn from
        self.assertEqual(re.findall(r'class="file">[^<]*/(\w+\.cuh?)<', text), ["02_tiles.cu"])
        self.assertNotRegex(text, r'(src|href)="?(http|//)')


if __name__ == "__main__":
    unittest.main()
