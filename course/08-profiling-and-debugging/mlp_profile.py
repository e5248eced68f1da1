# needs: torch
"""Profiles one training step of a network of ten 2048-wide layers.

    python3 mlp_profile.py                      PyTorch's own profiler: a table, and trace.json for ui.perfetto.dev
    nsys profile --capture-range=cudaProfilerApi -o mlp python3 mlp_profile.py --nvtx
    ncu --profile-from-start off -k regex:gemm -c 1 --set full python3 mlp_profile.py --nvtx

Without a GPU it runs on the CPU. The rows are the same, only the kernels are missing.
"""
import argparse
import contextlib

import torch

LAYERS, WIDTH, BATCH = 10, 2048, 1024
WARM_UP, STEPS = 3, 5


def make_network(device):
    layers = []
    for _ in range(LAYERS):
        layers += [torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers).to(device)


def step(network, optimizer, x, target, name):
    with name("forward"):
        loss = torch.nn.functional.mse_loss(network(x), target)
    with name("backward"):
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
    with name("update"):
        optimizer.step()


def profile_with_torch(run, device):
    activities = [torch.profiler.ProfilerActivity.CPU]
    if device == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    with torch.profiler.profile(activities=activities, record_shapes=True) as profiler:
        run(torch.profiler.record_function)
    profiler.export_chrome_trace("trace.json")
    print(profiler.key_averages().table(sort_by=f"self_{device}_time_total", row_limit=12))


def profile_from_outside(run):
    """Marks where nsys and ncu should look, and names the phases for them."""
    @contextlib.contextmanager
    def name(text):
        torch.cuda.nvtx.range_push(text)
        yield
        torch.cuda.nvtx.range_pop()

    torch.cuda.cudart().cudaProfilerStart()
    run(name)
    torch.cuda.cudart().cudaProfilerStop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvtx", action="store_true", help="mark the steps for nsys and ncu; needs a GPU")
    parser.add_argument("--batch", type=int, default=BATCH)
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    network = make_network(device)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    x, target = torch.randn(2, options.batch, WIDTH, device=device)

    def run(name, steps=STEPS):
        for _ in range(steps):
            step(network, optimizer, x, target, name)
        if device == "cuda":
            torch.cuda.synchronize()  # otherwise the profile ends while kernels are still queued

    run(lambda text: contextlib.nullcontext(), WARM_UP)
    if options.nvtx:
        profile_from_outside(run)
    else:
        profile_with_torch(run, device)


if __name__ == "__main__":
    main()
