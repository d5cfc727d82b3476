"""Turns the benchmark's rows into a comparison with other libraries.

Every library works on the same memory, one row after the other, in turns, on
one thread. The library and the peers in C are called from loops in C
(session.c), the others as their users call them, from Python, with out= where
they have it.
"""
import argparse
import ctypes
import datetime
import fnmatch
import gc
import json
import math
import os
import random
import statistics
import sys
import time
from itertools import repeat

ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
for variable in ONE_THREAD:
    os.environ[variable] = "1"
AVX2 = os.environ.get("ELEMENTWISE_CPU") == "avx2"
if AVX2:  # the others too, where they can be told
    os.environ["NPY_DISABLE_CPU_FEATURES"] = "X86_V4 AVX512_ICL AVX512_SPR"
    os.environ["ATEN_CPU_CAPABILITY"] = "avx2"
    os.environ["MKL_ENABLE_INSTRUCTIONS"] = "AVX2"  # PyTorch's tanh
    os.environ["ONEDNN_MAX_CPU_ISA"] = os.environ["DNNL_MAX_CPU_ISA"] = "AVX2"

import numpy as np

import report

ROWS = ("P* add f32", "P2.1K * f32", "P2.1M *", "P2.64K * f32",
        "P3.y * [fi][36][24]", "P3.y * div *", "P4 * f32", "P6.3 * add *",
        "P9.T * add *", "P14.* add *", "P[24]* *+* f32", "B* f32")
X, Y, OUT, DX, DY = range(5)
FORWARD, GRADIENT, SUM = range(3)
BATCH = 5e-4  # seconds of calls between two readings of the clock
WARMING = 4  # calls before them, which find the caches as another left them
COLD = 0.02  # seconds of a call that is too slow to repeat for that
ROUNDS, FEWEST = 15, 5
ORDERS = random.Random(0)
REFRESH = 40  # rows, after which the machine is measured again
LONGEST = 1.5  # seconds for a row, unless it is too slow for FEWEST rounds
LONGEST_RANDOM = 0.3
LARGE = 64 << 10  # bytes of operands
NUMPY_TYPES = {
    "bool": np.bool_, "u8": np.uint8, "i32": np.int32, "i64": np.int64,
    "f16": np.float16, "bf16": np.uint16, "f32": np.float32,
    "f64": np.float64, "c64": np.complex64}


# ---------------------------------------------------------------------------
# The rows, from session.so

class Operand:
    """Memory of one operand; shape and strides as the library has them."""

    def __init__(self, data, dtype, shape, strides):
        self.data, self.dtype = data, dtype
        self.shape, self.strides = shape, strides
        self.itemsize = np.dtype(NUMPY_TYPES[dtype]).itemsize

    def bytes(self):
        return math.prod(self.shape) * self.itemsize

    def dense(self):
        stride = 1
        for extent, step in zip(reversed(self.shape), reversed(self.strides)):
            if extent != 1 and step != stride:
                return False
            stride *= extent
        return True

    def flat(self):
        """From the first element to the last, for strides >= 0."""
        count = 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides))
        count = 0 if 0 in self.shape else count
        memory = (ctypes.c_char * (count * self.itemsize)).from_address(
            self.data or 1)
        return np.frombuffer(memory, NUMPY_TYPES[self.dtype])

    def numpy(self):
        if 0 in self.shape:
            return np.empty(self.shape, NUMPY_TYPES[self.dtype])
        reach = [(n - 1) * s for n, s in zip(self.shape, self.strides)]
        first = -sum(r for r in reach if r < 0)
        count = 1 + sum(map(abs, reach))
        memory = (ctypes.c_char * (count * self.itemsize)).from_address(
            self.data - first * self.itemsize)
        return np.ndarray(self.shape, NUMPY_TYPES[self.dtype], memory,
                          first * self.itemsize,
                          [s * self.itemsize for s in self.strides])


class Row:
    """The row that is in memory."""

    def __init__(self, session, number):
        self.kind, self.axis = session.kind(), session.axis()
        words = session.name(number).split()
        self.op, _, self.act = words[2].removesuffix("_grad").partition("+")
        self.in_place = words[1].endswith(">x")
        self.operands = [session.operand(k) for k in range(5)]
        x, y = self.operands[X], self.operands[Y]
        self.same = x.data == y.data

    def aligned(self, y):
        """The shape in which y stands under x by NumPy's rule."""
        x = self.operands[X].shape
        if self.axis < 0 or len(y) == 0:
            return y
        return y + (1,) * (len(x) - self.axis - len(y))

    def summed(self):
        """The dimensions of x that y is stretched over."""
        x, y = self.operands[X].shape, self.aligned(self.operands[Y].shape)
        y = (1,) * (len(x) - len(y)) + y
        return tuple(d for d in range(len(x)) if y[d] == 1 and x[d] != 1)


