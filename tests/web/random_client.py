#!/usr/bin/env python3
"""A client that sends nonsense to `heddle learn --web` and to `heddle serve`, for as long as one likes. Run by hand, on a
build with sanitizers (docs/web.md); not part of the regular tests.

    tests/web/random_client.py build-sanitize/heddle course --minutes 60 [--seed 7]

It sends valid requests, changed ones, random JSON, slow and torn bodies, wrong chunks, huge headers, several requests at
once, and hangs up in the middle. Meanwhile each server has to answer a plain request, must answer nothing with 500, and
must write nothing outside its folder. In the end both have to stop on Ctrl-C, with no word of a sanitizer.
"""

import argparse
import collections
import http.client
import json
import os
import random
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

PATIENCE = 120  # seconds; a server that is silent for so long is stuck
CLIENTS = 6     # at a time, for each server
STATUSES = {100, 200, 202, 400, 401, 403, 404, 405, 408, 409, 411, 413, 414, 415, 417, 421, 429, 431, 501, 503, 505}

LEARN = [("GET", path) for path in (
    "/", "/map", "/read/05-first-kernels", "/exercise/05.1", "/course/05-first-kernels/grid-1d.svg", "/learn/main.js",
    "/v1/learn/course", "/v1/learn/chapters/05-first-kernels", "/v1/learn/chapters/glossary",
    "/v1/learn/search?q=data+race", "/v1/learn/events", "/v1/learn/exercises/05.1", "/v1/learn/exercises/05.2/trace",
    "/v1/learn/exercises/05.3/solution?anyway=1")]
LEARN += [("POST", f"/v1/learn/exercises/05.{number}/{word}") for number in (1, 2, 3) for word in ("hint", "reset")]
LEARN += [("POST", "/v1/learn/exercises/05.1/judge"), ("POST", "/v1/learn/exercises/05.2/open"),
          ("PUT", "/v1/learn/exercises/05.1/source"), ("PUT", "/v1/learn/exercises/05.2/source")]
SERVE = [("GET", path) for path in (
    "/", "/serve/main.js", "/v1/status", "/v1/events", "/v1/metrics", "/v1/images/3", "/v1/evaluate", "/v1/runs",
    "/v1/runs/synth-cnn", "/v1/train", "/v1/check/1", "/v1/results", "/v1/results/transpose-cpu.json")]
SERVE += [("POST", path) for path in (
    "/v1/predict", "/v1/predict", "/v1/predict", "/v1/evaluate", "/v1/network", "/v1/train", "/v1/train/pause",
    "/v1/train/resume", "/v1/train/stop", "/v1/check", "/v1/bench")]

WORDS = ("text", "base", "image", "images", "layers", "model", "data", "epochs", "batch", "rate", "optimizer", "schedule",
         "device", "precision", "seed", "name", "source", "run", "network", "op", "")
TEXTS = ("", "x", "mlp", "cnn", "synth:count=20", "synth", "cpu", "sim", "a.cu", "../a.cu", "synth-cnn", "../../etc", "sgd",
         "\0", "\ud800", "ü\u2028", "%s%n", "A" * 5000, "data:image/png;base64,iVBORw0KGgo=", "iVBORw0KGgoAAAANSUhEUgAA",
         "__global__ void k(float *a) { a[threadIdx.x] = 1; }\nint main() { k<<<1, 1>>>(nullptr); }\n", "int main() {")
NUMBERS = (0, 1, -1, 2, 255, 1e308, -1e-308, 2 ** 31, 2 ** 63, 2 ** 64, float("nan"), float("inf"), 0.05)
HEADERS = (b"Content-Length: 18446744073709551617", b"Content-Length: -1", b"Content-Length: 5", b"Content-Length: 99999999",
           b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip, chunked", b"Expect: 100-continue", b"Host: localhost",
           b"Host: evil.example", b"Origin: http://evil.example", b"Origin: null", b"Sec-Fetch-Site: cross-site",
           b"Connection: upgrade", b"Upgrade: websocket", b"Range: bytes=0-1", b"Cookie: heddle-1=x; ;=;;", b"X: \xff\x00",
           b" folded: yes", b"NoColon", b"Authorization: Bearer", b"Content-Type: text/plain", b"Accept: text/html",
           b"If-None-Match: *", b"Content-Encoding: gzip")


