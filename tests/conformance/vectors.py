"""Turns operands and results into the text that `elementwise conform` reads.

An element is a Python integer that holds its bits; a complex one is a pair of
them. Nothing here depends on a framework: each gives and takes bits.
"""

import math
import struct
from fractions import Fraction

# name: (bytes of one part, kind)
TYPES = {
    "bool": (1, "b"),
    "i8": (1, "i"),
    "i16": (2, "i"),
    "i32": (4, "i"),
    "i64": (8, "i"),
    "u8": (1, "u"),
    "u16": (2, "u"),
    "u32": (4, "u"),
    "u64": (8, "u"),
    "f16": (2, "f"),
    "bf16": (2, "f"),
    "f32": (4, "f"),
    "f64": (8, "f"),
    "c64": (4, "c"),
    "c128": (8, "c"),
}

# digits of the significand, smallest normal exponent, largest exponent
FORMATS = {
    "f16": (11, -14, 15),
    "bf16": (8, -126, 127),
    "f32": (24, -126, 127),
    "f64": (53, -1022, 1023),
}


def kind(dtype):
    return TYPES[dtype][1]


def size(dtype):
    return TYPES[dtype][0]


class Array:
    """Bits in row-major order; strides only where it is not contiguous."""

    def __init__(self, dtype, shape, bits, strides=None):
        self.dtype, self.shape, self.strides = dtype, tuple(shape), strides
        self.bits = [tuple(b) if isinstance(b, (list, tuple)) else int(b)
                     for b in bits]
        assert len(self.bits) == math.prod(self.shape), (shape, len(self.bits))


# ---------------------------------------------------------------------------
# Numbers and bits. A float is a Python float, which holds every type exactly.


def decode(dtype, bits):
    """A float, an int, or a bool."""
    if kind(dtype) == "c":
        real = "f32" if dtype == "c64" else "f64"
        return complex(decode(real, bits[0]), decode(real, bits[1]))
    if kind(dtype) == "b":
        return bits != 0
    if kind(dtype) == "u":
        return bits
    if kind(dtype) == "i":
        width = 8 * size(dtype)
        return bits - (1 << width) if bits >> (width - 1) else bits
    if dtype == "bf16":
        return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    pack, unpack = {2: "He", 4: "If", 8: "Qd"}[size(dtype)]
    return struct.unpack("<" + unpack, struct.pack("<" + pack, bits))[0]


def _round_to_integer(value):
    """Half to even."""
    return round(value)


def encode_float(dtype, value):
    """The bits of a float or an exact Fraction, rounded once to nearest."""
    digits, least, most = FORMATS[dtype]
    width = 8 * size(dtype)
    fraction_bits = digits - 1
    exponent_mask = ((1 << (width - 1 - fraction_bits)) - 1) << fraction_bits
    if isinstance(value, float):
        sign = math.copysign(1, value) < 0
        if math.isnan(value):
            return exponent_mask | 1 << (fraction_bits - 1)
        if math.isinf(value):
            return sign << (width - 1) | exponent_mask
        value = Fraction(abs(value))
    else:
        sign = value < 0
        value = abs(value)
    if value == 0:
        return sign << (width - 1)
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if Fraction(2) ** exponent > value:
        exponent -= 1
    exponent = max(exponent, least)
    units = _round_to_integer(value / Fraction(2) ** (exponent - fraction_bits))
    bits = units + (exponent - least) * (1 << fraction_bits)
    return sign << (width - 1) | min(bits, exponent_mask)


def encode(dtype, value):
    if kind(dtype) == "b":
        return int(bool(value))
    if kind(dtype) in "iu":
        return int(value) & ((1 << 8 * size(dtype)) - 1)
    if kind(dtype) == "c":
        real = "f32" if dtype == "c64" else "f64"
        value = complex(value)
        return encode_float(real, value.real), encode_float(real, value.imag)
    return encode_float(dtype, value)


def same(dtype, a, b):
    """Equal bits, any NaN like any other, any true bool like any other."""
    if kind(dtype) == "c":
        real = "f32" if dtype == "c64" else "f64"
        return same(real, a[0], b[0]) and same(real, a[1], b[1])
    if a == b:
        return True
    if kind(dtype) == "b":
        return bool(a) == bool(b)
    if kind(dtype) == "f":
        return math.isnan(decode(dtype, a)) and math.isnan(decode(dtype, b))
    return False


# ---------------------------------------------------------------------------
# Text

COLUMNS = 100


def _tuple(numbers):
    return "(" + ",".join(str(n) for n in numbers) + ")"


def _element(dtype, bits):
    digits = 2 * size(dtype)
    if kind(dtype) == "c":
        return f"{bits[0]:0{digits}x},{bits[1]:0{digits}x}"
    return f"{bits:0{digits}x}"


def _fill(line, words):
    """The words behind the line, in as many lines as they need."""
    lines = []
    for word in words:
        if len(line) + 1 + len(word) > COLUMNS:
            lines.append(line)
            line = ""
        line += " " + word
    return "\n".join(lines + [line])


def _array(role, array):
    line = f"{role} {array.dtype} {_tuple(array.shape)}"
    if array.strides is not None:
        line += f" strides {_tuple(array.strides)}"
    return _fill(line, (_element(array.dtype, bits) for bits in array.bits))


def _index(shape, i):
    index = []
    for extent in reversed(shape):
        i, k = divmod(i, extent)
        index.append(k)
    return _tuple(reversed(index))


def _exceptions(arrays, reason, elements):
    """The line of one reason; elements: (role, number, our bits)."""
    return _fill(f"differs {reason}", (
        f"{role}{_index(arrays[role].shape, i)}="
        f"{_element(arrays[role].dtype, bits)}"
        for role, i, bits in elements))


class Writer:
    """A file of cases."""

    def __init__(self, path, source, about):
        self.file = open(path, "w")
        self.cases = 0
        self.note = None  # stands over the next case
        self.file.write(f"elementwise-vectors 1 {source}\n")
        for line in about:
            self.file.write(f"# {line}\n")

    def case(self, call, arrays, error=None, reason=None, ours=None,
             our_error=None, exceptions=None):
        """arrays and ours: role to Array. error: a status, or True.
        reason: of the whole result. exceptions: reason to a list of elements
        that differ for it, as (role, number, our bits)."""
        lines = ["", f"# {self.note}", call] if self.note else ["", call]
        self.note = None
        lines += [_array(role, array) for role, array in arrays.items()]
        if error:
            lines.append("error" if error is True else f"error {error}")
        for word in sorted(exceptions or {}):
            lines.append(_exceptions(arrays, word, exceptions[word]))
        if reason:
            lines.append(f"differs {reason}")
            for role, array in (ours or {}).items():
                lines.append(_array("our-" + role, array))
            if our_error:
                lines.append(f"our-error {our_error}")
        self.file.write("\n".join(lines) + "\n")
        self.cases += 1

    def close(self):
        self.file.close()
