"""Turns the figures of a comparison into a summary, tables and a picture."""
import os
import platform
import re

WORST = 10  # rows that a limited run shows
DOCUMENT = "performance"  # where figures are written
OURS = ("ours", "our plan")
STYLES = {"ours": {"s": 28, "color": "black"},
          "our plan": {"s": 28, "facecolor": "none", "edgecolor": "black"}}


def seconds(value):
    """Three digits and a unit."""
    for scale, unit in ((1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")):
        if value >= scale or unit == "ns":
            return f"{value / scale:.3g} {unit}"


def machine(level):
    model, cores = platform.processor(), 0
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":")[1].strip()
                cores += 1
    return f"{model}, {cores} cores seen, kernels for {level}"


def partner(result, name):
    """What a peer is compared with: peers that were prepared before the
    clock ran stand beside our plan."""
    times = result["times"]
    prepared = name in ("XNNPACK", "oneDNN") and "our plan" in times
    return times["our plan" if prepared else "ours"][0]


def ratios(result):
    """{peer: its time over ours}"""
    return {name: t[0] / partner(result, name)
            for name, t in result["times"].items() if name not in OURS}


def ranking(results):
    """(smallest ratio, peer, row), the worst row first."""
    rank = []
    for row, result in results["rows"].items():
        found = ratios(result)
        if found:
            peer = min(found, key=found.get)
            rank.append((found[peer], peer, row))
    return sorted(rank)


def summary(results):
    rank = ranking(results)
    if not rank:
        return "no rows"
    ratio, peer, row = rank[0]
    slower = sum(r < 1 for r, _, _ in rank)
    middle = rank[len(rank) // 2][0]
    return (f"Worst row: {row}, where {peer} takes {ratio:.2f} times our "
            f"time. Of {len(rank)} rows, the fastest peer is faster than we "
            f"are in {slower}; it takes {middle:.2f} times our time in the "
            f"median row.")


def table(results, rows):
    peers = [n for n in results["versions"] if n not in OURS]
    lines = ["| row | ours | plan | limit | " + " | ".join(peers) + " |",
             "|---" * (4 + len(peers)) + "|"]
    for name in rows:
        result = results["rows"][name]
        times, found = result["times"], ratios(result)
        plan = seconds(times["our plan"][0]) if "our plan" in times else ""
        share = 100 * result["limit"] / times["ours"][0]
        cells = [name.replace("|", "\\|"), seconds(times["ours"][0]), plan,
                 f"{share:.0f} %"]
        cells += [f"{found[p]:.2f}" if p in found else "" for p in peers]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def groups(results):
    """Layouts, operations and types, gradients: each with a title."""
    names = list(results["rows"])
    layouts = [n for n in names if n[0] == "P" and n.endswith(" add f32")]
    backward = [n for n in names if n[0] == "B"]
    others = [n for n in names if n not in layouts and n not in backward]
    return (("Layouts", layouts), ("Operations and types", others),
            ("Gradients and sums", backward))


def provenance(results, name):
    versions = ", ".join(f"{n} {v}" for n, v in results["versions"].items()
                         if n not in OURS)
    command = "make bench-peers PEERS=" + (
        "--write" if name == DOCUMENT else f'"--write {name}"')
    if results["held"]:
        command = f"ELEMENTWISE_CPU={results['held']} {command}"
    return (f"{results['machine']}; {results['date']}; one thread, pinned. "
            f"{versions}. Made by `{command}`.")


def everything(results, name):
    lines = [summary(results), "", provenance(results, name), "",
             f"![time over limit]({name}.svg)"]
    for title, rows in groups(results):
        if rows:
            lines += ["", f"### {title}", ""] + table(results, rows)
    return lines


def worst(results, name):
    rows = [row for _, _, row in ranking(results)[:WORST]]
    return [summary(results), "", provenance(results, name), ""] + \
        table(results, rows)


def write(results, folder, name):
    """Puts figures between the markers of a run at this level."""
    document = os.path.join(folder, name + ".md")
    held = results["held"]
    marker = "<!-- made by make bench-peers" + (f", {held}" if held else "")
    begin, end = marker + ": begin -->", marker + ": end -->"
    lines = (worst if held else everything)(results, name)
    made = "\n".join([begin, ""] + lines + ["", end])
    with open(document) as file:
        text = file.read()
    text, found = re.subn(re.escape(begin) + ".*" + re.escape(end),
                          lambda _: made, text, flags=re.S)
    if found != 1:
        raise SystemExit(f"{document} has not one place for {begin}")
    with open(document, "w") as file:
        file.write(text)
    if not held:
        draw(results, os.path.join(folder, name + ".svg"))


def draw(results, path):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.fonttype"] = "none"
    matplotlib.rcParams["svg.hashsalt"] = "libelementwise"
    from matplotlib import pyplot
    rows = [n for title, g in groups(results) for n in g
            if title != "Operations and types"]
    figure, axes = pyplot.subplots(figsize=(9, 0.2 * len(rows) + 1.2))
    for library, mark in zip(results["versions"], "oosD^vP"):
        points = [(results["rows"][n]["times"][library][0] /
                   results["rows"][n]["limit"], i)
                  for i, n in enumerate(rows)
                  if library in results["rows"][n]["times"]]
        if points:
            axes.scatter(*zip(*points), label=library, zorder=3, marker=mark,
                         **STYLES.get(library, {"s": 14}))
    axes.axvline(1, color="grey", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), rows, fontsize=7)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("time over this machine's limit (1 is the limit)")
    axes.grid(axis="both", linewidth=0.3)
    axes.legend(fontsize=7, loc="lower right")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
