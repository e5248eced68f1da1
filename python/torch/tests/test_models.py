"""Models from PyTorch to heddle and back: the same numbers, or a refusal that names the submodule."""
import json
import os
import struct
import subprocess
import zlib

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import heddle_torch
from heddle_torch import Refused, from_torch, to_torch

BUILD = os.environ.get("HEDDLE_BUILD", "")
NEAR = 1e-5


class Residual(nn.Module):
    """As people write them: a projection where the size changes, relu behind the sum."""

    def __init__(self, before, after, stride, name_of_sum="+"):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after)
        self.conv2, self.norm2 = nn.Conv2d(after, after, 3, 1, 1, bias=False), nn.BatchNorm2d(after)
        self.shortcut = nn.Sequential()
        if stride > 1 or before != after:
            self.shortcut = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))
        self.sum = name_of_sum

    def forward(self, x):
        y = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
        if self.sum == "in place":
            y += self.shortcut(x)
            return F.relu(y)
        return F.relu(torch.add(self.shortcut(x), y) if self.sum == "torch.add" else y + self.shortcut(x))


class Functional(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.one, self.two = nn.Conv2d(1, 4, 5, padding="same"), nn.Linear(4 * 49, 16), nn.Linear(16, 10)

    def forward(self, x):
        x = F.max_pool2d(torch.tanh(self.conv(x)), 2)
        x = F.avg_pool2d(x, 2).relu()
        x = torch.flatten(x, 1)
        return self.two(F.dropout(F.gelu(self.one(x)), 0.5, self.training))


class Viewed(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(28 * 28, 10)

    def forward(self, x):
        return self.linear(x.view(x.size(0), -1))


def stack(*layers):
    return nn.Sequential(*layers)


MODELS = {
    "linear": ((1, 28, 28), lambda: stack(nn.Flatten(), nn.Linear(784, 10))),
    "cnn": ((1, 28, 28), lambda: stack(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1),
        nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(784, 32), nn.ReLU(),
        nn.Linear(32, 10))),
    "lenet": ((1, 28, 28), lambda: stack(
        nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh(), nn.AvgPool2d(2),
        nn.Flatten(), nn.Linear(400, 84), nn.Tanh(), nn.Linear(84, 10))),
    "groups": ((4, 12, 12), lambda: stack(
        nn.Conv2d(4, 8, 3, stride=2, padding=1, groups=4), nn.SiLU(),
        nn.Conv2d(8, 8, 3, padding=2, dilation=2, groups=8), nn.Softplus(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))),
    "norms": ((2, 6, 6), lambda: stack(
        nn.LayerNorm((2, 6, 6)), nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4, affine=False), nn.ELU(), nn.Flatten(),
        nn.LayerNorm(64), nn.Dropout(0.3), nn.Identity(), nn.Linear(64, 7, bias=False))),
    "pools": ((3, 13, 11), lambda: stack(
        nn.Conv2d(3, 5, 3), nn.Sigmoid(), nn.MaxPool2d(3, 2, 1), nn.AvgPool2d(3, 1, 1, count_include_pad=False),
        nn.GELU(), nn.Flatten(), nn.Linear(150, 3), nn.LogSoftmax(1))),
    "residuals": ((3, 16, 16), lambda: stack(
        nn.Conv2d(3, 8, 3, padding=1), Residual(8, 8, 1), Residual(8, 16, 2, "torch.add"),
        Residual(16, 16, 1, "in place"), nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Linear(16, 10))),
    "functional": ((1, 28, 28), Functional),
    "viewed": ((1, 28, 28), Viewed),
}


def made(name):
    """In evaluation mode, with statistics that matter."""
    shape, make = MODELS[name]
    module = make().train()
    with torch.no_grad():
        for _ in range(3):
            module(torch.rand(8, *shape))
        for one in module.modules():
            if isinstance(one, nn.BatchNorm2d) and one.affine:
                one.weight.uniform_(0.5, 1.5)
                one.bias.normal_()
    return shape, module.eval()


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_as_it_was(name, tmp_path):
    shape, module = made(name)
    path = tmp_path / "model.safetensors"
    document = from_torch(module, path, input=shape)
    assert json.loads(json.dumps(document))["layers"]
    x = torch.rand(5, *shape)
    again = to_torch(path)
    assert not again.training
    assert torch.allclose(again(x), module(x), atol=NEAR, rtol=0)


