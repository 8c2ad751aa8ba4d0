"""Report of a measurement: lines for people, and a comparison with earlier figures."""
from firing import stolen

# The fields that identify the parts of a list. The rate is not enough: with several members it is always the same.
LABELS = ("name", "members", "minute", "rate")


def say(text):
    print(f"==> {text}", flush=True)


def ratio(now, before):
    return round(now / before, 3) if now is not None and before else None


def late_text(late):
    return f"late p50 {late['p50']:.1f} p95 {late['p95']:.1f} p99 {late['p99']:.1f} max {late['max']:.1f} ms"


def counts_text(part):
    return (f"completed {part['completed']} of {part['fires_planned']}, missed {part['missed']}, "
            f"doubled {part['doubled']}, early {part['early']}")


def show(result):
    title = result.get("title") or f"{result['rate']}/s"
    say(f"{title}, {result['seconds']} s: {counts_text(result)}, {late_text(result['late_ms'])}")
    if "first" in result:
        first = result["first"]
        say(f"the first {first['seconds']} s before them: {counts_text(first)}, {late_text(first['late_ms'])}")
    say("CPU: " + ", ".join(f"{p['name']} {p['cpu_percent']} % {p['cpu_us_per_fire']} us a fire {p['rss_mib']} MiB"
                            for p in result["processes"]) +
        f"; together {result['cpu_us_per_fire']} us a fire; {result['rows_read_per_second']} rows read a second")
    alone = result["left_alone"]
    say(f"the host took {result['stolen'] * 100:.1f} % of all cores; in the {alone['seconds']} seconds in which it "
        f"took less than {stolen.LIMIT * 100:.0f} %: {late_text(alone['late_ms'])}")
    if not result["setup_in_time"]:
        say("the jobs were not created in time: these figures do not count")


def figures(tree, path=""):
    """Returns {path: number} of all numbers except those in columns."""
    found = {}
    if isinstance(tree, dict):
        for key, value in tree.items():
            found.update(figures(value, f"{path}.{key}" if path else str(key)))
    elif isinstance(tree, list):
        for part in tree:
            label = next((part[name] for name in LABELS if name in part), None) if isinstance(part, dict) else None
            if label is not None:
                found.update(figures(part, f"{path}[{label}]"))
    elif isinstance(tree, (int, float)) and not isinstance(tree, bool):
        found[path] = tree
    return found


def compare(now, before):
    """Returns [(path, number now, number before, ratio)] of all figures that are in both reports."""
    old = figures(before)
    return [(path, value, old[path], ratio(value, old[path])) for path, value in figures(now).items() if path in old]


def show_comparison(rows):
    width = max((len(path) for path, *_ in rows), default=0)
    print(f"{'figure':{width}}  {'now':>14}  {'before':>14}  {'ratio':>8}")
    for path, now, before, quotient in rows:
        print(f"{path:{width}}  {now:>14}  {before:>14}  {'-' if quotient is None else quotient:>8}")


def without_columns(tree):
    """The figures to print: those of each second are left out, as they are for --json and --plot."""
    if isinstance(tree, dict):
        return {key: without_columns(value) for key, value in tree.items() if key != "by_second"}
    return [without_columns(value) for value in tree] if isinstance(tree, list) else tree
