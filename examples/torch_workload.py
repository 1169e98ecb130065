# SPDX-License-Identifier: MIT
"""A small training job: a convolutional network learns to tell shapes apart.

    cunei run examples/torch_workload.py [--epochs N]

It runs on a GPU where there is one.  Images are drawn, not read, and every random
number comes from a seed, so that two runs call the same functions as often.

To compare two profilers (docs/explanation/validation.md), both measure the same part of
it, without the imports and compilations of PyTorch's first use:

    python examples/torch_workload.py --cunei DIRECTORY
    python examples/torch_workload.py --cprofile FILE
"""

import argparse
import cProfile

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIDE = 32
SHAPES = ("disc", "square", "cross")


class Shapes(Dataset):
    """Images of one shape each, drawn when they are asked for."""

    def __init__(self, count):
        self.count = count
        line = torch.arange(SIDE, dtype=torch.float32)
        self.y, self.x = torch.meshgrid(line, line, indexing="ij")

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        label = index % len(SHAPES)
        generator = torch.Generator().manual_seed(index)
        y, x, size = (6 + 20 * torch.rand(3, generator=generator)).tolist()
        return self.draw(SHAPES[label], y, x, 2 + size / 5).unsqueeze(0), label

    def draw(self, shape, y, x, size):
        down, right = (self.y - y).abs(), (self.x - x).abs()
        if shape == "disc":
            return (down**2 + right**2 <= size**2).float()
        if shape == "square":
            return (torch.maximum(down, right) <= size).float()
        return (torch.minimum(down, right) <= size / 3).float()


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            *self.block(1, 16), *self.block(16, 32), *self.block(32, 64)
        )
        self.classes = nn.Linear(64 * (SIDE // 8) ** 2, len(SHAPES))

    @staticmethod
    def block(inputs, outputs):
        yield nn.Conv2d(inputs, outputs, 3, padding=1)
        yield nn.BatchNorm2d(outputs)
        yield nn.ReLU()
        yield nn.MaxPool2d(2)

    def forward(self, images):
        return self.classes(self.features(images).flatten(1))


def load_data(count, batch_size):
    return DataLoader(Shapes(count), batch_size=batch_size)


def move_batch(images, labels, device):
    return images.to(device), labels.to(device)


def forward_pass(network, images, labels):
    scores = network(images)
    return nn.functional.cross_entropy(scores, labels), scores


def backward_pass(loss, optimizer):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def train_step(network, optimizer, images, labels):
    loss, scores = forward_pass(network, images, labels)
    backward_pass(loss, optimizer)
    return loss.item(), (scores.argmax(1) == labels).sum().item()


def train_epoch(network, optimizer, data, device):
    total, right = 0.0, 0
    for images, labels in data:
        images, labels = move_batch(images, labels, device)
        loss, hits = train_step(network, optimizer, images, labels)
        total += loss * len(labels)
        right += hits
    return total / len(data.dataset), right / len(data.dataset)


def run_workload(epochs, count=1536, batch_size=64):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network = Network().to(device)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    data = load_data(count, batch_size)
    for epoch in range(epochs):
        loss, accuracy = train_epoch(network, optimizer, data, device)
        print(f"epoch {epoch + 1}: loss {loss:.3f}, {accuracy:.1%} right, on {device}")


def main():
    parser = argparse.ArgumentParser(description="A training job to be profiled.")
    parser.add_argument("--epochs", type=int, default=10, metavar="N")
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--cunei", metavar="DIRECTORY", help="record the second run")
    one.add_argument("--cprofile", metavar="FILE", help="profile the second run")
    options = parser.parse_args()
    if options.cunei or options.cprofile:
        run_workload(1)
    if options.cunei:
        import cunei

        with cunei.recording(options.cunei, c_calls=True):
            run_workload(options.epochs)
    elif options.cprofile:
        with cProfile.Profile() as profile:
            run_workload(options.epochs)
        profile.dump_stats(options.cprofile)
    else:
        run_workload(options.epochs)


if __name__ == "__main__":
    main()