def png(path, image):
    """Bytes (channels, height, width) as a PNG file."""
    channels, height, width = image.shape
    rows = b"".join(b"\0" + image[:, y].t().contiguous().numpy().tobytes() for y in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(
            ">IIBBBBB", width, height, 8, {1: 0, 3: 2}[channels], 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


@pytest.mark.skipif(not os.path.exists(os.path.join(BUILD, "heddle")), reason="HEDDLE_BUILD names no heddle command")
@pytest.mark.parametrize("name", [one for one in MODELS if MODELS[one][0][0] in (1, 3)])
def test_heddle_predicts_what_pytorch_does(name, tmp_path):
    shape, module = made(name)
    checkpoint = tmp_path / "model.safetensors"
    from_torch(module, checkpoint, input=shape)
    images = torch.randint(0, 256, (3, *shape), dtype=torch.uint8)
    files = [str(tmp_path / ("%d.png" % number)) for number in range(len(images))]
    for file, image in zip(files, images):
        png(file, image)
    done = subprocess.run([os.path.join(BUILD, "heddle"), "predict", str(checkpoint), *files, "--device", "cpu",
                           "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with torch.no_grad():
        expected = F.softmax(module(images.float() / 255), 1)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    rows = [row for row in rows if "probabilities" in row]
    assert len(rows) == len(images)
    for row, wanted in zip(rows, expected):
        got = torch.tensor(row["probabilities"])
        assert torch.allclose(got, wanted, atol=NEAR, rtol=0), (got, wanted)


REFUSALS = {
    "softmax": (stack(nn.Flatten(), nn.Linear(784, 10), nn.Softmax(1)), "2: heddle has no layer for Softmax"),
    "inside": (stack(nn.Conv2d(1, 4, 3), stack(nn.ReLU(), nn.ConvTranspose2d(4, 4, 3))),
               "1.1: heddle has no layer for ConvTranspose2d"),
    "reflection": (stack(nn.Conv2d(1, 4, 3, padding=1, padding_mode="reflect"), nn.Flatten(), nn.Linear(3136, 10)),
                   "0: heddle has no padding_mode 'reflect'"),
    "oblong": (stack(nn.Conv2d(1, 4, (3, 5)), nn.Flatten(), nn.Linear(4, 10)), r"0: heddle has no kernel of \(3, 5\)"),
    "ceil": (stack(nn.MaxPool2d(3, ceil_mode=True), nn.Flatten(), nn.Linear(100, 10)), "0: heddle has no ceil_mode"),
    "padding": (stack(nn.AvgPool2d(3, 1, 1), nn.Flatten(), nn.Linear(784, 10)),
                "0: heddle has no average over padding"),
    "no statistics": (stack(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4, track_running_stats=False), nn.Flatten(),
                            nn.Linear(4, 10)), "1: heddle has no batchnorm without running statistics"),
    "approximate": (stack(nn.Flatten(), nn.Linear(784, 10), nn.GELU("tanh"), nn.Linear(10, 10)),
                    "2: heddle has no approximate gelu"),
    "sizes": (stack(nn.Flatten(), nn.Linear(100, 10)), "1: its weight is"),
    "no linear": (stack(nn.Flatten(), nn.ReLU()), "ends with a linear layer"),
    "images": (stack(nn.Flatten(), nn.Conv2d(1, 2, 3), nn.Linear(3, 10)), "do not fit an image"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_heddle_lacks_is_refused_by_name(name, tmp_path):
    module, message = REFUSALS[name]
    with pytest.raises(Refused, match=message):
        from_torch(module, tmp_path / "x.safetensors")
    assert not os.listdir(tmp_path)


class Branch(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(784, 10)

    def forward(self, x):
        return self.linear(x.flatten(1)) if x.sum() > 0 else x


class Doubled(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.linear, self.function = nn.Linear(784, 10), function

    def forward(self, x):
        return self.function(self.linear(x.flatten(1)))


@pytest.mark.parametrize("module, message", [
    (Branch(), "cannot be traced by torch.fx"), (Doubled(lambda x: x + x), "added to itself"),
    (Doubled(lambda x: x + 1), "only two branches"), (Doubled(lambda x: x * 2), "no layer for this function"),
    (Doubled(lambda x: (x, x)), "gives a tuple"), (Doubled(lambda x: x.cumsum(1)), "no layer for this method")],
    ids=["branch", "doubled", "plus one", "times two", "two results", "method"])
def test_graphs_that_are_no_model_are_refused(module, message):
    with pytest.raises(Refused, match=message):
        from_torch(module)


def test_weights_that_are_not_finite_are_refused(tmp_path):
    module = stack(nn.Flatten(), nn.Linear(784, 10))
    with torch.no_grad():
        module[1].weight[0, 0] = float("nan")
    with pytest.raises(Refused, match="1: has numbers that are not finite"):
        from_torch(module, tmp_path / "x.safetensors")


def test_files_that_are_no_checkpoint_are_refused(tmp_path):
    path = tmp_path / "x.safetensors"
    with pytest.raises(ValueError, match="cannot be read"):
        to_torch(path)
    for content in (b"", b"short", b"\xff" * 64, struct.pack("<Q", 2) + b"{}"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="x.safetensors: "):
            to_torch(path)
    from_torch(stack(nn.Flatten(), nn.Linear(784, 10)), path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match="x.safetensors: "):
        to_torch(path)


def test_nothing_of_the_shared_code_is_left_in_the_way():
    import sys
    assert heddle_torch.from_torch and not {"model_file", "network_torch", "result_file"} & set(sys.modules)
