"""Models written in plain torch: a convolutional network with batch norm, a small GPT, an MLP."""
import torch
from recording import export, seeded, tokens
from torch import nn
from torch.nn import functional as F


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, padding=1, groups=2, bias=False)
        self.second_norm = nn.BatchNorm2d(outputs)
        self.side = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
        self.side_norm = nn.BatchNorm2d(outputs)

    def forward(self, x):
        y = F.relu(self.first_norm(self.first(x)))
        return F.relu(self.second_norm(self.second(y)) + self.side_norm(self.side(x)))


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 5, stride=2, padding=2, bias=False)
        self.norm = nn.BatchNorm2d(16)
        self.blocks = nn.Sequential(Residual(16, 24, 1), Residual(24, 32, 2))
        self.classifier = nn.Linear(32, 10)

    def forward(self, image):
        x = F.max_pool2d(F.relu(self.norm(self.stem(image))), 3, 2, padding=1)
        return self.classifier(self.blocks(x).mean((2, 3)))


class Block(nn.Module):
    """Pre-norm decoder block; the causal mask is a Where, queries, keys and values are one product cut by slices."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.attention_norm, self.mlp_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x, visible):
        batch, length, width = x.shape
        head = width // self.heads
        q, k, v = self.qkv(self.attention_norm(x)).view(batch, length, 3, self.heads, head).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-1, -2) / head**0.5).masked_fill(~visible, float("-inf"))
        x = x + self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.mlp_norm(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, vocabulary=96, width=64, heads=4, layers=2, positions=32):
        super().__init__()
        self.embed_tokens, self.embed_positions = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, input_ids):
        place = torch.arange(input_ids.shape[1])
        x = self.embed_tokens(input_ids) + self.embed_positions(place)
        for block in self.blocks:
            x = block(x, place[:, None] >= place[None])
        return self.head(self.norm(x))


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.classifier = nn.Linear(48, 96), nn.Linear(96, 10)

    def forward(self, features):
        return self.classifier(F.gelu(self.hidden(features)))


def make():
    draw = torch.Generator().manual_seed(101)
    images = [{"image": torch.randn(n, 3, 33, 33, generator=draw)} for n in (2, 5)]
    export("cnn-tiny-unfolded", seeded(Cnn(), 1), images, ["logits"], {"image": {0: "batch"}}, optimize=False)
    features = [{"features": torch.randn(n, 48, generator=draw)} for n in (4, 32)]
    export("mlp-train", seeded(Mlp(), 2), features, ["logits"], {"features": {0: "batch"}}, optimize=False)
    text = [{"input_ids": tokens(3, 2, 9, 96)}, {"input_ids": tokens(4, 4, 16, 96)}]
    export("gpt-tiny-train", seeded(Gpt(), 3), text, ["logits"], {"input_ids": {0: "batch", 1: "sequence"}}, optimize=False)