class Session:
    def __init__(self, path, cpu, layout, random, seed):
        self.lib = ctypes.CDLL(path)
        self.lib.session_open.restype = ctypes.c_void_p
        for name in ("name", "peer_name", "peer_version"):
            getattr(self.lib, "session_" + name).restype = ctypes.c_char_p
        for name in ("limit", "time", "time_plan", "time_peer"):
            getattr(self.lib, "session_" + name).restype = ctypes.c_double
        self.s = ctypes.c_void_p(self.lib.session_open(
            cpu, layout.encode() if layout else None, random,
            ctypes.c_uint64(seed)))
        if not self.s:
            sys.exit("no such layout, or no memory")
        self.rows = self.lib.session_rows(self.s)

    def name(self, row):
        return self.lib.session_name(self.s, row).decode()

    def load(self, row):
        return self.lib.session_load(self.s, row) != 0

    def kind(self):
        return self.lib.session_kind(self.s)

    def axis(self):
        return self.lib.session_axis(self.s)

    def limit(self, row):
        """Of a row that need not be in memory; it unloads the one that is."""
        return self.lib.session_limit(self.s, row)

    def raise_limits(self):
        self.lib.session_raise_limits(self.s)

    def verify(self):
        return self.lib.session_verify(self.s) != 0

    def operand(self, k):
        data, dtype = ctypes.c_void_p(), ctypes.c_char_p()
        shape, strides = (ctypes.c_int64 * 6)(), (ctypes.c_int64 * 6)()
        ndim = self.lib.session_operand(
            self.s, k, ctypes.byref(data), ctypes.byref(dtype), shape,
            strides)
        if ndim < 0:
            return None
        return Operand(data.value, dtype.value.decode(), tuple(shape[:ndim]),
                       tuple(strides[:ndim]))

    def peers(self):
        found = {}
        while name := self.lib.session_peer_name(len(found)):
            version = self.lib.session_peer_version(len(found))
            found[name.decode()] = version.decode()
        return found


# ---------------------------------------------------------------------------
# Libraries: each turns a row into a function without arguments, or None

def loop(call):
    """The seconds of n calls from Python, as they are in a user's loop."""
    def run(n):
        start = time.thread_time()
        for _ in repeat(None, n):
            call()
        return time.thread_time() - start
    return run


class Numpy:
    name, version = "NumPy", np.__version__
    ops = {"add": np.add, "mul": np.multiply, "max": np.maximum,
           "div": np.true_divide, "pow": np.power, "mod": np.remainder,
           "floordiv": np.floor_divide, "less_than": np.less,
           "equal": np.equal, "bitwise_and": np.bitwise_and,
           "fmax": np.fmax, "fmin": np.fmin, "fmod": np.fmod,
           "atan2": np.arctan2, "hypot": np.hypot, "copysign": np.copysign,
           "nextafter": np.nextafter, "logaddexp": np.logaddexp,
           "bitwise_left_shift": np.left_shift,
           "bitwise_right_shift": np.right_shift}

    def prepare(self, row):
        x = row.operands[X]
        if x.dtype == "bf16" or (row.op == "div" and x.dtype[0] in "iu"):
            return None
        view = [o and o.numpy() for o in row.operands]
        view[Y] = view[Y].reshape(row.aligned(row.operands[Y].shape))
        if row.kind == FORWARD:
            f, (x, y, out) = self.ops[row.op], view[:3]
            if row.act:
                return self.fused(f, x, y, out, row.act)
            return loop(lambda: f(x, y, out=out))
        axes = row.summed()
        if row.kind == SUM:
            x, y = view[X], view[Y].reshape(-1)[0:None]
            keep = np.sum(x, axes, keepdims=True).shape
            y = view[Y].reshape(keep)
            return loop(lambda: np.sum(x, axes, None, y, True))
        return loop(self.gradient(row.op, view, axes))

    def fused(self, f, x, y, out, act):
        then = {"relu": lambda: np.maximum(out, 0, out=out),
                "tanh": lambda: np.tanh(out, out)}.get(act)
        return then and loop(lambda: (f(x, y, out), then()))

    def gradient(self, op, view, axes):
        x, y, g, dx, dy = view
        dy = dy.reshape(y.shape)
        term = np.empty_like(g)
        shape = [1 if d in axes else n for d, n in enumerate(g.shape)]
        total = dy.reshape(shape)

        def add():
            np.copyto(dx, g)
            np.sum(g, axes, None, total, True)

        def mul():
            np.multiply(g, y, dx)
            np.multiply(g, x, term)
            np.sum(term, axes, None, total, True)

        def div():
            np.true_divide(g, y, dx)
            np.multiply(dx, x, term)
            np.true_divide(term, y, term)
            np.negative(term, term)
            np.sum(term, axes, None, total, True)
        return {"add": add, "mul": mul, "div": div}[op]


