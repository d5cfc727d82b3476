"""Times copies from one type to another beside NumPy's and PyTorch's.

Every library copies the same memory in turns, on one thread, called from
Python, which takes longer than a small copy does; a line is printed per pair of
types and size, with what the others take over what the library does.

usage: copies.py LIBRARY [--sizes N,...] [--behind BYTES] [FROM:TO]...
"""
import argparse
import ctypes
import functools
import os
import random
import statistics
import sys
import time
from itertools import repeat

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"
if os.environ.get("ELEMENTWISE_CPU") == "avx2":  # the others too
    os.environ["NPY_DISABLE_CPU_FEATURES"] = "X86_V4 AVX512_ICL AVX512_SPR"
    os.environ["ATEN_CPU_CAPABILITY"] = "avx2"

import numpy as np
import torch

NUMBERS = {name: n for n, name in enumerate(
    "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64".split(), 1)}
NUMPY_TYPES = dict(zip(NUMBERS, (
    np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16,
    np.uint32, np.uint64, np.float16, np.uint16, np.float32, np.float64)))
FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
BATCH, ROUNDS, LINE = 3e-4, 15, 64


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int),
                ("ndim", ctypes.c_int), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p)]


def array(name, n, behind):
    """n elements that start so many bytes behind a line of memory."""
    size = np.dtype(NUMPY_TYPES[name]).itemsize * n
    memory = np.zeros(size + 2 * LINE, np.uint8)
    start = -memory.ctypes.data % LINE + behind
    return memory[start:start + size].view(NUMPY_TYPES[name])


def fill(x, name, to):
    """Numbers that fit an i8, or a u8 where the target is unsigned."""
    low = 0 if to[0] == "u" else -100
    numbers = np.random.default_rng(1).uniform(low, 100, x.size)
    if name == "bf16":
        bits = numbers.astype(np.float32).view(np.uint32)
        x[:] = (bits >> 16).astype(np.uint16)
    else:
        x[:] = numbers.astype(NUMPY_TYPES[name])


def torch_view(x, name):
    t = torch.from_numpy(x)
    return t.view(torch.bfloat16) if name == "bf16" else t


def calls(copy, source, x, target, y):
    """What copies x to y, by library."""
    shape = (ctypes.c_int64 * 1)(x.size)
    src, dst = (Tensor(a.ctypes.data, NUMBERS[name], 1,
                       ctypes.addressof(shape), None)
                for a, name in ((x, source), (y, target)))
    ours = functools.partial(copy, ctypes.byref(src), -1, ctypes.byref(dst))
    ours.shape = shape  # of which the tensors have the address alone
    if ours():
        sys.exit(f"{source} to {target} is no copy of the library's")
    found = {"ours": ours}
    if "bf16" not in (source, target):
        found["NumPy"] = lambda: np.copyto(y, x, casting="unsafe")
    tx, ty = torch_view(x, source), torch_view(y, target)
    try:
        ty.copy_(tx)
        found["PyTorch"] = lambda: ty.copy_(tx)
    except (RuntimeError, TypeError):
        pass
    return found


def spent(call, n):
    start = time.thread_time()
    for _ in repeat(None, n):
        call()
    return (time.thread_time() - start) / n


def measure(found):
    """The median seconds of a call, by library, in turns."""
    counts = {name: 1 + int(BATCH / (spent(call, 5) + 1e-8))
              for name, call in found.items()}
    times = {name: [] for name in found}
    for _ in range(ROUNDS):
        for name in random.sample(list(found), len(found)):
            spent(found[name], 1 + counts[name] // 4)
            times[name].append(spent(found[name], counts[name]))
    return {name: statistics.median(t) for name, t in times.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("pairs", nargs="*")
    parser.add_argument("--sizes", default="65536,1048576")
    parser.add_argument("--behind", type=int, default=0)
    options = parser.parse_intermixed_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    copy = ctypes.CDLL(os.path.abspath(options.library)).elementwise_copy
    pairs = [pair.split(":") for pair in options.pairs] or [
        (source, target) for source in FLOATS for target in INTEGERS]
    for source, target in pairs:
        for n in map(int, options.sizes.split(",")):
            x = array(source, n, options.behind)
            y = array(target, n, options.behind)
            fill(x, source, target)
            times = measure(calls(copy, source, x, target, y))
            others = "".join(f"  {name} {t / times['ours']:.2f}"
                             for name, t in times.items() if name != "ours")
            print(f"{source + ' to ' + target:12} {n:8} "
                  f"{times['ours'] * 1e6:9.2f} us{others}", flush=True)


if __name__ == "__main__":
    main()
