"""Stops `heddle train` in a terminal the ways people do. Ctrl-C, SIGTERM and closing the terminal finish the step and
save; resuming then ends in the same bits as a run that was never stopped. A second Ctrl-C ends it at once. What the
caller ignores, as nohup does, stays ignored.

    interrupt.py HEDDLE
"""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # nothing is left in the source tree
from terminal import Terminal  # noqa: E402

BATCH = "16"
TRAIN = ["train", "--data", "synth:count=640", "--model", "cnn", "--epochs", "2", "--batch", BATCH, "--threads", "1"]


def fail(text):
    sys.exit(f"interrupt.py: {text}")


def expect(condition, what, terminal):
    if not condition:
        fail(f"{what}:\n{terminal.text()}")


def run(heddle, *arguments):
    done = subprocess.run([heddle, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        fail(f"heddle {' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def resume_and_compare(heddle, folder, whole, how):
    said = run(heddle, "train", "--out", str(folder), "--resume", "--batch", BATCH)  # unchanged: no reason to refuse
    if "resumed at epoch" not in said:
        fail(f"{how}: nothing was left to resume\n{said}")
    for name in ("last.safetensors", "best.safetensors"):
        if (folder / name).read_bytes() != (whole / name).read_bytes():
            fail(f"{how}: {name} differs from that of the run that was never stopped")


def changed_setting_refused(heddle, folder):
    done = subprocess.run([heddle, "train", "--out", str(folder), "--resume", "--batch", "32"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 2 or done.stdout != "heddle: --batch cannot change while resuming; leave it out\n":
        fail(f"another batch while resuming: exit code {done.returncode}\n{done.stdout}")


def stopped_gently(heddle, folder, whole, how, number, stop):
    terminal = Terminal(heddle, [*TRAIN, "--out", str(folder), "--folder", str(folder.parent)])
    terminal.wait_for("epoch 1/2")
    stop(terminal)
    code = terminal.end()
    expect(code == 128 + number, f"{how}: exit code {code}, not {128 + number}", terminal)
    for text in ("finishing the step and saving", "stopped on request at epoch", "saved, resume to go on",
                 f"heddle train --out {folder} --resume --folder {folder.parent}"):
        expect(text in terminal.text(), f"{how}: '{text}' is not said", terminal)
    expect(("Ctrl-C again" in terminal.text()) == (number == signal.SIGINT), f"{how}: who stops it is told of a key", terminal)
    resume_and_compare(heddle, folder, whole, how)


def terminal_closed(heddle, folder, whole):
    terminal = Terminal(heddle, [*TRAIN, "--out", str(folder)])
    terminal.wait_for("epoch 1/2")
    os.close(terminal.terminal)
    code = terminal.wait()
    expect(code == 128 + signal.SIGHUP, f"closing the terminal: exit code {code}", terminal)
    resume_and_compare(heddle, folder, whole, "closing the terminal")


def hangup_ignored(heddle, folder, whole):
    terminal = Terminal(heddle, [*TRAIN, "--out", str(folder)], ignore_hangup=True)
    terminal.wait_for("epoch 1/2")
    os.kill(terminal.child, signal.SIGHUP)
    code = terminal.end()
    expect(code == 0, f"an ignored SIGHUP: exit code {code}, not 0", terminal)
    if (folder / "last.safetensors").read_bytes() != (whole / "last.safetensors").read_bytes():
        fail("an ignored SIGHUP: last.safetensors differs")


def stopped_at_once(heddle, folder):
    terminal = Terminal(heddle, [*TRAIN, "--epochs", "1000", "--out", str(folder)])
    terminal.wait_for("epoch 1/1000")
    os.write(terminal.terminal, b"\x03\x03")
    code = terminal.end()
    expect(code == 130, f"Ctrl-C twice: exit code {code}", terminal)
    run(heddle, "predict", str(folder / "last.safetensors"), "--index", "0")


SPIN = """
#include <cstdio>
__global__ void spin(int *flag) { while (atomicAdd(flag, 0) == 0) { } }
int main() { int *flag; cudaMalloc(&flag, 4); cudaMemset(flag, 0, 4); puts("spins"); fflush(stdout);
             spin<<<1, 1>>>(flag); return cudaDeviceSynchronize(); }
"""


def slow_server():
    """An address that takes a request and then sends a byte now and then."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve():
        connection = listening.accept()[0]
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9912422\r\n\r\n")
        try:
            while True:
                connection.sendall(b"x" * 1000)
                time.sleep(0.05)
        except OSError:
            pass

    threading.Thread(target=serve, daemon=True).start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}/"


def everywhere(heddle, folder):
    """Every command that takes its time ends with 130 after Ctrl-C, and keeps what it has."""
    run(heddle, *TRAIN, "--model", "mlp", "--out", str(folder / "run"), "--quiet")
    with open(folder / "spin.cu", "w", encoding="utf-8") as file:
        file.write(SPIN)
    part = folder / "mnist" / "train-images-idx3-ubyte.gz.part"
    results = folder / "results.json"
    modules = folder / "modules"
    modules.mkdir()
    (modules / "libheddle-cupti.so").touch()
    rows = ["--model", "mlp", "--data", "synth:count=100", "--batch", "20", "--device", "cpu", f"--json={results}"]
    for words, said, environment in (
            (["eval", str(folder / "run"), "--data", "synth:count=50000", "--device", "cpu", "--kernels",
             "naive", "--batch", "1"], None, {}),
            (["predict", str(folder / "run"), "--data", "synth:count=50000", "--split", "train", "--count", "50000",
             "--batch", "1", "--kernels", "naive", "--device", "cpu"], "image 1:", {}),
            (["bench", "train", *rows, "--seconds", "0.001", "--kernels", "fused,naive", "--sustained", "1000"],
             "batch 20, ", {}),
            (["bench", "add_forward", "--device", "cpu", "--seconds", "100", "--shape", "n=1000"], "cpu_naive", {}),
            (["pipeline", "--device", "cpu", "--batches", "64", "--bytes", "64K", "--work", "100000", "--rounds", "99"],
             None, {}),
            (["data", "get", "mnist", "--to", str(folder), "--mirror", slow_server()], "train-images", {}),
            (["trace", "--", "sh", "-c", "echo traced; exec sleep 100"], "traced", {"HEDDLE_MODULES": str(modules)}),
            (["check", str(folder / "spin.cu"), "--timeout", "1000"], "spins", {})):
        if words[0] == "check" and not (pathlib.Path(heddle).parent / "libheddle-sim.so").exists():
            continue
        os.environ.update(environment)
        terminal = Terminal(heddle, words)
        for name in environment:
            del os.environ[name]
        if said:
            terminal.wait_for(said)
        else:
            time.sleep(0.3)
        while words[0] == "data" and not (part.exists() and part.stat().st_size > 0):
            time.sleep(0.01)
        os.write(terminal.terminal, b"\x03")
        code = terminal.end()
        expect(code == 130, f"{' '.join(words[:2])}: exit code {code}, not 130", terminal)
    if not part.exists() or part.stat().st_size == 0:
        fail("data get: what was fetched before Ctrl-C is gone")


def main():
    if len(sys.argv) != 2:
        fail("usage: interrupt.py HEDDLE")
    heddle = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="heddle-interrupt-") as name:
        folder = pathlib.Path(name)
        whole = folder / "whole"
        run(heddle, *TRAIN, "--out", str(whole), "--quiet")
        stopped_gently(heddle, folder / "ctrl-c", whole, "Ctrl-C", signal.SIGINT,
                       lambda one: os.write(one.terminal, b"\x03"))
        stopped_gently(heddle, folder / "term", whole, "SIGTERM", signal.SIGTERM,
                       lambda one: os.kill(one.child, signal.SIGTERM))
        terminal_closed(heddle, folder / "closed", whole)
        hangup_ignored(heddle, folder / "ignored", whole)
        stopped_at_once(heddle, folder / "twice")
        changed_setting_refused(heddle, whole)
        everywhere(heddle, folder)
    print("Ctrl-C, SIGTERM and a closed terminal save; resuming gives the same bits; Ctrl-C is 130 everywhere")


if __name__ == "__main__":
    main()
