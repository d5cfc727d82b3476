"""Turns the figures of a comparison into a summary, tables and a picture."""
import platform
import re

MARKERS = ("<!-- made by make bench-peers: begin -->",
           "<!-- made by make bench-peers: end -->")
OURS = ("ours", "our plan")


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


def generated(results):
    versions = ", ".join(f"{n} {v}" for n, v in results["versions"].items()
                         if n != "our plan")
    lines = [MARKERS[0], "", summary(results), "",
             f"{results['machine']}; {results['date']}. {versions}. One "
             "thread, pinned. Made by `make bench-peers PEERS=--write`.", "",
             "![time over limit](performance.svg)"]
    for title, rows in groups(results):
        if rows:
            lines += ["", f"### {title}", ""] + table(results, rows)
    return "\n".join(lines + ["", MARKERS[1]])


def write(results, document):
    with open(document) as file:
        text = file.read()
    pattern = re.escape(MARKERS[0]) + ".*" + re.escape(MARKERS[1])
    text = re.sub(pattern, lambda _: generated(results), text, flags=re.S)
    with open(document, "w") as file:
        file.write(text)
    draw(results, document.removesuffix(".md") + ".svg")


def draw(results, path):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.fonttype"] = "none"
    matplotlib.rcParams["svg.hashsalt"] = "libelementwise"
    from matplotlib import pyplot
    rows = [n for title, g in groups(results) for n in g
            if title != "Operations and types"]
    marks = dict(zip([n for n in results["versions"] if n != "our plan"],
                     "osD^vP"))
    figure, axes = pyplot.subplots(figsize=(9, 0.2 * len(rows) + 1.2))
    for library, mark in marks.items():
        points = [(results["rows"][n]["times"][library][0] /
                   results["rows"][n]["limit"], i)
                  for i, n in enumerate(rows)
                  if library in results["rows"][n]["times"]]
        if points:
            axes.scatter(*zip(*points), marker=mark, s=28 if library == "ours"
                         else 14, label=library, zorder=3,
                         color="black" if library == "ours" else None)
    axes.axvline(1, color="grey", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), rows, fontsize=7)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("time over this machine's limit (1 is the limit)")
    axes.grid(axis="both", linewidth=0.3)
    axes.legend(fontsize=7, loc="lower right")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