class Torch:
    name = "PyTorch"

    def __init__(self):
        import torch
        torch.set_num_threads(1)
        self.torch, self.version = torch, torch.__version__
        self.ops = {"add": torch.add, "mul": torch.mul, "max": torch.maximum,
                    "div": torch.div, "pow": torch.pow,
                    "mod": torch.remainder, "floordiv": torch.floor_divide,
                    "less_than": torch.lt, "equal": torch.eq,
                    "bitwise_and": torch.bitwise_and}
        for op in ("fmax", "fmin", "fmod", "atan2", "hypot", "copysign",
                   "nextafter", "logaddexp", "bitwise_left_shift",
                   "bitwise_right_shift"):
            self.ops[op] = getattr(torch, op)

    def silu(self, x):
        return self.torch.nn.functional.silu(x, inplace=True)

    def gelu(self, x):
        return self.torch._C._nn.gelu_(x)

    def view(self, operand):
        if operand is None:
            return None
        if min(operand.strides, default=0) < 0:
            raise NotImplementedError("negative strides")
        flat = self.torch.from_numpy(operand.flat())
        if operand.dtype == "bf16":
            flat = flat.view(self.torch.bfloat16)
        return flat.as_strided(operand.shape, operand.strides)

    def prepare(self, row):
        view = [self.view(o) for o in row.operands]
        y = view[Y].reshape(row.aligned(row.operands[Y].shape))
        x, out = view[X], view[OUT]
        if row.kind == SUM:
            axes, total = row.summed(), None
            total = self.torch.sum(x, axes, keepdim=True)
            total = view[Y].view(total.shape)
            return loop(lambda: self.torch.sum(x, axes, True, out=total))
        if row.kind == GRADIENT:
            return self.gradient(row.op, x, y, out)
        f = self.ops[row.op]
        if row.op == "div" and row.operands[X].dtype[0] in "iu":
            return loop(lambda: f(x, y, rounding_mode="trunc", out=out))
        if row.act:
            act = {"relu": self.torch.relu_, "tanh": self.torch.tanh_,
                   "sigmoid": self.torch.sigmoid_, "silu": self.silu,
                   "gelu": self.gelu}[row.act]
            return loop(lambda: act(f(x, y, out=out)))
        if row.in_place:
            f = {"add": x.add_, "mul": x.mul_, "div": x.div_}.get(row.op)
            return loop(lambda: f(y)) if f \
                else loop(lambda: self.ops[row.op](x, y, out=x))
        return loop(lambda: f(x, y, out=out))

    def gradient(self, op, x, y, g):
        if op == "add":  # hands dout on as dx; its sum is a row of B2
            return None
        x.requires_grad_()
        y.requires_grad_()
        out, grad = self.ops[op](x, y), self.torch.autograd.grad
        return loop(lambda: grad(out, (x, y), g, retain_graph=True))


