"""What the tests of several ranks share: starting them with mpirun, a small network, and reading checkpoints."""

import json
import os
import pathlib
import struct
import subprocess


def environment():
    """mpirun refuses root and binds ranks to cores, of which there may be fewer; and a sanitized build would list MPI's
    leaks."""
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
            "ASAN_OPTIONS": "detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", "")}


def start(mpirun, ranks, *command):
    return subprocess.Popen([mpirun, "-n", str(ranks), *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=environment(), start_new_session=True)


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(), timeout=60)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def network_file(folder, channels=8):
    """A small network, `channels` behind its second convolution. Convolutions without bias: in front of a batchnorm its
    gradient is nothing but rounding, which AdamW makes large."""
    layers = []
    for count in (8, channels):
        layers += [{"type": "conv2d", "channels": count, "padding": 1, "bias": False}, {"type": "batchnorm2d"},
                   {"type": "relu"}, {"type": "maxpool2d"}]
    layers += [{"type": "flatten"}, {"type": "dropout", "probability": 0.2}, {"type": "linear", "features": "classes"}]
    path = pathlib.Path(folder, f"small-{channels}.json")
    path.write_text(json.dumps({"name": "small", "layers": layers}))
    return str(path)


def tensors(path):
    """The float32 tensors of a safetensors file, by name."""
    data = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    found = {}
    for name, about in json.loads(data[8:8 + size]).items():
        if name != "__metadata__" and about["dtype"] == "F32":
            begin, end = about["data_offsets"]
            found[name] = struct.unpack(f"<{(end - begin) // 4}f", data[8 + size + begin:8 + size + end])
    return found


def rank_processes(mpirun):
    """Process numbers by rank of a job whose mpirun this is."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if not entry.name.isdigit() or f"\nPPid:\t{mpirun.pid}\n" not in (entry / "status").read_text():
                continue
            for word in (entry / "environ").read_bytes().split(b"\0"):
                if word.startswith(b"OMPI_COMM_WORLD_RANK="):
                    found[int(word.split(b"=")[1])] = int(entry.name)
        except OSError:
            pass  # it has ended meanwhile
    return found
