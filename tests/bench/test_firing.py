#!/usr/bin/env python3
"""Tests of the benchmark's arithmetic: planned fires, windows, percentiles, seconds, comparison and plot."""
import os
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from firing import arrivals, graphs, judge, load, past, plot, processes, report  # noqa: E402

SECOND = 1_000_000
BEGIN = 1_800_000_000 * SECOND


def lateness(p99):
    return {"p50": 1.0, "p95": 2.0, "p99": p99, "max": p99}


def result(**changed):
    return {"missed": 0, "doubled": 0, "early": 0, "completed": 10, "fires_planned": 10, "late_ms": lateness(100.0),
            "setup_in_time": True,
            "first": {"missed": 0, "doubled": 0, "early": 0, "completed": 2, "fires_planned": 2}, **changed}


class GraphsTest(unittest.TestCase):
    def rows(self, **changed):
        """A run in which each node takes 10 ms, and starts 5 ms after the nodes before it."""
        ends, rows = [], []
        for position, after in enumerate(graphs.AFTER):
            start = changed.get(f"start{position}", max([ends[one] for one in after] or [BEGIN]) + 5_000)
            ends.append(start + 10_000)
            rows.append((str(BEGIN), str(7 * graphs.POSITIONS + position), "COMPLETED", "1", str(start), str(ends[-1])))
        return rows

    def test_time_to_the_next_node_counts_from_the_last_end_before_it(self):
        result = graphs.judge_runs(graphs.runs_of(self.rows()), 1)
        self.assertEqual((1, 1, 10, 0), (result["runs"], result["completed"], result["nodes"], result["early"]))
        self.assertEqual((5.0, 5.0), (result["next_ms"]["p50"], result["next_ms"]["max"]))
        self.assertTrue(graphs.held(result))

    def test_a_node_that_starts_early_or_is_missing_or_tried_twice_is_noticed(self):
        self.assertEqual(1, graphs.judge_runs(graphs.runs_of(self.rows(start9=BEGIN)), 1)["early"])
        self.assertFalse(graphs.held(graphs.judge_runs(graphs.runs_of(self.rows(start9=BEGIN)), 1)))
        self.assertFalse(graphs.held(graphs.judge_runs(graphs.runs_of(self.rows()[:-1]), 1)))
        self.assertFalse(graphs.held(graphs.judge_runs(graphs.runs_of(self.rows()), 2)))
        again = [row[:3] + ("2",) + row[4:] for row in self.rows()]
        self.assertFalse(graphs.held(graphs.judge_runs(graphs.runs_of(again), 1)))
        late = graphs.judge_runs(graphs.runs_of(self.rows(start5=BEGIN + 2_000_000)), 1)
        self.assertFalse(graphs.held(late))


class ArrivalsTest(unittest.TestCase):
    def test_every_event_is_in_one_call_and_calls_are_spread_over_the_seconds(self):
        calls = arrivals.calls(1000, 10, 2)
        self.assertEqual((200, 0.0, 1.99), (len(calls), calls[0][0], calls[-1][0]))
        self.assertEqual(list(range(2000)), [number for _, numbers in calls for number in numbers])

    def test_one_event_of_ten_starts_a_run_and_none_of_those_that_only_pass(self):
        def starting(each):
            return sum(arrivals.event("w", number, each)["type"] == "bench.start" for number in range(1000))
        self.assertEqual((100, 0), (starting(10), starting(0)))

    def test_percentiles_are_those_of_the_sorted_times(self):
        self.assertEqual((99, 50, 99), tuple(arrivals.percentile(list(range(100))[::-1], part) for part in (0.99, 0.5, 1)))


class LoadTest(unittest.TestCase):
    def test_fires_are_spread_over_the_second_in_whole_milliseconds(self):
        self.assertEqual([0, 333_000, 666_000], load.spread(3, 0))
        self.assertEqual([BEGIN + 125_000, BEGIN + 625_000], load.spread(2, BEGIN, shift=0.25))
        fires = load.spread(7000, BEGIN)
        self.assertEqual((7000, BEGIN, BEGIN + 999_000), (len(fires), min(fires), max(fires)))

    def test_planned_fires_of_a_window_follow_from_the_schedules(self):
        jobs = load.Load(load.NOOP, load.spread(10, BEGIN), once=[BEGIN + SECOND, BEGIN + 2 * SECOND])
        self.assertEqual(10, jobs.planned(BEGIN, BEGIN + SECOND))
        self.assertEqual(11, jobs.planned(BEGIN + SECOND, BEGIN + 2 * SECOND))
        self.assertEqual(0, jobs.planned(BEGIN - SECOND, BEGIN))
        self.assertEqual(1, jobs.planned(BEGIN, BEGIN + 1), "a window has its first microsecond and not its last")
        self.assertEqual(602, jobs.planned(BEGIN, BEGIN + 60 * SECOND))

    def test_schedules_are_divided_among_jobs(self):
        jobs = load.Load(load.TRUE, load.spread(33, BEGIN), once=[BEGIN + 1_500_000]).jobs()
        self.assertEqual([32, 2], [len(job["schedules"]) for job in jobs])
        self.assertEqual(["bench-0", "bench-1"], [job["job_id"] for job in jobs])
        self.assertEqual({"kind": "once", "at": "2027-01-15T08:00:01.500000Z"}, jobs[1]["schedules"][-1])

    def test_no_schedule_of_a_job_repeats_another(self):
        for job in load.Load(load.NOOP, load.spread(7000, BEGIN)).jobs():
            texts = [str(schedule) for schedule in job["schedules"]]
            self.assertEqual(len(texts), len(set(texts)), job["job_id"])

    def test_stored_jobs_do_not_fire_while_it_is_measured(self):
        now = BEGIN / SECOND
        for job in load.stored(1440, now):
            minute, hour = map(int, job["schedules"][0]["cron_expression"].split()[:2])
            ahead = (hour * 60 + minute - int(now / 60)) % 1440
            self.assertTrue(360 <= ahead < 1080, job)