class Paddle:
    name = "Paddle"

    def __init__(self, torch):
        import paddle
        paddle.device.set_device("cpu")
        self.paddle, self.version = paddle, paddle.__version__
        self.torch = torch
        legacy, plain = paddle._legacy_C_ops, paddle._C_ops
        self.placed = {
            op: getattr(legacy, "elementwise_" + op)
            for op in ("add", "mul", "max", "div", "pow", "mod", "floordiv",
                       "fmax", "fmin")}
        self.aligned = {"less_than": plain.less_than, "equal": plain.equal,
                        "bitwise_and": plain.bitwise_and}

    def view(self, operand):
        if operand is None:
            return None
        if not operand.dense() or 0 in operand.shape:
            raise NotImplementedError("layout")
        return self.paddle.utils.dlpack.from_dlpack(self.torch.view(operand))

    def prepare(self, row):
        x, y = self.view(row.operands[X]), self.view(row.operands[Y])
        if row.kind == SUM:
            axes = list(row.summed())
            return loop(lambda: self.paddle.sum(x, axes))
        if row.kind == GRADIENT:
            return self.gradient(row, x, y, self.view(row.operands[OUT]))
        if not row.operands[OUT].dense():  # its results are
            raise NotImplementedError("layout")
        if row.act:
            f = getattr(self.paddle.nn.functional, row.act)
            op = self.placed[row.op]
            return loop(lambda: f(op(x, y, "axis", row.axis)))
        if row.in_place:
            f = self.paddle._legacy_C_ops.elementwise_add_
            return loop(lambda: f(x, y, "axis", row.axis)) \
                if row.op == "add" else None
        if row.op in self.placed:
            f = self.placed[row.op]
            return loop(lambda: f(x, y, "axis", row.axis))
        y = y.reshape(row.aligned(row.operands[Y].shape))
        f = self.aligned[row.op]
        return loop(lambda: f(x, y))

    def gradient(self, row, x, y, g):
        x.stop_gradient = y.stop_gradient = False
        out = self.placed[row.op](x, y, "axis", row.axis)
        grad = self.paddle.grad
        return loop(lambda: grad([out], [x, y], [g], retain_graph=True))


class InC:
    """A function of session.so that times n calls."""

    def __init__(self, session, name, version, function, *arguments):
        self.name, self.version = name, version
        self.run = lambda n: function(session.s, *arguments, n)

    def prepare(self, _row):
        return self.run if self.run(1) >= 0 else None


def libraries(session):
    lib = session.lib
    lib.elementwise_version.restype = ctypes.c_char_p
    version = lib.elementwise_version().decode()
    found = [InC(session, "ours", version, lib.session_time),
             InC(session, "our plan", version, lib.session_time_plan)]
    for n, (name, version) in enumerate(session.peers().items()):
        found.append(InC(session, name, version, lib.session_time_peer, n))
    torch = Torch()
    return found + [Numpy(), torch, Paddle(torch)]


# ---------------------------------------------------------------------------
# Measuring

def prepared(library, row):
    """None where the library cannot do the row; what it says is not kept."""
    try:
        run = library.prepare(row)
        if run:
            run(1)
        return run
    except Exception:
        return None


def agrees(row, right):
    """Whether out holds what it should, in places, and loosely: the peers'
    own tests are stricter."""
    out = row.operands[OUT]
    if row.kind != FORWARD or out.dtype == "bf16" or row.in_place:
        return True
    got = out.numpy().reshape(-1)[::61]
    tolerance = 2e-3 if out.dtype == "f16" else 1e-5
    return np.allclose(got, right, tolerance, equal_nan=True)


def runs_of(found, row):
    """The libraries that do the row, and do it right. Paddle has no out=."""
    out, runs = row.operands[OUT], {}
    right = None
    if row.kind == FORWARD and out.dtype != "bf16":
        right = out.numpy().reshape(-1)[::61].copy()
    for library in found:
        writes = library.name != "Paddle"
        if writes and right is not None and not row.in_place:
            out.numpy()[...] = 0
        run = prepared(library, row)
        if run and writes and not agrees(row, right):
            print("# differs, left out:", library.name, row.op, out.dtype,
                  flush=True)
        elif run:
            runs[library.name] = run
    return runs


def measure(runs, longest):
    """{name: [median, lower and upper quartile]}, in turns, each in another
    order: who comes behind a library that fills the caches is slower."""
    calls, warming, samples = {}, {}, {name: [] for name in runs}
    for name, run in runs.items():
        n = 1
        while (seconds := run(n)) < BATCH / 4 and n < 1 << 20:
            n *= 4
        calls[name] = max(1, round(n * BATCH / seconds))
        warming[name] = WARMING if seconds / n < COLD else 0
    end = time.perf_counter() + longest
    for turn in range(ROUNDS):
        if turn >= FEWEST and time.perf_counter() > end:
            break
        for name in ORDERS.sample(list(runs), len(runs)):
            runs[name](warming[name])
            samples[name].append(runs[name](calls[name]) / calls[name])
    return {name: quartiles(times) for name, times in samples.items()}


