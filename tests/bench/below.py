"""Lists the rows that are below the share of their limit that is aimed at.

    (bench --json; bench --json) | below.py [BENCH]

prints a table of them, layout by layout, the least first. Of several runs, each
with limits of its own, the best share of a row counts: others on the
machine may disturb one. With the path of
the benchmark each is run once more under Linux's perf, and the table has the
functions of the library that have a tenth or more of its samples.

Aimed at is 0.9 of the limit where an operation is quick and operands lie as
vectors take them, and 0.7 elsewhere. Of elements alone, empty tensors,
gradients and sums, and powers by a number with a formula no share is aimed at.
Of random rows of 64 KiB and more it is 0.5, or 0.25 where innermost loops are
all below 16.
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

NEAR = re.compile(r"P([234578]|6\.128|11|14)(\.|$)")
SLOW = re.compile(r"div|mod|fmod|floordiv|pow|hypot|atan2|logaddexp|nextafter"
                  r"|add\+(?!relu).*")
UNAIMED = re.compile(r"P1\.|P15|[BN]")
RANDOM = re.compile(r"R\d")
FAR_FROM, SHORT = 64 << 10, 16  # those of random rows that count
LEAST = 10  # percent of the samples of a function that is shown


def aim(row):
    layout, _, operation, _ = row["name"].split()
    if RANDOM.match(layout):
        return 0.25 if row["inner"] < SHORT else 0.5
    quick = not SLOW.fullmatch(operation)
    return 0.9 if quick and NEAR.match(layout) else 0.7


def has_aim(row):
    if RANDOM.match(row["name"]):
        return row["limit"] and row["bytes"] >= FAR_FROM
    return row["limit"] and not UNAIMED.match(row["name"])


def objects(text):
    """The JSON objects that follow one another in a text."""
    decoder, text = json.JSONDecoder(), text.lstrip()
    while text:
        found, end = decoder.raw_decode(text)
        text = text[end:].lstrip()
        yield found


def shares(runs):
    """{row's name: (its best share, what is aimed at)} of those that count."""
    best = {}
    for run in runs:
        for row in filter(has_aim, run["rows"]):
            share = row["limit"] / row["median"]
            others = best.get(row["name"], (0, 0))[0]
            best[row["name"]] = max(share, others), aim(row)
    return best


def below(best):
    """{layout's name, or "" of all random ones: [(share, row's name)]}."""
    missed = collections.defaultdict(list)
    for name, (share, aimed) in best.items():
        group = "" if RANDOM.match(name) else name.split()[0]
        if share < aimed:
            missed[group].append((share, name))
    return missed


def profile(bench, name, samples):
    """Where the library's time goes: "add_i8 89, spread_bytes 10"."""
    _, layout, operation, dtype = name.split()
    row = ["--layout", layout, "--filter", f"* {operation} {dtype}"] \
        if RANDOM.match(name) else ["--filter", name]
    subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "5000",
                    "-o", samples, bench, "--quick", "--times", *row],
                   check=True, stdout=subprocess.DEVNULL)
    report = subprocess.run(["perf", "report", "-i", samples, "--stdio",
                             "--percentage", "relative", "--sort", "dso,sym"],
                            check=True, capture_output=True, text=True)
    found = re.findall(r"([\d.]+)%\s+libelementwise\S*\s+\[\.\] ([^\s.]+)",
                       report.stdout)
    total = sum(float(percent) for percent, _ in found)
    return ", ".join(f"{function} {100 * float(percent) / total:.0f}"
                     for percent, function in found
                     if 100 * float(percent) >= LEAST * total)


def main():
    if len(sys.argv) > 2 or "--help" in sys.argv:
        sys.exit(__doc__)
    best = shares(objects(sys.stdin.read()))
    missed = below(best)
    print(f"{sum(map(len, missed.values()))} of {len(best)} rows are below.\n")
    print("| row | share | percent of samples |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        samples = os.path.join(folder, "perf.data")
        for rows in missed.values():
            for share, name in sorted(rows):
                spent = "" if len(sys.argv) < 2 else \
                    profile(sys.argv[1], name, samples)
                print(f"| {name} | {share:.2f} | {spent} |", flush=True)


main()