class JudgeTest(unittest.TestCase):
    def test_percentiles_are_milliseconds(self):
        late = judge.lateness(range(100_000, 0, -1000))
        self.assertEqual({"p50": 51.0, "p95": 96.0, "p99": 100.0, "max": 100.0}, late)
        self.assertEqual(0.0, judge.lateness([])["max"])

    def test_a_window_has_its_first_fire_and_not_its_last(self):
        starts = [(BEGIN, 1), (BEGIN + 1, 2), (BEGIN + SECOND, 3)]
        self.assertEqual([1, 2], judge.within(starts, BEGIN, BEGIN + SECOND))

    def test_seconds_are_counted_from_the_first_fire(self):
        columns = judge.by_second([(BEGIN + 2 * SECOND, 5000), (BEGIN, 1000), (BEGIN + 999_999, 3000)], BEGIN)
        self.assertEqual({"second": [0, 2], "fires": [2, 1], "p50": [3.0, 5.0], "p99": [3.0, 5.0], "max": [3.0, 5.0]},
                         columns)

    def test_counts_of_rows(self):
        counted = judge.count((12, 9, 8, 1), 10, [-1, 5])
        self.assertEqual((10, 8, 1, 4, 1), tuple(counted[name] for name in
                                                 ("fires_planned", "completed", "missed", "doubled", "early")))

    def test_what_is_held_is_clean_and_in_time(self):
        self.assertTrue(judge.held(result()))
        self.assertFalse(judge.held(result(late_ms=lateness(100.1))))
        self.assertTrue(judge.clean(result(late_ms=lateness(100.1))))
        for name in ("missed", "doubled", "early"):
            self.assertFalse(judge.clean(result(**{name: 1})))
        self.assertFalse(judge.clean(result(completed=9)))
        self.assertFalse(judge.clean(result(setup_in_time=False)))
        self.assertFalse(judge.clean(result(first={**result()["first"], "missed": 1})))
        without_first = result()
        without_first.pop("first")
        self.assertTrue(judge.clean(without_first))

    def test_a_p99_is_back_once_it_stays_within_the_limit(self):
        columns = {"second": list(range(8, 16)), "p99": [50, 50, 400, 90, 101, 100, 9, 10]}
        self.assertEqual(3, judge.back_under(columns, 10), "a single second within the limit is not enough")
        self.assertEqual(0, judge.back_under(columns, 13))
        self.assertIsNone(judge.back_under(columns, 14), "the seconds before the end do not count")
        self.assertEqual(2, judge.seconds_above(columns, 10, 14))


