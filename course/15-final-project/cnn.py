# needs: torch, and the four files of MNIST, unpacked, in the folder that is given
"""The network of cnn.cu in PyTorch, as one would write it: python3 cnn.py FOLDER"""
import sys

import numpy
import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"


def read(name, header, shape):
    values = numpy.fromfile(sys.argv[1] + "/" + name, dtype=numpy.uint8)[header:].reshape(shape)
    return torch.tensor(values, device=device)


def digits(part):
    images = read(part + "-images-idx3-ubyte", 16, (-1, 1, 28, 28)).float() / 255
    return images, read(part + "-labels-idx1-ubyte", 8, (-1,)).long()


def block(channels_in, channels_out):
    return nn.Sequential(
        nn.Conv2d(channels_in, channels_out, 3, padding=1),
        nn.BatchNorm2d(channels_out, track_running_stats=False),  # always the statistics of the batch at hand
        nn.ReLU(),
        nn.MaxPool2d(2),
    )


network = nn.Sequential(
    block(1, 32),
    block(32, 64),
    nn.Flatten(),
    nn.Linear(64 * 7 * 7, 128),
    nn.ReLU(),
    nn.Linear(128, 10),
).to(device)

optimizer = torch.optim.SGD(network.parameters(), lr=0.05)
loss_of = nn.CrossEntropyLoss()


def batches(images, labels):
    """Batches of 64, without a shorter last one, as in cnn.cu."""
    whole = len(images) // 64 * 64
    return list(zip(images[:whole].split(64), labels[:whole].split(64)))


def test(name):
    loss = correct = 0.0
    with torch.no_grad():
        for images, labels in testing:
            outputs = network(images)
            loss += loss_of(outputs, labels).item()
            correct += (outputs.argmax(1) == labels).float().mean().item()
    print("%s: loss %.4f, %.2f %% correct" % (name, loss / len(testing), 100 * correct / len(testing)))


training, testing = batches(*digits("train")), batches(*digits("t10k"))
test("before training")
for epoch in range(1, 4):
    for images, labels in training:
        loss = loss_of(network(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    test("epoch %d" % epoch)
