"""Turns a framework's answers into cases, and finds the reason where the
library answers otherwise. A difference without a reason stops the run."""

import sys

import contract
import reasons
import slopes
from contract import Refused
from operands import (axis_triples, benign, edges, generator, layouts,
                      numpy_shapes, ordinary, specials)
from vectors import Array, decode, encode, kind, same

CHUNK = 4  # pairs in a case of special values

# Operations whose special values are a subject of their own get more of them.
DELICATE = ("div max min pow mod floordiv fmax fmin heaviside fmod truncdiv "
            "atan2 hypot copysign nextafter logaddexp").split()


class Suite:
    """run(op, x, y, axis) returns an Array, or None if the framework refuses;
    supports(op, x_type, y_type) tells what it is asked at all."""

    def __init__(self, name, version, writer, run, supports, avoid=None):
        """avoid(op, x_type, y_type, x, y) is true for values that would end
        the process."""
        self.avoid = avoid or (lambda *pair: False)
        self.grad = None
        self.name, self.version, self.writer = name, version, writer
        self.run, self.supports = run, supports
        self.unexplained, self.complaints = 0, {}

    def complain(self, op, *what):
        self.unexplained += 1
        self.complaints[op] = self.complaints.get(op, 0) + 1
        if self.complaints[op] <= 12:
            print(self.name, self.version, "unexplained:", op, *what,
                  file=sys.stderr)

    # -- values -----------------------------------------------------------

    def write(self, op, axis, x, y, out, why=None, ours=None):
        """why: the reason of the whole result, or a list of each element's."""
        whole = isinstance(why, str)
        exceptions = {}
        for i, reason in enumerate([] if whole or not why else why):
            if reason:
                exceptions.setdefault(reason, []).append(("out", i,
                                                          ours.bits[i]))
        self.writer.case(f"{op} axis {axis}", {"x": x, "y": y, "out": out},
                         reason=why if whole else None,
                         ours={"out": ours} if whole else None,
                         exceptions=exceptions)

    def values(self, op, x_type, y_type, most=None):
        """All pairs of special values, or some."""
        pairs = [(x, y) for x in specials(x_type) for y in specials(y_type)]
        if op in ("div", "pow") and "c" in kind(x_type) + kind(y_type):
            return  # nothing is promised for these
        if most and len(pairs) > most:
            pairs = generator(op, x_type, y_type).sample(pairs, most)
        if kind(contract.promote(x_type, y_type)) in "iub":
            pairs = [p for p in pairs
                     if not self.is_fault(op, x_type, y_type, *p)]
        pairs = [p for p in pairs if not self.avoid(op, x_type, y_type, *p)]
        while pairs:
            self.pairs(op, x_type, y_type, pairs[:400])
            pairs = pairs[400:]

    def edges(self, op, dtype, axis=-1):
        """All pairs of edges, as a column and a row: in as few cases as have
        no pair that either side refuses."""
        if op in ("div", "pow") and kind(dtype) == "c":
            return  # nothing is promised for these
        columns = {}
        for x in edges(dtype):
            row = tuple(y for y in edges(dtype) if not (
                kind(dtype) in "iu" and self.is_fault(op, dtype, dtype, x, y)
                or self.avoid(op, dtype, dtype, x, y)))
            columns.setdefault(row, []).append(x)
        for row, column in columns.items():
            allowed = [y for y in row if not reasons.refusal(
                self, op, dtype, dtype, column[0], y)]
            if not self.block(op, dtype, axis, column, row) and \
                    (len(allowed) in (0, len(row)) or not self.block(
                        op, dtype, axis, column, allowed)):
                self.complain(op, dtype, "is refused")

    def block(self, op, dtype, axis, column, row):
        """False if the framework refuses it."""
        x, y = Array(dtype, (len(column), 1), column), \
            Array(dtype, (len(row),), row)
        if axis == 0:  # y is the column then
            x, y = Array(dtype, (1, len(column)), column), y
        out = self.run(op, x, y, axis)
        reason = reasons.refused_shape(self, op, x.shape, y.shape, axis)
        if out is None and reason == "no-broadcasting":
            shape = (len(column), len(row))
            x = Array(dtype, shape, [a for a in column for _ in row])
            y = Array(dtype, shape, list(row) * len(column))
            out = self.run(op, x, y, axis)
        if out is None:
            return False
        self.compare(op, axis, x, y, out,
                     contract.apply(op, x, y, axis, contract.known))
        return True

    def ordinary(self, op, dtype, n):
        """Pairs of ordinary numbers."""
        rng = generator("ordinary", op, dtype)
        self.pairs(op, dtype, dtype, list(zip(ordinary(dtype, n, rng),
                                              ordinary(dtype, n, rng))))

    def quotients(self, op, dtype, n):
        """x so near to a multiple of y that the rounded quotient is one."""
        rng = generator("quotients", op, dtype)
        pairs = []
        for bits in ordinary(dtype, n, rng):
            y = decode(dtype, bits)
            x = encode(dtype, y * rng.randrange(2, 1 << rng.randrange(2, 40)))
            pairs.append((x + rng.choice([-1, 0, 0, 1]), bits))
        self.pairs(op, dtype, dtype, pairs)

    # -- everything -------------------------------------------------------

    def axis(self, operations, dtypes, count):
        """Shapes under axis, of types in turn."""
        for op in operations:
            types = [t for t in dtypes if self.supports(op, t, t)]
            triples = axis_triples(generator("axis", op), count)
            for i, (x, y, axis) in enumerate(triples):
                self.shape(op, types[i % len(types)], x, y, axis)

    def forward(self, dtypes, delicate, other, shape_count):
        """All operations and types, with so many special values."""
        for op in contract.OPERATIONS:
            for dtype in dtypes:
                if not self.supports(op, dtype, dtype):
                    continue
                self.edges(op, dtype)
                if kind(dtype) != "b":
                    self.values(op, dtype, dtype,
                                delicate if op in DELICATE else other)
                if kind(dtype) in "fc":
                    self.ordinary(op, dtype, 16)
                if kind(dtype) == "f" and op in contract.DIVISIONS:
                    self.quotients(op, dtype, 16)
                rng = generator("shapes", op, dtype)
                everything = numpy_shapes(rng, 12)
                for x, y in rng.sample(everything, shape_count):
                    self.shape(op, dtype, x, y, -1)

    def faults(self, dtypes):
        """Integers divided by 0."""
        for op in contract.DIVISIONS + ["pow"]:
            for dtype in dtypes:
                if kind(dtype) not in "iu" or not self.supports(op, dtype,
                                                                dtype):
                    continue
                if op == "pow" and kind(dtype) == "u":
                    continue
                x = Array(dtype, (3,), [encode(dtype, v) for v in (5, 0, 7)])
                last = -1 if op == "pow" else 0
                y = Array(dtype, (3,), [encode(dtype, v)
                                        for v in (1, last, 2)])
                out = self.run(op, x, y, -1)
                call, status = f"{op} axis -1", "DIVISION_BY_ZERO"
                if out is None:
                    self.writer.case(call, {"x": x, "y": y}, error=status)
                else:
                    self.writer.case(call, {"x": x, "y": y, "out": out},
                                     reason="integer-fault", our_error=status)

    def mixed(self, dtypes, operations, count):
        """Types that meet."""
        for x in dtypes:
            for y in dtypes:
                if x == y:
                    continue
                for op in generator("mixed", x, y).sample(operations, count):
                    if self.supports(op, x, y):
                        self.values(op, x, y, 12)

    def strided(self, dtypes, pairs):
        """Operands that are not contiguous."""
        for op in contract.OPERATIONS:
            rng = generator("strided", op)
            for x, y in pairs:
                dtype = rng.choice(dtypes)
                if self.supports(op, dtype, dtype):
                    self.shape(op, dtype, x, y, -1, layouts)

    @staticmethod
    def is_fault(op, x_type, y_type, x, y):
        try:
            contract.element(op, x_type, y_type, x, y)
        except Refused:
            return True
        return False

    def refused(self, op, x_type, y_type, pairs):
        """Some pair is to blame."""
        if len(pairs) > 1:
            allowed = [p for p in pairs if not reasons.refusal(
                self, op, x_type, y_type, *p)]
            if not allowed or len(allowed) == len(pairs):
                self.complain(op, x_type, y_type, "is refused")
            elif allowed:
                self.pairs(op, x_type, y_type, allowed)
                for pair in [p for p in pairs if p not in allowed][:CHUNK]:
                    self.pairs(op, x_type, y_type, [pair])
            return
        (a, b), = pairs
        right = contract.result_type(op, x_type, y_type)
        ours = contract.element(op, x_type, y_type, a, b)
        self.writer.case(
            f"{op} axis -1",
            {"x": Array(x_type, (1,), [a]), "y": Array(y_type, (1,), [b])},
            error=True, reason=reasons.refusal(self, op, x_type, y_type, a, b),
            ours={"out": Array(right, (1,), [ours])})

    def pairs(self, op, x_type, y_type, pairs):
        x = Array(x_type, (len(pairs),), [p[0] for p in pairs])
        y = Array(y_type, (len(pairs),), [p[1] for p in pairs])
        out = self.run(op, x, y, -1)
        if out is None:
            return self.refused(op, x_type, y_type, pairs)
        right = contract.result_type(op, x_type, y_type)
        groups = {}
        for i, (a, b) in enumerate(pairs):
            ours = contract.element(op, x_type, y_type, a, b)
            reason, value = reasons.value(self, op, x_type, y_type, a, b,
                                          out.dtype, out.bits[i], right, ours)
            if reason == "?":
                self.complain(op, x_type, y_type, *reasons.show(
                    x_type, y_type, a, b, out.dtype, out.bits[i], right, ours))
                continue
            if reason == "":
                continue
            groups.setdefault(reason, []).append((a, b, out.bits[i], value))
        for reason, group in groups.items():
            for k in range(0, len(group), CHUNK):
                part = list(zip(*group[k:k + CHUNK]))
                shape = (len(part[0]),)
                whole = reason and out.dtype != right
                self.write(op, -1, Array(x_type, shape, part[0]),
                           Array(y_type, shape, part[1]),
                           Array(out.dtype, shape, part[2]),
                           reason if whole else [reason] * len(part[0]),
                           reason and Array(right, shape, part[3]))

    # -- shapes -----------------------------------------------------------

    def shape(self, op, dtype, x_shape, y_shape, axis, change=None):
        """One case with small numbers. change(array) gives it strides."""
        rng = generator(op, dtype, x_shape, y_shape, axis)
        x = self.operand(op, dtype, x_shape, rng, False)
        y = self.operand(op, dtype, y_shape, rng, True)
        if change:
            x, y = change(x, rng), change(y, rng)
        out = self.run(op, x, y, axis)
        try:
            ours, status = contract.apply(op, x, y, axis), None
        except Refused as refused:
            ours, status = None, str(refused)
        call = f"{op} axis {axis}"
        if out is None and status:
            self.writer.case(call, {"x": x, "y": y}, error=status)
        elif out is None or status:
            reason = reasons.refused_shape(self, op, x_shape, y_shape, axis)
            if not reason:
                return self.complain(op, x_shape, y_shape, axis, status)
            if ours is None and not status:
                return
            results = {} if out is None else {"out": out}
            self.writer.case(call, {"x": x, "y": y, **results},
                             error=out is None, reason=reason,
                             ours=ours and {"out": ours}, our_error=status)
        else:
            self.compare(op, axis, x, y, out, ours)

    def operand(self, op, dtype, shape, rng, second):
        n = 1
        for extent in shape:
            n *= extent
        exact = second and op in contract.DIVISIONS
        if op == "pow" and kind(dtype) == "c":
            return Array(dtype, shape, ordinary(dtype, n, rng))
        bits = benign(dtype, n, rng, exact)
        if second and (op == "pow" or "shift" in op):
            bits = [b & 3 if kind(dtype) in "iu" else b for b in bits]
        return Array(dtype, shape, bits)

    def given(self, op, axis, x, y, out):
        """A case whose result is known."""
        self.compare(op, axis, x, y, out, contract.apply(op, x, y, axis))

    def compare(self, op, axis, x, y, out, ours):
        if ours is None and out.dtype != contract.result_type(op, x.dtype,
                                                              y.dtype):
            ours = contract.apply(op, x, y, axis, contract.approximate)
        if ours is None:
            if op == "div" and any(part & part - 1 == 0
                                   for bits in out.bits for part in bits):
                return  # nothing is promised for the sign of a part that is 0
            if out.shape == contract.broadcast(x.shape, y.shape, axis)[0]:
                self.write(op, axis, x, y, out)
            return
        if (out.dtype, out.shape) == (ours.dtype, ours.shape) and all(
                same(out.dtype, a, b) for a, b in zip(out.bits, ours.bits)):
            return self.write(op, axis, x, y, out)
        reason = reasons.array(self, op, x, y, axis, out, ours)
        if not reason:
            return self.complain(op, x.dtype, x.shape, y.dtype, y.shape, axis,
                                 out.dtype, out.shape, ours.shape)
        if "?" in reason:
            return self.complain_of_elements(op, axis, x, y, out, ours, reason)
        self.write(op, axis, x, y, out, reason, ours)

    def complain_of_elements(self, op, axis, x, y, out, ours, reason):
        shape, wide_x, wide_y = contract.broadcast(x.shape, y.shape, axis)
        meets = contract.pairs(x, y, shape, wide_x, wide_y)
        for (a, b), theirs, right, why in zip(meets, out.bits, ours.bits,
                                              reason):
            if why == "?":
                self.complain(op, *reasons.show(
                    x.dtype, y.dtype, a, b, out.dtype, theirs, ours.dtype,
                    right))

    # -- gradients --------------------------------------------------------

    def slopes(self, op, dtype, pairs, shape=None):
        """Gradients of pairs of values, each with a g of its own. grad(op, x,
        y, dout, axis) returns a pair of Arrays, or None. With a shape they
        become one case."""
        rng = generator("slopes", op, dtype, len(pairs))
        shape = shape or (len(pairs),)
        x = Array(dtype, shape, [p[0] for p in pairs])
        y = Array(dtype, shape, [p[1] for p in pairs])
        some = [1.0, -1.0, 0.5, 2.0, 1.5]
        if kind(dtype) == "c":
            some = [1 + 2j, -1.5 + 0.5j, 3 - 1j]
        g = Array(dtype, shape, [encode(dtype, rng.choice(some))
                                 for _ in pairs])
        answer = self.grad(op, x, y, g, -1)
        if answer is None:
            return
        rows = []
        for row in zip(x.bits, y.bits, g.bits, answer[0].bits, answer[1].bits):
            ours = slopes.element(op, dtype, *row[:3])
            why = reasons.slope(self, op, dtype, row, ours)
            if "?" in why:
                self.complain("grad " + op, dtype, *(
                    [decode(dtype, b) for b in row] +
                    ["not"] + [decode(dtype, b) for b in ours]))
                continue
            rows.append((why, row + (ours or (0, 0))))
        if len(rows) < len(pairs):
            return
        if len(shape) > 1:
            return self.write_slopes(op, shape, dtype, rows)
        groups = {}
        for why, row in rows:
            groups.setdefault(why, []).append((why, row))
        for group in groups.values():
            for k in range(0, len(group), CHUNK):
                part = group[k:k + CHUNK]
                self.write_slopes(op, (len(part),), dtype, part)

    def write_slopes(self, op, shape, dtype, rows):
        x, y, g, dx, dy, our_dx, our_dy = (
            Array(dtype, shape, column)
            for column in zip(*(row for _, row in rows)))
        exceptions = {}
        for i, (why, _) in enumerate(rows):
            for reason, role, ours in zip(why, ("dx", "dy"),
                                          (our_dx, our_dy)):
                if reason:
                    exceptions.setdefault(reason, []).append((role, i,
                                                              ours.bits[i]))
        self.writer.case(f"grad {op} axis -1",
                         {"x": x, "y": y, "dout": g, "dx": dx, "dy": dy},
                         exceptions=exceptions)

    def slope_shape(self, op, dtype, x_shape, y_shape, axis):
        """Gradients that are summed. The sums of most operations are exact;
        those of the others have terms of one sign."""
        rng = generator("slope", op, dtype, x_shape, y_shape, axis)
        x = self.operand(op, dtype, x_shape, rng, False)
        y = self.operand(op, dtype, y_shape, rng, True)
        if op in reasons.ULP or op == "div":
            x = Array(dtype, x_shape, [encode(dtype, rng.uniform(1.5, 6))
                                       for _ in x.bits])
            y = Array(dtype, y_shape, [encode(dtype, rng.uniform(1.5, 6))
                                       for _ in y.bits])
        shape = contract.broadcast(x_shape, y_shape, axis)[0]
        n = 1
        for extent in shape:
            n *= extent
        g = Array(dtype, shape, [encode(dtype, rng.choice([0.5, 1, 2, 3, 4]))
                                 for _ in range(n)])
        answer = self.grad(op, x, y, g, axis)
        if answer is None:
            return
        if op in ("max", "min") and self.name == "pytorch" and \
                set(x.bits) & set(y.bits):
            return  # ties are among the values
        self.writer.case(f"grad {op} axis {axis}",
                         {"x": x, "y": y, "dout": g, "dx": answer[0],
                          "dy": answer[1]})

    def gradients(self, operations, dtypes, special, shape_count, axes):
        """axes: how many triples with an axis, of f32 and f64 in turn."""
        for op in operations:
            for dtype in dtypes:
                rng = generator("gradients", op, dtype)
                if kind(dtype) == "f":
                    rows = edges(dtype)
                    self.slopes(op, dtype, [(a, b) for a in rows for b in rows],
                                (len(rows), len(rows)))
                    some = [encode(dtype, v) for v in (
                        0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 3.0, 1.5,
                        float("inf"), float("-inf"), float("nan"), 300.0)]
                    pairs = [(a, b) for a in some for b in some]
                    self.slopes(op, dtype, rng.sample(pairs, special))
                n = 24
                self.slopes(op, dtype, list(zip(ordinary(dtype, n, rng),
                                                ordinary(dtype, n, rng))))
            for dtype in [t for t in dtypes if t in ("f32", "f64")]:
                rng = generator("gradient shapes", op, dtype)
                legal = [p for p in numpy_shapes(rng, 40)
                         if self.is_legal(*p, -1)]
                for x, y in rng.sample(legal, shape_count):
                    self.slope_shape(op, dtype, x, y, -1)
            triples = [t for t in axis_triples(generator("grad axis", op),
                                               2 * axes)
                       if self.is_legal(*t)][:axes]
            for i, (x, y, axis) in enumerate(triples):
                self.slope_shape(op, ("f32", "f64")[i % 2], x, y, axis)

    def is_legal(self, x, y, axis):
        try:
            contract.broadcast(x, y, axis)
            return True
        except Refused:
            return False