class PastTest(unittest.TestCase):
    ENDED = (past.FIRES, past.FIRES, past.FIRES, 0, 0, 0, BEGIN, BEGIN + 20 * SECOND)

    def backfill(self, *row, state="COMPLETED"):
        return {"state": state, **past.count(row or self.ENDED)}

    def cancelled(self, **changed):
        part = self.backfill(4000, 4000, 3960, 40, 0, 0, BEGIN, BEGIN + SECOND, state="CANCELLED")
        return {**part, "rows_most_later": 4000, "rows_later": 4000, "open_later": 0, **changed}

    def test_the_ranges_lie_in_the_past_beside_each_other(self):
        (middle, end), (begin, until) = past.ranges(BEGIN + 123)
        self.assertEqual((BEGIN - 60 * SECOND, middle), (end, until))
        self.assertEqual([past.FIRES * SECOND] * 2, [end - middle, until - begin])
        schedule = past.job(begin, end)["schedules"][0]
        self.assertEqual(("2027-01-15T07:59:00.000000Z", 1000), (schedule["end_time"], schedule["every_ms"]))

    def test_a_backfill_is_whole_if_each_fire_has_one_run_that_succeeded(self):
        part = self.backfill()
        self.assertEqual((20.0, past.FIRES / 20), (part["seconds"], part["runs_per_second"]))
        self.assertTrue(past.whole(part))
        self.assertFalse(past.whole({**part, "state": "RUNNING"}))
        for place, value in enumerate([past.FIRES + 1, past.FIRES - 1, past.FIRES - 1, 1, 1, 1]):
            row = list(self.ENDED)
            row[place] = value
            self.assertFalse(past.whole(self.backfill(*row)), f"column {place} is {value}")
        self.assertIsNone(self.backfill(*[0] * 8)["runs_per_second"])

    def test_no_run_appears_after_a_cancel(self):
        self.assertTrue(past.stopped(self.cancelled()))
        for changed in ({"rows_later": 4001, "rows_most_later": 4001}, {"rows_most_later": 4001}, {"rows_later": 3999},
                        {"open_later": 1}, {"state": "COMPLETED"}, {"doubled": 1}, {"rows": 0}):
            self.assertFalse(past.stopped(self.cancelled(**changed)), changed)
        every = {name: past.FIRES for name in ("rows", "rows_later", "rows_most_later")}
        self.assertFalse(past.stopped(self.cancelled(**every)), "it was not cancelled midway")

    def test_both_windows_without_a_backfill_count(self):
        starts = [(second * SECOND, late) for second, late in
                  [(0, 10_000), (1, 10_000), (2, 14_000), (3, 14_000), (4, 12_000), (5, 12_000), (6, 99_000)]]
        windows = [(since * SECOND, (since + 2) * SECOND) for since in (0, 2, 4)]
        answer = past.compare(starts, *windows)
        self.assertEqual((10.0, 14.0, 12.0, 12.0), tuple(answer[f"{name}_late_ms"]["p99"] for name in
                                                         ("before", "beside", "after", "alone")))
        self.assertEqual((1.167, 2.0, False), (answer["p99_ratio"], answer["beside_seconds"], answer["noisy"]))
        self.assertTrue(past.compare(starts, *windows[:2], (6 * SECOND, 7 * SECOND))["noisy"])

    def test_held_needs_all_of_it(self):
        answer = {"live": result(), "backfill": self.backfill(), "cancelled": self.cancelled(), "p99_ratio": 1.5}
        self.assertTrue(past.held(answer))
        for changed in ({"live": result(missed=1)}, {"backfill": self.backfill(*[0] * 8)},
                        {"cancelled": self.cancelled(open_later=1)}, {"p99_ratio": 1.501}, {"p99_ratio": None}):
            self.assertFalse(past.held({**answer, **changed}), changed)


class ProcessesTest(unittest.TestCase):
    def test_cpu_is_divided_among_fires(self):
        self.assertEqual({"cpu_percent": 50.0, "cpu_us_per_fire": 500.0},
                         processes.cost(processes.TICKS, 2.0, 2000))
        self.assertIsNone(processes.cost(1, 1.0, 0)["cpu_us_per_fire"])


class ReportTest(unittest.TestCase):
    def test_parts_of_a_list_are_told_apart(self):
        parts = [{"rate": 5, "members": 1, "x": 1}, {"rate": 5, "members": 2, "x": 2}]
        self.assertEqual({"each[1].x": 1, "each[2].x": 2}, {path: number for path, number in report.figures(
            {"each": parts}).items() if path.endswith("x")})

    def test_each_figure_stands_beside_the_earlier_one(self):
        now = {"soak": {"held": True, "late_ms": {"p99": 20.0}, "by_second": {"p99": [1, 2]},
                        "processes": [{"name": "kafka", "cpu_percent": 10}], "minutes": [{"minute": 2, "x": 3}]}}
        before = {"soak": {"late_ms": {"p99": 10.0}, "processes": [{"name": "kafka", "cpu_percent": 0}]}}
        self.assertEqual([("soak.late_ms.p99", 20.0, 10.0, 2.0), ("soak.processes[kafka].cpu_percent", 10, 0, None)],
                         report.compare(now, before))
        self.assertEqual(3, report.figures(now)["soak.minutes[2].x"])
        self.assertNotIn("by_second", report.without_columns(now)["soak"])


class PlotTest(unittest.TestCase):
    COLUMNS = {"second": [0, 1, 2], "p50": [0.5, 1, 10], "p99": [10, 100, 1000], "max": [10, 100, 1000]}

    def test_a_plot_has_a_panel_for_each_measurement(self):
        empty = {name: [] for name in self.COLUMNS}
        drawn = xml.etree.ElementTree.fromstring(plot.svg([("a < b", self.COLUMNS), ("nothing", empty)]))
        lines = [e.get("points") for e in drawn.iter("{http://www.w3.org/2000/svg}polyline")]
        self.assertEqual(6, len(lines))
        self.assertIn("a < b", [e.text for e in drawn.iter("{http://www.w3.org/2000/svg}text")])
        self.assertEqual("75.0,210.0 477.5,210.0 880.0,153.3", lines[2], "0.5 ms is drawn at the bottom, as 1 ms")
        self.assertEqual("880.0,40.0", lines[1].split()[-1], "the highest decade is at the top")


if __name__ == "__main__":
    unittest.main()
