"""Every test with a `device` runs on the CPU, and on the GPU where PyTorch has one."""
import pytest
import torch

import heddle_torch  # noqa: F401  registers torch.ops.heddle

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


def pytest_generate_tests(metafunc):
    if "device" in metafunc.fixturenames:
        metafunc.parametrize("device", DEVICES)


@pytest.fixture(autouse=True)
def start():
    torch.manual_seed(1)
    torch.backends.cudnn.allow_tf32 = False  # results are compared with float64
    torch._dynamo.reset()
