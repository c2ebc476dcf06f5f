# SPDX-License-Identifier: Apache-2.0
"""A small decoder under torch.compile, trained for some steps: decoder.py MODE STEPS prints one JSON object."""
import json
import sys
import time

BEGIN = time.time()
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

WIDTH, HEADS, LAYERS, VOCABULARY, LENGTH, BATCH = 512, 8, 3, 8192, 512, 8


class RmsNorm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6).to(x.dtype) * self.weight


def rotate(x, angles):
    first, second = x.chunk(2, -1)
    return torch.cat((first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()), -1).to(x.dtype)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = RmsNorm(), RmsNorm()
        self.qkv = torch.nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = torch.nn.Linear(WIDTH, WIDTH, bias=False)
        self.gate = torch.nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.up = torch.nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.down = torch.nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x, angles):
        shape = (x.shape[0], x.shape[1], HEADS, WIDTH // HEADS)
        q, k, v = (part.view(shape).transpose(1, 2) for part in self.qkv(self.before(x)).chunk(3, -1))
        attended = F.scaled_dot_product_attention(rotate(q, angles), rotate(k, angles), v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(x.shape))
        y = self.between(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = torch.nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = RmsNorm()
        self.head = torch.nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens, angles):
        x = self.words(tokens)
        for block in self.blocks:
            x = block(x, angles)
        return self.head(self.norm(x))


def main(mode, steps):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    model = Decoder().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    half = WIDTH // HEADS // 2
    angles = torch.arange(LENGTH, device=device)[:, None] * (10000.0 ** (-torch.arange(half, device=device) / half))[None]
    compiled = torch.compile(model, mode=None if mode == "default" else mode) if mode != "eager" else model
    losses, first = [], None
    tokens = torch.randint(0, VOCABULARY, (BATCH, LENGTH + 1), generator=torch.Generator().manual_seed(1)).to(device)
    for step in range(steps):
        with torch.autocast(device, dtype=torch.bfloat16):
            scores = compiled(tokens[:, :-1], angles)
        loss = F.cross_entropy(scores.float().reshape(-1, VOCABULARY), tokens[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step == 0:
            first = time.time() - BEGIN
    answer = {"mode": mode, "losses": losses, "first_step_seconds": round(first, 2), "all_seconds": round(time.time() - BEGIN, 2)}
    try:
        import dataclasses

        import tritond
        answer["status"] = dataclasses.asdict(tritond.status())
    except ImportError:
        pass
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
