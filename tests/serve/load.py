#!/usr/bin/env python3
"""Loads `heddle serve` on this machine, and FastAPI with PyTorch beside it; run by hand, as it asserts times.

    tests/serve/load.py build/heddle [--json results/serve-cpu.json] [--peer PYTHON] [--seconds 60] [--rounds 5]

64 connections ask /v1/predict as fast as they are answered: the peak rate; memory and open files before and after. Then
requests become due at half that rate, whatever the server does: the times count from when they were due. Every answer is
checked. PYTHON is one that has fastapi, uvicorn[standard], orjson, torch and numpy: peers/serve_fastapi.py answers the
same requests with the same weights, with 1 worker of 1 or 2 threads and with 2 workers of 1 thread, each with and without
batching and TorchScript; its fastest mode then takes turns with heddle. 2 workers of 2 threads and torch.compile are left
out. scripts/serve-docs makes the page. What else used the cores meanwhile is measured, too: figures of a busy machine are
worth little, and `nice -n -5` before the command gives server, peer and client alike precedence.
"""

import argparse
import base64
import datetime
import itertools
import http.client
import json
import os
import platform
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "peers"))
import result_file  # noqa: E402

CONNECTIONS = 64
STREAMS = 1000
REQUESTS = 200  # different ones, in turn
WARM_UP = 5  # seconds
MODE_SECONDS = 4  # for each mode of the peer, of which the fastest goes on
PATIENCE = 120
MOST_GROWTH = 10  # bytes of resident memory per request
HEARTBEAT = 15  # seconds between two on a stream
PEER_PORT = 8931


class Process:
    """A server, and what it has used of the machine."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, **options)
        self.port = self.token = None

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=PATIENCE)
        self.process.stdout.close()

    def family(self):
        """Its own id and those of its children."""
        found = [self.process.pid]
        for pid in filter(str.isdigit, os.listdir("/proc")):
            fields = stat_of(pid)
            if fields and int(fields[1]) in found:
                found.append(int(pid))
        return found

    def seconds(self):
        return sum(sum(map(int, fields[11:13])) for fields in map(stat_of, self.family()) if fields) / tick()

    def memory(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def tick():
    return os.sysconf("SC_CLK_TCK")


def stat_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()
    except OSError:
        return None


def busy_seconds():
    """Of all cores, whoever used them."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = list(map(int, file.readline().split()[1:9]))
    return (sum(fields) - fields[3] - fields[4]) / tick()


def begin_heddle(heddle, folder):
    server = Process([heddle, "serve", "--device", "cpu", "runs/load"], cwd=folder)
    for line in server.process.stdout:
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})", line)
        if found:
            server.port, server.token = int(found.group(1)), found.group(2)
            return server
    sys.exit("load.py: heddle serve did not start; its message stands above")


def begin_peer(python, folder, mode):
    server = Process([python, os.path.join(ROOT, "peers", "serve_fastapi.py"),
                      os.path.join(folder, "runs", "load", "best.safetensors"), "--port", str(PEER_PORT), *mode.split()],
                     stderr=subprocess.PIPE)
    server.port, server.token = PEER_PORT, "none"
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and server.process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", PEER_PORT), timeout=1).close()
            time.sleep(1)  # its other workers
            return server
        except OSError:
            time.sleep(0.1)
    sys.exit("load.py: the peer did not start: " + server.process.stderr.read()[-500:])


