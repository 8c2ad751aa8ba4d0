"""Scenarios: each takes a Bench and the command line's options and answers (figures, panels of the plot)."""
from firing import judge, load, report

STEADY_RATES = [1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 10000, 12000]
SPREAD_RATES = [100, 200, 300]
SLOTS = 8


def at_rate(bench, work, rate, target, per_job=load.SCHEDULES_PER_JOB):
    jobs, begin = load.steady(work, rate, per_job)
    result, starts = bench.measure(target, jobs, begin)
    result = {"rate": rate, **result}
    report.show(result)
    return result, starts, begin


def ascending(bench, work, rates, slots=None, until_not_held=True):
    """The highest rate that was held, or the last one; a fresh target for each."""
    best, tried, panels = None, [], []
    for rate in rates:
        with bench.target(slots=slots) as target:
            result, _, _ = at_rate(bench, work, rate, target)
        tried.append(result)
        panels.append((f"{rate}/s", result["by_second"]))
        if until_not_held and not judge.held(result):
            break
        best = result
    short = ("rate", "completed", "fires_planned", "missed", "late_ms", "stolen", "left_alone", "cpu_us_per_fire")
    return {**(best or tried[0]), "held": best is not None if until_not_held else all(map(judge.clean, tried)),
            "tried": [{key: result[key] for key in short} for result in tried]}, panels


def steady(bench, options):
    return ascending(bench, load.NOOP, options.rates or STEADY_RATES)


def lateness(bench, options):
    return ascending(bench, load.NOOP, [1000], until_not_held=False)


def spread(bench, options):
    return ascending(bench, load.TRUE, options.rates or SPREAD_RATES, slots=SLOTS, until_not_held=False)


ALL = {each.__name__: each for each in (steady, lateness, spread)}
