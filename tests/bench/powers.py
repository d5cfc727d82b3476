"""Times powers of complex numbers beside NumPy's.

Both raise the same 16384 numbers to one exponent, in turns, as copies.py does
copies, with which PyTorch is loaded; a line is printed per type and exponent,
with what NumPy takes over what the library does.

usage: powers.py LIBRARY [EXPONENT]...
"""
import argparse
import ctypes
import functools
import os
import sys

from copies import Tensor, measure  # first: tells NumPy what it may use

import numpy as np

NUMBERS = {"c64": (14, np.complex64), "c128": (15, np.complex128)}
EXPONENTS = (*range(-4, 11), 31, 99, 0.5, 0.3)
N = 16384


def calls(power, number, x, y, out):
    """What raises x to y, by library."""
    shape = (ctypes.c_int64 * 1)(N)
    tensors = [ctypes.byref(Tensor(a.ctypes.data, number, a.ndim,
                                   ctypes.addressof(shape), None))
               for a in (x, y, out)]
    ours = functools.partial(power, *tensors[:2], -1, tensors[2])
    ours.shape = shape  # of which the tensors have the address alone
    if ours():
        sys.exit("the library refuses powers")
    return {"ours": ours,
            "NumPy": functools.partial(np.power, x, y, out=np.empty_like(x))}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("exponents", nargs="*", type=float, default=EXPONENTS)
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    power = ctypes.CDLL(os.path.abspath(options.library)).elementwise_pow
    parts = np.random.default_rng(1).standard_normal((2, N))
    for name, (number, dtype) in NUMBERS.items():
        x = (parts[0] + 1j * parts[1]).astype(dtype)
        for exponent in options.exponents:
            y, out = np.array(exponent, dtype), np.empty_like(x)
            times = measure(calls(power, number, x, y, out))
            print(f"{name:4} {exponent:5} {times['ours'] * 1e6:9.2f} us"
                  f"  NumPy {times['NumPy'] / times['ours']:.2f}", flush=True)


if __name__ == "__main__":
    main()
