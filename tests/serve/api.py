"""The API of `heddle serve`: predictions, their batches, training, evaluation, checks, and what is refused.

    tests/serve/api.py build/heddle
"""

import base64
import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zlib

HEDDLE = os.path.abspath(sys.argv.pop(1))
PATIENCE = 120  # seconds; a test that waits so long has failed
STILL = 10  # answers in a row that are the same: nothing goes on


def png(width, height, rows):
    """A grey PNG."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    body = b"".join(b"\0" + bytes(row) for row in rows)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(body)) + chunk(b"IEND", b""))


# Two GPUs, of which the second tells neither its load nor its power.
NVML = """
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) { *device = (char *)0 + index + 1; return 0; }
int nvmlDeviceGetName(void *device, char *name, unsigned size) { name[0] = 'G'; name[1] = 0; return size < 2; }
int nvmlDeviceGetUtilizationRates(void *device, unsigned *load) { load[0] = 37; load[1] = 5; return device != (void *)1; }
int nvmlDeviceGetPowerUsage(void *device, unsigned *power) { *power = 412500; return device != (void *)1; }
int nvmlDeviceGetMemoryInfo(void *device, unsigned long long *all) { all[0] = 8; all[1] = 6; all[2] = 2; return 0; }
"""


class Server:
    def __init__(self, folder, *arguments, **environment):
        self.process = subprocess.Popen([HEDDLE, "serve", *arguments], cwd=folder, text=True, stdout=subprocess.PIPE,
                                        env={**os.environ, **environment})
        for line in self.process.stdout:
            found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})", line)
            if found:
                self.port, self.token = int(found.group(1)), found.group(2)
                break

    def end(self):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=PATIENCE)
        self.process.stdout.close()
        return code

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", **headers}
        text = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
        connection.request(method, path, text, headers)
        response = connection.getresponse()
        content = response.read()
        connection.close()
        return response, content


class Api(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.mkdtemp()
        subprocess.run([HEDDLE, "train", "--data", "synth:count=3000", "--epochs", "2", "--quiet"], cwd=cls.scratch,
                       check=True, capture_output=True)
        cls.server = Server(cls.scratch)  # with the newest run

    @classmethod
    def tearDownClass(cls):
        code = cls.server.end()
        shutil.rmtree(cls.scratch)
        if code != 130:
            raise AssertionError(f"after Ctrl-C the server ended with {code}, not with 130")

    def ask(self, method, path, body=None, code=200, **headers):
        response, content = self.server.ask(method, path, body, **headers)
        self.assertEqual(response.status, code, f"{method} {path}: {content[:300]}")
        return json.loads(content)

    def refused(self, code, method, path, body=None):
        error = self.ask(method, path, body, code)["error"]
        self.assertNotIn("\n", error)
        return error

    def image(self, index):
        image = self.ask("GET", f"/v1/images/{index}")
        return list(base64.b64decode(image["pixels"])), image["label"]

    def metrics(self):
        response, content = self.server.ask("GET", "/v1/metrics")
        self.assertEqual(response.status, 200)
        self.assertTrue(response.headers["Content-Type"].startswith("text/plain; version=0.0.4"))
        lines = [line for line in content.decode().splitlines() if not line.startswith("#")]
        return {name: float(value) for name, value in (line.split() for line in lines)}

    def wait_for(self, path, reached):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            answer = self.ask("GET", path)
            if reached(answer):
                return answer
            time.sleep(0.02)
        return self.fail(f"{path} is still {answer}")

    # --- predicting ---------------------------------------------------------------------------------------------------

    def test_test_images_are_recognised_one_by_one_and_together(self):
        images = [self.image(index) for index in range(100)]
        together = self.ask("POST", "/v1/predict", {"images": [pixels for pixels, _ in images]})["predictions"]
        right = sum(one["class"] == label for one, (_, label) in zip(together, images))
        self.assertGreater(right, 90)
        for index in range(5):
            alone = self.ask("POST", "/v1/predict", {"image": images[index][0]})["predictions"][0]
            self.assertEqual(alone["class"], together[index]["class"])
            self.assertEqual(len(alone["probabilities"]), 10)
            self.assertAlmostEqual(sum(alone["probabilities"]), 1, places=4)
            for one, other in zip(alone["probabilities"], together[index]["probabilities"]):
                self.assertAlmostEqual(one, other, places=4)

    def test_a_png_is_taken_as_it_is_or_prepared(self):
        pixels, _ = self.image(0)
        rows = [pixels[28 * y:28 * y + 28] for y in range(28)]
        expected = self.ask("POST", "/v1/predict", {"image": pixels})["predictions"][0]
        same = base64.b64encode(png(28, 28, rows)).decode()
        self.assertEqual(self.ask("POST", "/v1/predict", {"image": same})["predictions"][0], expected)
        # A one, dark on light and far larger than the network's images.
        drawn = [[0 if 95 < x < 115 and 40 < y < 160 else 255 for x in range(200)] for y in range(200)]
        large = "data:image/png;base64," + base64.b64encode(png(200, 200, drawn)).decode()
        self.assertEqual(self.ask("POST", "/v1/predict", {"image": large})["predictions"][0]["name"], "1")

    def test_layers_are_shown_as_pictures(self):
        pixels, _ = self.image(3)
        layers = self.ask("POST", "/v1/predict", {"image": pixels, "layers": True})["layers"]
        about = self.ask("GET", "/v1/status")["network"]
        self.assertEqual([one["name"] for one in layers], ["input"] + [one["name"] for one in about["layers"]])
        self.assertEqual(base64.b64decode(layers[0]["pixels"])[pixels.index(max(pixels))], 255)
        for one, layer in zip(layers[1:], about["layers"]):
            self.assertEqual(one["shape"], layer["shape"])
            self.assertEqual(len(base64.b64decode(one["pixels"])), one["maps"] * one["height"] * one["width"])
        relu = next(one for one in layers if one["name"] == "relu1")
        self.assertGreaterEqual(relu["low"], 0)
        self.assertGreater(relu["high"], 0)
        logits = base64.b64decode(layers[-1]["pixels"])
        answer = self.ask("POST", "/v1/predict", {"image": pixels})["predictions"][0]
        self.assertEqual(logits.index(255), answer["class"])

    def wait_together(self, pixels, count):
        """A large request keeps the network busy while small ones arrive; returns the answers to these."""
        large = json.dumps({"images": [pixels] * 1000})
        small = json.dumps({"image": pixels}).encode()
        head = (f"POST /v1/predict HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\nConnection: close\r\n"
                f"Authorization: Bearer {self.server.token}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(small)}\r\n\r\n").encode()
        connections = [socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE) for _ in range(count)]
        for one in connections:
            one.sendall(head + small[:-1])
        busy = threading.Thread(target=self.ask, args=("POST", "/v1/predict", large))
        before = self.metrics()["heddle_predict_requests_total"]
        busy.start()
        while self.metrics()["heddle_predict_requests_total"] == before:
            pass  # the large one is still on its way
        for one in connections:
            one.sendall(small[-1:])
        answers = []
        for one in connections:
            with one, one.makefile("rb") as file:
                answers.append(json.loads(file.read().split(b"\r\n\r\n", 1)[1]))
        busy.join()
        return answers

    def test_requests_that_wait_together_run_in_one_batch(self):
        pixels, _ = self.image(1)
        alone = self.ask("POST", "/v1/predict", {"image": pixels})["predictions"][0]
        for _ in range(20):  # the large one may be done before the small ones are there
            answers = self.wait_together(pixels, 16)
            self.assertEqual({one["predictions"][0]["class"] for one in answers}, {alone["class"]})
            if max(one["batch"] for one in answers) > 1:
                return
        self.fail("requests that arrive together are predicted one by one")

    def test_bad_requests_are_answered_with_one_clear_line(self):
        self.assertIn("784 numbers", self.refused(400, "POST", "/v1/predict", {"image": [1, 2, 3]}))
        self.assertIn("1 to 1024", self.refused(400, "POST", "/v1/predict", {"images": []}))
        for body in ("", "{", "[]", "\xff", '{"image": ' + "[" * 5000):
            self.refused(400, "POST", "/v1/predict", body.encode("latin-1"))
        self.refused(413, "POST", "/v1/predict", b'{"image": "' + b"A" * (5 << 20) + b'"}')
        large = base64.b64encode(png(2048, 2048, [b"\0" * 2048] * 2048)).decode()
        self.assertIn("16777216 pixels", self.refused(413, "POST", "/v1/predict", {"images": [large] * 5}))
        self.refused(404, "GET", "/v1/images/100000")
        for number in ("99999999999999999999", "1x", "-1"):
            self.refused(404, "GET", f"/v1/check/{number}")
        self.refused(404, "GET", "/v1/images/x")
        self.refused(404, "GET", "/v1/nothing")
        self.refused(405, "GET", "/v1/predict")
        self.refused(404, "POST", "/v1/network", {"run": "../synth-cnn"})
        self.refused(404, "POST", "/v1/network", {"run": "none"})
        self.refused(404, "GET", "/v1/runs/none")
        self.refused(404, "GET", "/v1/runs/" + "n" * 300)
        self.refused(400, "POST", "/v1/train", {"model": "nothing"})
        self.refused(404, "POST", "/v1/train/jump", {})
        self.refused(409, "POST", "/v1/train/pause", {})
        self.refused(400, "POST", "/v1/check", {"name": "../x.cu", "source": ""})
        response, _ = self.server.ask("GET", "/v1/status", Authorization="Bearer 0")
        self.assertEqual(response.status, 401)

    # --- the rest -----------------------------------------------------------------------------------------------------

    def test_the_evaluation_agrees_with_heddle_eval(self):
        self.ask("POST", "/v1/evaluate", {}, code=202)
        found = self.wait_for("/v1/evaluate", lambda all: all["evaluation"]["done"] == all["evaluation"]["count"])
        found = found["evaluation"]
        answer = subprocess.run([HEDDLE, "eval", "runs/synth-cnn", "--json"], cwd=self.scratch, text=True,
                                capture_output=True, check=True)
        said = json.loads(answer.stdout.strip().splitlines()[-1])
        self.assertAlmostEqual(found["accuracy"], said["accuracy"], places=2)
        self.assertEqual(sum(map(sum, found["confusion"])), found["count"])
        self.assertEqual(sum(row[at] for at, row in enumerate(found["confusion"])), found["correct"])
        self.assertEqual(len(found["wrong"]), found["count"] - found["correct"])
        for one in found["wrong"]:
            self.assertNotEqual(one["label"], one["class"])

    def test_a_network_that_computes_no_numbers_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "runs", "large")
            os.makedirs(run)
            with open(os.path.join(self.scratch, "runs/synth-cnn/best.safetensors"), "rb") as file:
                size, = struct.unpack("<Q", file.read(8))
                header = json.loads(file.read(size))
                numbers = len(file.read()) // 4
            for name in ("tensors_crc32", "header_crc32", "heddle.checksums"):
                del header["__metadata__"][name]
            text = json.dumps(header).encode()
            text += b" " * (-len(text) % 8)
            with open(os.path.join(run, "last.safetensors"), "wb") as file:
                file.write(struct.pack("<Q", len(text)) + text + struct.pack("<f", 3e38) * numbers)
            self.server = Server(folder)  # this test's own
            try:
                wanted = "computes NaN or infinity"
                self.assertIn(wanted, self.refused(500, "POST", "/v1/predict", {"image": [255] * 784, "layers": True}))
                events = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE)
                events.request("GET", "/v1/events", headers={"Authorization": f"Bearer {self.server.token}"})
                lines = events.getresponse()
                for _ in range(2):  # a failed evaluation is started again
                    self.ask("POST", "/v1/evaluate", {}, code=202)
                    while lines.readline() != b"event: evaluation\n":
                        pass
                    self.assertIn(wanted, lines.readline().decode())
                    self.assertIn(wanted, self.ask("GET", "/v1/evaluate")["evaluation"]["error"])
                lines.close()
                events.close()
            finally:
                self.server.end()

    def test_a_pipe_in_a_run_is_not_waited_for(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, pipe, other in (("curve", "curve.jsonl", "last.safetensors"), ("best", "best.safetensors", "curve.jsonl")):
                os.makedirs(os.path.join(folder, "runs", name))
                os.mkfifo(os.path.join(folder, "runs", name, pipe))
                with open(os.path.join(folder, "runs", name, other), "w", encoding="utf-8"):
                    pass
            self.server = Server(folder)
            try:
                self.assertEqual(self.ask("GET", "/v1/runs"), {"runs": []})
                self.assertIn("not a regular file", self.refused(400, "GET", "/v1/runs/curve"))
                self.refused(404, "POST", "/v1/network", {"run": "best"})
            finally:
                self.server.end()

    def test_results_are_listed_read_and_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            self.server = Server(folder)  # this test's own
            try:
                found = self.ask("GET", "/v1/results")
                self.assertEqual((found["folder"], found["results"]), ("results", []))
                self.assertIn("transpose", found["operators"])
                self.assertEqual(self.ask("POST", "/v1/bench", {"op": "transpose"}), {"name": "quick-transpose-cpu.json"})
                results = os.path.join(folder, "results")
                with open(os.path.join(results, "quick-transpose-cpu.json"), encoding="utf-8") as file:
                    written = json.load(file)
                self.assertEqual(self.ask("GET", "/v1/results/quick-transpose-cpu.json"), written)
                self.assertTrue(written["complete"])
                self.assertEqual({row["op"] for row in written["results"]}, {"transpose"})
                self.assertTrue(all(row["microseconds"] > 0 for row in written["results"]))
                for name, text in (("other.json", '{"format": "heddle check 1"}'), ("torn.json", '{"format": "hed'),
                                   ("list.json", "[]"), ("bench.txt", json.dumps(written)), (".b.json", json.dumps(written))):
                    with open(os.path.join(results, name), "w", encoding="utf-8") as file:
                        file.write(text)
                with open(os.path.join(folder, "outside.json"), "w", encoding="utf-8") as file:
                    json.dump(written, file)
                os.symlink("../outside.json", os.path.join(results, "link.json"))
                os.mkfifo(os.path.join(results, "pipe.json"))
                newer = {**written, "date": "2999-01-01T00:00:00Z"}
                with open(os.path.join(results, "newer.json"), "w", encoding="utf-8") as file:
                    json.dump(newer, file)
                found = self.ask("GET", "/v1/results")["results"]
                self.assertEqual([one["name"] for one in found], ["newer.json", "quick-transpose-cpu.json"])
                self.assertEqual(found[0]["rows"], len(written["results"]))
                for name in ("other.json", "bench.txt", "link.json", "pipe.json", "none.json", "..%2foutside.json",
                             "%2e%2e", "list.json"):
                    self.assertIn(self.server.ask("GET", f"/v1/results/{name}")[0].status, (400, 404), name)
                self.refused(400, "GET", "/v1/results/torn.json")
                self.refused(400, "POST", "/v1/bench", {})
                self.assertIn("transpose", self.refused(404, "POST", "/v1/bench", {"op": "transpos"}))
            finally:
                self.server.end()

    def test_one_operator_is_measured_at_a_time_and_stops_when_the_server_ends(self):
        with tempfile.TemporaryDirectory() as folder:
            server, measured = Server(folder), threading.Event()

            def measure():  # again and again, so that sooner or later something else comes in between
                with contextlib.suppress(OSError, http.client.HTTPException):
                    while not measured.is_set():
                        server.ask("POST", "/v1/bench", {"op": "transpose"})
            asking = [threading.Thread(target=measure) for _ in range(2)]
            for one in asking:
                one.start()
            bench = train = None
            until = time.monotonic() + PATIENCE
            while (bench != 503 or train != 409) and time.monotonic() < until:
                bench = 503 if bench == 503 else server.ask("POST", "/v1/bench", {"op": "transpose"})[0].status
                wish = {"model": "mlp", "data": "synth:count=64", "epochs": 1}
                train = 409 if train == 409 else server.ask("POST", "/v1/train", wish)[0].status
                self.assertIn(bench, (200, 409, 503))
                self.assertIn(train, (202, 409))
            self.assertEqual(server.end(), 130)
            self.assertEqual((bench, train), (503, 409))
            measured.set()
            for one in asking:
                one.join()

    def test_nothing_is_measured_on_the_simulated_gpu(self):
        with tempfile.TemporaryDirectory() as folder:
            server = Server(folder, "--device", "sim")
            try:
                self.assertEqual(server.ask("POST", "/v1/bench", {"op": "transpose"})[0].status, 400)
            finally:
                server.end()

    def test_load_and_power_of_gpus_are_told(self):
        with tempfile.TemporaryDirectory() as folder:
            source, library = os.path.join(folder, "nvml.c"), os.path.join(folder, "libnvidia-ml.so.1")
            with open(source, "w", encoding="utf-8") as file:
                file.write(NVML)
            subprocess.run(["cc", "-shared", "-fPIC", "-w", source, "-o", library], check=True)
            self.server = Server(folder, LD_LIBRARY_PATH=folder)  # this test's own
            try:
                found = {name: value for name, value in self.metrics().items() if "_gpu_" in name}
                self.assertEqual(found, {'heddle_gpu_load{gpu="0"}': 0.37, 'heddle_gpu_power_watts{gpu="0"}': 412.5,
                                         'heddle_gpu_memory_used_bytes{gpu="0"}': 2,
                                         'heddle_gpu_memory_used_bytes{gpu="1"}': 2})
                self.assertNotIn("gpus", self.ask("GET", "/v1/train"))
                run = self.ask("POST", "/v1/train", {"model": "mlp", "data": "synth:count=50", "epochs": 1}, code=202)
                self.assertEqual(run["gpus"], [{"name": "G", "load": 0.37, "watts": 412.5, "memory": 8, "used": 2},
                                               {"name": "G", "memory": 8, "used": 2}])
            finally:
                self.server.end()

    def wait_until_it_stands_still(self):
        """The step under way ends first. What GPUs do meanwhile does not count."""
        seen = []

        def stands_still(now):
            now.pop("gpus", None)
            seen.append(now)
            return len(seen) > STILL and all(one == now for one in seen[-STILL:])
        return self.wait_for("/v1/train", stands_still)

    def test_a_run_is_started_paused_resumed_stopped_and_used(self):
        with tempfile.TemporaryDirectory() as empty:
            self.server = Server(empty)  # this test's own
            try:
                self.assertIsNone(self.ask("GET", "/v1/status")["network"])
                self.refused(409, "POST", "/v1/predict", {"image": [0] * 784})
                wish = {"model": "mlp", "data": "synth:count=300", "epochs": 100000, "batch": 50, "rate": 0.1}
                self.assertEqual(self.ask("POST", "/v1/train", wish, code=202)["run"], "runs/synth-mlp")
                self.refused(409, "POST", "/v1/train", wish)
                self.wait_for("/v1/train", lambda now: len(now["points"]) > 0 and now.get("test_accuracy", 0) > 0)
                self.assertEqual(self.ask("POST", "/v1/train/pause", {}, code=202)["state"], "paused")
                first = self.wait_until_it_stands_still()
                self.assertEqual(self.ask("POST", "/v1/train/resume", {}, code=202)["state"], "training")
                self.wait_for("/v1/train", lambda now: now["epoch"] > first["epoch"])
                self.assertEqual(self.metrics()["heddle_train_active"], 1)
                self.ask("POST", "/v1/train/stop", {}, code=202)
                self.wait_for("/v1/train", lambda now: now["state"] == "stopped")
                network = self.wait_for("/v1/status", lambda now: now["network"])["network"]
                self.assertEqual(network["checkpoint"], "runs/synth-mlp/best.safetensors")
                self.ask("POST", "/v1/predict", {"image": [0] * 784})
                runs = self.ask("GET", "/v1/runs")["runs"]
                self.assertEqual([(run["name"], run["state"]) for run in runs], [("synth-mlp", "stopped")])
                self.assertGreater(len(self.ask("GET", "/v1/runs/synth-mlp")["points"]), 0)
                self.ask("POST", "/v1/network", {"run": "synth-mlp"}, code=202)
            finally:
                self.server.end()


if __name__ == "__main__":
    unittest.main()