def quartiles(times):
    times = sorted(times)
    return [statistics.median(times), times[len(times) // 4],
            times[-1 - len(times) // 4]]


def measure_row(session, found, number, longest=LONGEST):
    if not session.load(number):
        return None
    if not session.verify():
        print("# WRONG RESULT:", session.name(number), flush=True)
        return None
    row = Row(session, number)
    gc.disable()
    times = measure(runs_of(found, row), longest)
    gc.enable()
    large = sum(o.bytes() for o in row.operands if o) >= LARGE
    return {"limit": session.limit(number), "times": times, "large": large}


def show(name, result):
    times = {k: v[0] for k, v in result["times"].items()}
    ours = times["ours"]
    ratios = "  ".join(f"{k} {v / ours:.2f}x" for k, v in times.items()
                       if k != "ours")
    print(f"{name:52} {report.seconds(ours):>8} "
          f"{100 * result['limit'] / ours:4.0f} %  {ratios}", flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--session", required=True)
    parser.add_argument("--results", required=True)
    parser.add_argument("--documents", required=True, metavar="FOLDER")
    parser.add_argument("--filter", action="append", metavar="PATTERN",
                        help="only rows with this in their name; the others "
                        "keep their figures")
    parser.add_argument("--layout", help="rows of a layout of yours, of which "
                        "no figures are kept")
    parser.add_argument("--random", type=int, default=0, metavar="N",
                        help="N random rows, of which no figures are kept")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cpu", type=int, default=-1)
    parser.add_argument("--write", metavar="NAME", nargs="?",
                        const=report.DOCUMENT,
                        help="write the tables and the picture, into this "
                        "document")
    options = parser.parse_args()
    if options.layout and (options.random or options.write):
        parser.error("--layout goes neither with --random nor --write")
    return options


def chosen(session, filters):
    patterns = [f"*{p}*" for p in filters] if filters else ROWS
    for number in range(session.rows):
        name = session.name(number)
        if any(fnmatch.fnmatchcase(name, p) for p in patterns):
            yield number, name


def compare_random(session, found):
    """The rows of some size that take longest beside the fastest peer."""
    results = {"rows": {}}
    for number in range(session.rows):
        result = measure_row(session, found, number, LONGEST_RANDOM)
        if result and result["large"]:
            results["rows"][session.name(number)] = result
    for _, _, name in report.ranking(results)[:report.WORST]:
        show(name, results["rows"][name])
    print(report.summary(results))


def compare_layout(session, found, filters):
    rows = dict(chosen(session, filters or [""]))
    if not rows:
        sys.exit("no row of this layout has such a name")
    for number, name in rows.items():
        result = measure_row(session, found, number)
        if result:
            show(name, result)


def refuse_few(session, results, chosen_now):
    """A document without some rows would have lost them."""
    known = set(results["rows"]) | set(chosen_now)
    missing = [name for _, name in chosen(session, None) if name not in known]
    if missing:
        sys.exit(f"{len(missing)} rows have no figures in this folder yet, the "
                 f"first {missing[0]}: run without --filter before --write")


def main():
    options = parse()
    results = {"rows": {}}
    if options.filter and os.path.exists(options.results):
        with open(options.results) as file:
            results = json.load(file)
    np.seterr(all="ignore")
    session = Session(options.session, options.cpu, options.layout,
                      options.random, options.seed)
    found = libraries(session)
    if options.layout:
        compare_layout(session, found, options.filter)
        return
    if options.random:
        compare_random(session, found)
        return
    session.lib.elementwise_cpu_level.restype = ctypes.c_char_p
    results["machine"] = report.machine(
        session.lib.elementwise_cpu_level().decode())
    results["held"] = os.environ.get("ELEMENTWISE_CPU", "")
    results["date"] = datetime.date.today().isoformat()
    results["versions"] = {l.name: l.version for l in found}
    rows = dict(chosen(session, options.filter))
    if not rows:
        sys.exit("no row has such a name")
    if options.write:
        refuse_few(session, results, rows.values())
    for done, (number, name) in enumerate(rows.items()):
        if done % REFRESH == 0:
            session.raise_limits()
        result = measure_row(session, found, number)
        if result:
            results["rows"][name] = result
            show(name, result)
    for number, name in rows.items():
        if name in results["rows"]:
            results["rows"][name]["limit"] = session.limit(number)
    with open(options.results, "w") as file:
        json.dump(results, file, indent=1)
    print(report.summary(results))
    if options.write:
        report.write(results, options.documents, options.write)


if __name__ == "__main__":
    main()
