"""Lists the rows that are below the share of their limit that is aimed at.

    bench --json | below.py

prints a table of layouts, with the operations and types of each that are
below and their shares, the least first. Aimed at is 0.9 of the limit where an
operation is quick and operands lie as vectors take them, and 0.7 elsewhere.
Of empty tensors, elements alone, gradients and sums no share is aimed at.
"""
import collections
import json
import re
import sys

NEAR = re.compile(r"P([234578]|6\.128|11|14)(\.|$)")
SLOW = re.compile(r"div|mod|pow|hypot|atan2|logaddexp|nextafter|fmod"
                  r"|floordiv|add\+(?!relu).*")
UNAIMED = re.compile(r"P1\.|P15|[BN]")


def aim(layout, operation):
    quick = not SLOW.fullmatch(operation)
    return 0.9 if quick and NEAR.match(layout) else 0.7


def below(rows):
    """The rows that have an aim, and {layout: [(share, operation, type)]} of
    those that miss it."""
    count, missed = 0, collections.defaultdict(list)
    for row in rows:
        layout, _, operation, dtype = row["name"].split()
        if UNAIMED.match(layout) or not row["limit"]:
            continue
        count += 1
        share = row["limit"] / row["median"]
        if share < aim(layout, operation):
            missed[layout].append((share, operation, dtype))
    return count, missed


def by_operation(missed):
    """One layout's as text: `add` u8 0.61 bool 0.63; `div` ..."""
    found = collections.defaultdict(list)
    for share, operation, dtype in sorted(missed):
        found[operation].append(f"{dtype} {share:.2f}")
    return "; ".join(f"`{operation}` {' '.join(shares)}"
                     for operation, shares in found.items())


def main():
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    count, missed = below(json.load(sys.stdin)["rows"])
    print(f"{sum(map(len, missed.values()))} of {count} rows are below.\n")
    print("| layout | below |\n|---|---|")
    for layout in missed:
        print(f"| {layout} | {by_operation(missed[layout])} |")


main()
