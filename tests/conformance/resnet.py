#!/usr/bin/env python3
"""Turns generated weights into resnet.txt: what PyTorch computes for the
elementwise layers of a residual block as Caffe has them, forward and backward
twice, one step of SGD with momentum, and forward again.

    resnet.py >resnet.txt            with PyTorch 2.13

All values are multiples of a power of two and so small that no operation has
to round, which is checked in double. So every right answer has the same bits.
"""

import torch

N, C, H, W = 2, 3, 4, 5
EPS = 0.25
SHAPES = {
    "mean1": (C,), "variance1": (C,), "scale1": (C,), "bias1": (C,),
    "mean2": (C,), "variance2": (C,), "scale2": (C,), "bias2": (C,),
    "position0": (H, W),
}
LEARNED = ["scale1", "bias1", "scale2", "bias2", "position0"]


def generate(shape, most, unit, generator):
    """Multiples of unit up to most of them, some 0 and some tied."""
    numbers = torch.randint(-most, most + 1, shape, generator=generator)
    return numbers.to(torch.float64) * unit


def channels(t):
    return t.reshape(C, 1, 1)


def normalise(x, mean, variance):
    return (x - channels(mean)) / torch.sqrt(channels(variance) + EPS)


def forward(p, x1, x2, gate):
    """A block of ResNet with a gate as in SENet and a bias per position."""
    one = normalise(x1, p["mean1"], p["variance1"])
    one = one * channels(p["scale1"]) + channels(p["bias1"])
    two = normalise(x2, p["mean2"], p["variance2"])
    two = two * channels(p["scale2"]) + channels(p["bias2"])
    two = two * gate.reshape(N, C, 1, 1)
    return torch.relu(1.0 * two + 0.5 * one) + p["position0"]


def run(inputs, dtype):
    """Everything that is compared, by name, in one type."""
    values = {name: t.to(dtype).clone() for name, t in inputs.items()}
    p = {name: values[name] for name in SHAPES}
    for name in LEARNED:
        p[name].requires_grad_()
    for step in range(2):
        names = [f"{name}_{step}" for name in ("x1", "x2", "gate")]
        bottoms = [values[name].requires_grad_() for name in names]
        top = forward(p, *bottoms)
        top.backward(values[f"diff_{step}"])
        values[f"top_{step}"] = top
        for name, bottom in zip(names, bottoms):
            values["d" + name] = bottom.grad
    with torch.no_grad():
        for name in LEARNED:
            values["d" + name] = p[name].grad
            history = 0.875 * values["history_" + name] + 0.125 * p[name].grad
            values["new_history_" + name] = history
            values["new_" + name] = p[name] - history
            p[name] = values["new_" + name]
        values["top_2"] = forward(p, *[values[f"{name}_0"]
                                       for name in ("x1", "x2", "gate")])
    return values


def make_inputs():
    generator = torch.Generator().manual_seed(1)
    inputs = {}
    for name, shape in SHAPES.items():
        inputs[name] = generate(shape, 8, 0.25, generator)
    for name in LEARNED:
        inputs["history_" + name] = generate(SHAPES[name], 8, 0.25, generator)
    inputs["variance1"] = torch.tensor([0.75, 3.75, 0.0], dtype=torch.float64)
    inputs["variance2"] = torch.tensor([15.75, 0.0, 0.75], dtype=torch.float64)
    for step in range(2):
        for name in ("x1", "x2", "diff"):
            inputs[f"{name}_{step}"] = generate((N, C, H, W), 12, 0.25,
                                                generator)
        inputs[f"gate_{step}"] = generate((N, C), 4, 0.25, generator)
    return inputs


def main():
    inputs = make_inputs()
    values = run(inputs, torch.float32)
    exact = run(inputs, torch.float64)
    for name in values:
        assert torch.equal(values[name].double(), exact[name]), name
    print(f"# PyTorch {torch.__version__.split('+')[0]}, "
          "made by tests/conformance/resnet.py")
    for name, t in values.items():
        extents = " ".join(str(n) for n in t.shape)
        numbers = " ".join(f"{v:.9g}" for v in t.detach().flatten().tolist())
        print(f"{name} {t.dim()} {extents} {numbers}")


main()