def write_requests(server, path):
    """Test images, and the class that heddle answers with; returns the size of a body."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}

    def ask(method, address, body=None):
        connection.request(method, address, body, headers)
        return json.loads(connection.getresponse().read())

    sizes = []
    with open(path, "w", encoding="ascii") as file:
        for index in range(REQUESTS):
            pixels = list(base64.b64decode(ask("GET", f"/v1/images/{index}")["pixels"]))
            body = json.dumps({"image": pixels}, separators=(",", ":"))
            sizes.append(len(body))
            answer = ask("POST", "/v1/predict", body)["predictions"][0]["class"]
            file.write(f"{answer} {body}\n")
    connection.close()
    return round(statistics.mean(sizes))


class Client:
    def __init__(self, folder):
        self.program, self.requests = os.path.join(folder, "client"), os.path.join(folder, "requests")
        subprocess.run(["cc", "-O2", os.path.join(HERE, "load", "client.c"), "-o", self.program], check=True)

    def load(self, server, seconds, rate=0.0):
        """One run. "others": how many cores other programs used meanwhile, on average."""
        before = busy_seconds() - server.seconds() - sum(os.times()[2:4])
        begin = time.monotonic()
        done = subprocess.run([self.program, str(server.port), server.token, self.requests, str(CONNECTIONS),
                               str(seconds), str(rate)], stdout=subprocess.PIPE, text=True)
        lasted = time.monotonic() - begin
        if done.returncode:
            sys.exit(f"load.py: the load failed: {done.stdout}")
        others = busy_seconds() - server.seconds() - sum(os.times()[2:4]) - before
        return {**json.loads(done.stdout), "others": round(max(0.0, others) / lasted, 2)}


def hold_streams(server):
    streams = []
    for _ in range(STREAMS):
        one = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        one.sendall(f"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                    f"Authorization: Bearer {server.token}\r\n\r\n".encode())
        streams.append(one)
    for one in streams:
        if b"200 OK" not in one.recv(4096):
            sys.exit("load.py: a stream of events was refused")
    return streams


def drain(stream):
    """Reads what has arrived. False: the stream was cut."""
    stream.setblocking(False)  # MSG_DONTWAIT alone waits: Python polls first where a timeout is set
    try:
        while stream.recv(1 << 16):
            pass
        return False
    except BlockingIOError:
        return True
    except OSError:
        return False


def count_alive(streams):
    """Those that get a further heartbeat. The ones they have got already are read first, as they would hide a cut."""
    alive = [one for one in streams if drain(one)]
    end = time.monotonic() + 2 * HEARTBEAT
    count = 0
    for one in alive:
        one.settimeout(max(0.01, end - time.monotonic()))
        try:
            count += bool(one.recv(4096))
        except OSError:
            pass
    for one in streams:
        one.close()
    return count


def long_run(client, server, seconds):
    """Peak, memory, files; then half of the peak with streams held."""
    client.load(server, WARM_UP)
    time.sleep(1)
    before = server.memory(), server.files()
    peak = client.load(server, seconds)
    time.sleep(1)
    after = server.memory(), server.files()
    print("peak       ", peak, before, after, flush=True)
    half = client.load(server, seconds, peak["rate"] / 2)
    print("half       ", half, flush=True)
    streams = hold_streams(server)
    beside = client.load(server, seconds, peak["rate"] / 2)
    alive = count_alive(streams)
    print("and streams", beside, alive, flush=True)
    if alive != STREAMS or after[1] != before[1] or after[0] - before[0] > MOST_GROWTH * peak["requests"]:
        sys.exit("load.py: a stream was cut, or memory or open files grew")
    return {"peak": peak, "half": half, "half_with_streams": beside, "streams": alive,
            "memory_before": before[0], "memory_after": after[0], "files_before": before[1], "files_after": after[1]}


def peer_modes():
    for workers, batching, script in itertools.product((1, 2), ("", " --batching"), ("", " --script")):
        for threads in (1, 2) if workers == 1 else (1,):
            yield f"--workers {workers} --threads {threads}{batching}{script}"


def compare(arguments, client, folder):
    """Each mode of the peer once; then the fastest and heddle in turn, and every other round in the other order."""
    modes = []
    for mode in peer_modes():
        server = begin_peer(arguments.peer, folder, mode)
        client.load(server, 1)
        modes.append({"mode": mode, **client.load(server, MODE_SECONDS)})
        server.end()
        print("peer", modes[-1], flush=True)
    fastest = max(modes, key=lambda one: one["rate"])["mode"]
    rounds = []
    for index in range(arguments.rounds):
        pair = {}
        for name in ("heddle", "peer") if index % 2 == 0 else ("peer", "heddle"):
            server = begin_peer(arguments.peer, folder, fastest) if name == "peer" else begin_heddle(arguments.heddle, folder)
            client.load(server, 2)
            pair[name] = client.load(server, arguments.seconds / 6)
            server.end()
        rounds.append(pair)
        print("round", pair["heddle"]["rate"], pair["peer"]["rate"], pair, flush=True)
    found = {name: statistics.median(one[name]["rate"] for one in rounds) for name in ("heddle", "peer")}
    versions = subprocess.run([arguments.peer, "-c", "import platform, fastapi, uvicorn, orjson, uvloop, torch; print("
                               "'Python', platform.python_version() + ', FastAPI', fastapi.__version__ + ', uvicorn', "
                               "uvicorn.__version__ + ', uvloop', uvloop.__version__ + ', orjson', orjson.__version__ + "
                               "', PyTorch', torch.__version__)"], stdout=subprocess.PIPE, text=True, check=True)
    return {"versions": versions.stdout.strip(), "modes": modes, "fastest": fastest, "rounds": rounds, **found,
            "ratio": statistics.median(one["heddle"]["rate"] / one["peer"]["rate"] for one in rounds)}


def machine():
    name = subprocess.run("lscpu | sed -n 's/^Model name: *//p'", shell=True, stdout=subprocess.PIPE, text=True).stdout
    return {"machine": f"Linux {platform.machine()}", "cpu": name.strip(), "cores": len(os.sched_getaffinity(0))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heddle")
    parser.add_argument("--json")
    parser.add_argument("--peer", metavar="PYTHON")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    arguments.heddle = os.path.abspath(arguments.heddle)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([arguments.heddle, "train", "--data", "synth:count=6000", "--model", "cnn", "--epochs", "2",
                        "--device", "cpu", "--quiet", "--out", "runs/load"], cwd=folder, check=True)
        client = Client(folder)
        server = begin_heddle(arguments.heddle, folder)
        size = write_requests(server, client.requests)
        version = subprocess.run([arguments.heddle, "--version"], stdout=subprocess.PIPE, text=True).stdout.split()[1]
        found = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"), "version": version,
                 **machine(), "model": "cnn", "body_bytes": size, "connections": CONNECTIONS,
                 "nice": os.nice(0),
                 "load": long_run(client, server, arguments.seconds)}
        server.end()
        if arguments.peer:
            found["fastapi"] = compare(arguments, client, folder)
    if arguments.json:
        result_file.save(arguments.json, found)


if __name__ == "__main__":
    main()