class Server:
    def __init__(self, command, folder, environment, probe, requests):
        self.requests, self.probe, self.folder = requests, probe, folder
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE,
                                        stderr=self.errors)
        self.port, self.token = next(
            (int(found.group(1)), found.group(2)) for line in self.process.stdout
            if (found := re.search(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})", line)))
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request(method, path, body, {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
        response = connection.getresponse()
        content = response.read()
        connection.close()
        return response.status, content

    def size(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20

    def end(self):
        """Ends it as Ctrl-C does; what is wrong with how it ended."""
        self.process.send_signal(signal.SIGINT)
        try:
            code = self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = "nothing, and had to be killed"
        self.errors.seek(0)
        said = self.errors.read()
        if code == 130 and not re.search("Sanitizer|runtime error", said):
            return []
        return [f"{self.probe} ended with {code}:\n{said[-6000:]}"]


class Client(threading.Thread):
    def __init__(self, server, seed, until, tally, faults):
        super().__init__(daemon=True)
        self.server, self.until, self.tally, self.faults = server, until, tally, faults
        self.chance = random.Random(seed)

    # --- what is sent ---------------------------------------------------------------------------------------------------

    def value(self, depth=0):
        kind = self.chance.randrange(9 if depth < 4 else 5)
        if kind < 2:
            return self.chance.choice(TEXTS)
        if kind == 2:
            return self.chance.choice(NUMBERS)
        if kind == 3:
            return self.chance.choice((True, False, None))
        if kind == 4:
            return [self.chance.randrange(256)] * self.chance.choice((0, 1, 783, 784, 785, 3072))
        if kind == 5:
            return [self.value(depth + 1) for _ in range(self.chance.randrange(4))]
        return {self.chance.choice(WORDS): self.value(depth + 1) for _ in range(self.chance.randrange(5))}

    def sensible(self, path):
        """A body that the route may take."""
        if path.endswith("/source"):
            version = json.loads(self.server.ask("GET", path[:-len("/source")])[1]).get("version", "")
            return {"text": self.chance.choice(TEXTS).replace("\ud800", ""), "base": version}
        if path == "/v1/predict":
            image = [self.chance.randrange(256) for _ in range(784)]
            return self.chance.choice((
                {"images": [image] * self.chance.choice((1, 2, 64))}, {"image": image, "layers": True},
                {"image": image}, {"image": [value / 8 for value in image]}))  # read without a JSON tree
        if path == "/v1/train":
            return {"model": "mlp", "data": "synth:count=50", "epochs": self.chance.choice((1, 3, 1000))}
        if path == "/v1/check":
            return {"name": "a.cu", "source": self.chance.choice(TEXTS).replace("\ud800", "")}
        if path == "/v1/bench":
            return {"op": "transpose"}
        return {"run": "synth-cnn"} if path == "/v1/network" else {}

    def body(self, path):
        kind = self.chance.randrange(8)
        if kind < 3:
            return json.dumps(self.sensible(path)).encode()
        if kind == 3:
            return b"[" * self.chance.choice((1, 100, 100000))
        if kind == 4:
            return self.chance.randbytes(self.chance.choice((0, 1, 100, 70000)))
        text = json.dumps(self.value()).encode()
        return self.torn(text) if kind == 5 else text

    def torn(self, data):
        """Some bytes changed, cut off, or repeated."""
        data = bytearray(data)
        for _ in range(self.chance.choice((1, 1, 2, 8))):
            at, kind = self.chance.randrange(len(data) + 1), self.chance.randrange(4)
            if kind == 0:
                data[at:at + 1] = self.chance.randbytes(1)
            elif kind == 1:
                del data[at:at + self.chance.randrange(1, 40)]
            elif kind == 2:
                data[at:at] = data[at:at + self.chance.randrange(1, 200)]
            else:
                data[at:at] = self.chance.choice((b"\r\n", b"\0", b"%2e%2e/", b"../", b"//", b"%", b" ", b"\xff", b"?", b"\n"))
        return bytes(data)

    def chunked(self, body):
        out = b""
        while body:
            piece, body = body[:self.chance.randrange(1, 5000)], body[5000:]
            size = self.chance.choice((b"%x", b"%X;a=b", b"0%x", b"%x", b"-%x", b"%xg")) % len(piece)
            out += size + b"\r\n" + piece + self.chance.choice((b"\r\n", b"\r\n", b"\r\n", b"\n", b""))
        return out + self.chance.choice((b"0\r\n\r\n", b"0\r\n\r\n", b"0\r\nTrailer: x\r\n\r\n", b"ffffffffffffffffff\r\n", b""))

    def request(self):
        method, path = self.chance.choice(self.server.requests)
        body = self.body(path) if method != "GET" or self.chance.random() < 0.05 else b""
        headers = [b"Host: 127.0.0.1:%d" % self.server.port]
        if self.chance.random() < 0.9:
            headers.append(b"Authorization: Bearer " + self.server.token.encode())
        if method != "GET":
            headers.append(b"Content-Type: application/json")
        if self.chance.random() < 0.1:
            path = path.replace("05.", self.chance.choice(("99.", "%30%35.", "..", "05.%00", "ü"))) + self.chance.choice(
                ("", "/", "?q=" + "%41" * 300, "?token=x", "#x", "/x" * 20, "%"))
            path = path.encode("utf-8").decode("latin-1")
        if self.chance.random() < 0.15:
            headers += [self.chance.choice(HEADERS) for _ in range(self.chance.randrange(1, 4))]
        if self.chance.random() < 0.03:
            headers.append(b"X-Long: " + b"a" * self.chance.choice((4000, 20000, 40000, 200000)))
        if self.chance.random() < 0.02:
            headers += [b"X-%d: y" % index for index in range(2000)]
        if body and self.chance.random() < 0.2:
            headers.append(b"Transfer-Encoding: chunked")
            body = self.chunked(body)
        elif body:
            headers.append(b"Content-Length: %d" % (len(body) + self.chance.choice((0,) * 20 + (-1, 1, 1000))))
        self.chance.shuffle(headers)
        line = f"{self.chance.choice((method,) * 20 + ('HEAD', 'OPTIONS', 'DELETE', 'X' * 300))} {path} HTTP/1.1"
        data = b"\r\n".join([line.encode("latin-1"), *headers, b"", b""]) + body
        return self.torn(data) if self.chance.random() < 0.2 else data

    # --- how it is sent -------------------------------------------------------------------------------------------------

    def hear(self, to, patience):
        """Reads what comes within some seconds, and counts the answers; their first must look like one."""
        data, end = b"", time.monotonic() + patience
        while time.monotonic() < end and len(data) < 1 << 22:
            to.settimeout(max(0.01, end - time.monotonic()))
            try:
                piece = to.recv(1 << 16)
            except OSError:
                break
            if not piece:
                break
            data += piece
            head, _, rest = data.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
            if b"event-stream" in head or (length and len(rest) >= int(length.group(1)) and self.chance.random() < 0.97):
                break
        status = re.match(rb"HTTP/1\.[01] (\d{3}) ", data)
        if data and not status:
            self.faults.append(f"{self.server.probe}: an answer begins with {data[:80]!r}")
        self.tally[int(status.group(1)) if status else "no answer"] += 1
        if status and int(status.group(1)) not in STATUSES:
            self.faults.append(f"{self.server.probe}: {data[:600]!r}")

    def once(self):
        data = b"".join(self.request() for _ in range(self.chance.choice((1,) * 10 + (2, 5, 40))))
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE) as to:
            manner = self.chance.randrange(10)
            if manner == 0:  # byte by byte, or nearly so
                step = self.chance.choice((1, 7, 100))
                for at in range(0, min(len(data), 40 * step), step):
                    to.sendall(data[at:at + step])
                    time.sleep(self.chance.choice((0, 0.002, 0.05)))
            elif manner == 1:  # hangs up in the middle
                to.sendall(data[:self.chance.randrange(len(data) + 1)])
            else:
                to.sendall(data)
            if manner == 2:
                to.shutdown(socket.SHUT_WR)
            if self.chance.random() < 0.15:  # with a reset, and without listening
                to.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.tally["hung up on"] += 1
            else:
                self.hear(to, self.chance.choice((0.02, 0.2, 0.2, 2)))

    def run(self):
        while time.monotonic() < self.until and not self.faults:
            try:
                self.once()
            except (OSError, http.client.HTTPException):  # hung up on, which nonsense deserves
                self.tally["torn"] += 1
            except ValueError as failure:
                self.faults.append(f"{self.server.probe}: {failure}")


def snapshot(folder, but):
    return {os.path.join(place, name) for place, _, names in os.walk(folder) for name in names
            if not place.startswith(but)}


def begin(heddle, course, scratch):
    """The two servers, each in a folder of its own."""
    ours = os.path.join(scratch, "course")
    for place in ("05-first-kernels", "include"):
        shutil.copytree(os.path.join(course, place), os.path.join(ours, place))
    shutil.copy(os.path.join(course, "GLOSSARY.md"), ours)
    environment = dict(os.environ, HEDDLE_COURSE=ours, HOME=scratch)
    learning, serving = os.path.join(scratch, "learning"), os.path.join(scratch, "serving")
    os.mkdir(serving)
    subprocess.run([heddle, "learn", "init", learning], env=environment, check=True, capture_output=True)
    subprocess.run([heddle, "train", "--data", "synth:count=200", "--epochs", "1", "--quiet"], cwd=serving, env=environment,
                   check=True, capture_output=True)
    return (Server([heddle, "learn", "--web"], learning, environment, "/v1/learn/course", LEARN),
            Server([heddle, "serve"], serving, environment, "/v1/status", SERVE))


def watch(servers, until, tally, faults):
    """Asks each server something plain, until the time is up or something is wrong."""
    told = time.monotonic()
    while time.monotonic() < until and not faults:
        for server in servers:
            try:
                status, _ = server.ask("GET", server.probe)
            except OSError as failure:
                faults.append(f"{server.probe} is not answered: {failure}")
                return
            if status not in (200, 429):
                faults.append(f"{server.probe} is answered with {status}")
            if server.process.poll() is not None:
                faults.append(f"{server.probe}: the server ended by itself")
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print(f"{sum(tally.values())} sent; servers of {' and '.join(str(one.size()) for one in servers)} MiB", flush=True)
        time.sleep(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("heddle", type=os.path.abspath)
    parser.add_argument("course", type=os.path.abspath)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have us ignore it, and the servers with us
    print(f"seed {options.seed}", flush=True)
    tally, faults, scratch = collections.Counter(), [], tempfile.mkdtemp()
    servers = begin(options.heddle, options.course, scratch)
    outside = snapshot(scratch, tuple(one.folder for one in servers))
    until = time.monotonic() + 60 * options.minutes
    clients = [Client(server, f"{options.seed}/{server.probe}/{index}", until, tally, faults)
               for server in servers for index in range(CLIENTS)]
    for client in clients:
        client.start()
    try:
        watch(servers, until, tally, faults)
    except KeyboardInterrupt:
        faults.append("interrupted")
    for client in clients:
        client.join(PATIENCE)
    for server in servers:
        faults += server.end()
    # What a command keeps for itself below HOME is not the clients' doing.
    changed = snapshot(scratch, (*(one.folder for one in servers), os.path.join(scratch, "."))) ^ {
        name for name in outside if not name.startswith(os.path.join(scratch, "."))}
    faults += [f"written outside: {name}" for name in changed]
    print(f"{sum(tally.values())} sent: {', '.join(f'{key}: {count}' for key, count in sorted(tally.items(), key=str))}")
    print("\n".join(faults) if faults else "nothing wrong")
    shutil.rmtree(scratch)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
