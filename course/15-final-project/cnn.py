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
images, labels = digits("train")
test_images, test_labels = digits("t10k")

for epoch in range(1, 4):
    for batch, answers in zip(images.split(64), labels.split(64)):
        loss = loss_of(network(batch), answers)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = sum((network(batch).argmax(1) == answers).sum().item()
                    for batch, answers in zip(test_images.split(64), test_labels.split(64)))
    print("epoch %d: loss %.4f, %.2f %% right" % (epoch, loss.item(), 100 * right / len(test_labels)))
