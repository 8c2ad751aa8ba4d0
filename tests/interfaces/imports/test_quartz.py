#!/usr/bin/env python3
"""Compares the fires of converted cron expressions of XXL-JOB with those that Quartz computes.

    test_quartz.py CARILLON FIRES_OF_JOBS QUARTZ_JARS [EXPRESSIONS]

Known differences, which are left out: the hours of a clock change, where Quartz moves a fire by the length of the gap
and fires the second time; and W of a day that a month does not have.
"""
import datetime
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
import zoneinfo

CARILLON, FIRES_OF_JOBS = (os.path.abspath(p) for p in sys.argv[1:3])
JARS = sys.argv[3]
EXPRESSIONS = int(sys.argv[4]) if len(sys.argv) > 4 else 200
HERE = os.path.dirname(os.path.abspath(__file__))
AFTER = int(datetime.datetime(2027, 1, 15, 8, 30, tzinfo=datetime.timezone.utc).timestamp())
FIRES = 12
DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]

# Forms that the generator makes seldom or never, each with one that Quartz reads in a way of its own.
CHOSEN = ["0 0/10 * * * ? *", "0 15 10 ? * 6#3", "0 15 10 ? * 6L", "0 15 10 L * ?", "0 15 10 LW * ?",
          "0 15 10 L-3 * ?", "0 15 10 15W * ?", "0 15 10 1W * ?", "0 15 10 ? * MON-FRI",
          "0 15 10 ? * 2-6", "0 0 22-2 * * ?",
          "0 0 12 ? * 6-2",
          "0 0 12 ? * L", "0 0 0 ? NOV-FEB SUN", "0 0 5 ? * MON/2", "0 0 5 ? * 2/2", "0 0 5 ? * */2",
          "0 55-5/4 * * * ?",
          "0/0 0 5 * * ?", "*/0 0 5 * * ?", "/7 0 5 * * ?", "0 0 5 28-3 * ?", "0 0 5 L-3W * ?", "0 0 5 ? 3/4 FRI#2",
          "0 0 5 1/10 * ? 2027-2031", "0 0 5 1 1 ? 2028/3",
          "0 0 5 29 2 ?", "0 30 2 * * ?",
          "5,15,,25 0 5 * * ?",
          "0 0 5 ? JAN,MAR/2 3", "15 10 5 ? * SUN", "15 10 5 ? * 1,7", "0 0 0 1 JAN ? 2030"]
REFUSED = ["0 0 5 * *", "0 0 5 * * *", "0 0 5 ? * ?", "60 0 5 * * ?", "0 0 24 * * ?", "0 0 5 0 * ?", "0 0 5 32 * ?",
           "0 0 5 ? * 8", "0 0 5 ? * 0", "0 0 5 ? * 2#6", "0 0 5 5,L * ?", "0 0 5 ? * 2L,3", "x 0 5 * * ?",
           "0 0 5 * 13 ?", "0 0/60 5 * * ?", "0 0 5 ? * 2#1,3#2", "0 ? 5 * * ?"]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def item(self, low, high, step):
        kind = self.random.randrange(6)
        first, last = self.random.randint(low, high), self.random.randint(low, high)
        if kind == 0:
            return f"{first}/{self.random.randint(1, step)}"
        if kind == 1:
            return f"{first}-{last}"  # backwards, too
        if kind == 2:
            return f"{first}-{last}/{self.random.randint(1, step)}"
        return str(first)

    def field(self, low, high, step):
        if self.random.random() < 0.25:
            return self.random.choice(["*", f"*/{self.random.randint(1, step)}"])
        return ",".join(self.item(low, high, step) for _ in range(self.random.choice([1, 1, 1, 2, 3])))

    def day(self):
        kind = self.random.randrange(12)
        if kind < 5:
            return self.random.choice(["*", self.field(1, 31, 15)])
        return [lambda: "L", lambda: "LW", lambda: f"L-{self.random.randint(1, 5)}",
                lambda: f"{self.random.randint(1, 28)}W", lambda: str(self.random.randint(1, 31)),
                lambda: f"{self.random.randint(1, 10)}/{self.random.randint(2, 9)}", lambda: "*"][kind - 5]()

    def weekday(self):
        kind = self.random.randrange(7)
        number = self.random.randint(1, 7)
        if kind == 0:
            return f"{self.random.choice([number, DAYS[number - 1]])}L"
        if kind == 1:
            return f"{self.random.choice([number, DAYS[number - 1]])}#{self.random.randint(1, 5)}"
        if kind == 2:
            return f"{self.random.choice(DAYS)}-{self.random.choice(DAYS)}"
        if kind == 3:
            return ",".join(self.random.sample(DAYS, self.random.randint(1, 3)))
        return self.field(1, 7, 4)

    def expression(self):
        second = self.random.choice(["0", "0", "0", self.field(0, 59, 30)])
        minute, hour = self.field(0, 59, 30), self.field(0, 23, 12)
        month = self.random.choice(["*", "*", self.field(1, 12, 6), ",".join(self.random.sample(MONTHS, 2))])
        days = [self.day(), "?"] if self.random.random() < 0.5 else ["?", self.weekday()]
        year = self.random.choice(["", "", " *", " 2027-2090", f" 2027/{self.random.randint(1, 3)}"])
        return f"{second} {minute} {hour} {days[0]} {month} {days[1]}{year}"


def convert(expressions, zone):
    """Returns for each expression a job, or the reasons why it was refused."""
    with tempfile.TemporaryDirectory() as folder:
        rows = ",\n".join(f"({i},1,'job {i}','{text}','GLUE_SHELL','true','ROUND','SERIAL_EXECUTION')"
                          for i, text in enumerate(expressions, 1))
        dump, report = os.path.join(folder, "dump.sql"), os.path.join(folder, "report.json")
        with open(dump, "w") as out:
            out.write("INSERT INTO `xxl_job_info` (`id`,`job_group`,`job_desc`,`job_cron`,`glue_type`,`glue_source`,"
                      f"`executor_route_strategy`,`executor_block_strategy`) VALUES {rows};\n")
        result = subprocess.run([CARILLON, "import", "xxl-job", dump, "--tz", zone, "-o", "json", "--report", report],
                                capture_output=True, text=True)
        if result.returncode not in (0, 1):
            raise AssertionError(result.stderr)
        jobs = {job["job_id"]: job for job in json.loads(result.stdout)["jobs"]}
        with open(report) as rows:
            return [jobs[row["job_id"]] if row["job_id"] else row["remarks"] for row in json.load(rows)["rows"]]


def fires_here(jobs):
    request = json.dumps({"jobs": jobs, "after": AFTER, "count": FIRES * 3})
    return json.loads(subprocess.run([FIRES_OF_JOBS], input=request, capture_output=True, text=True, check=True).stdout)


def fires_of_quartz(expressions, zone):
    lines = "".join(f"{zone}\t{AFTER}\t{FIRES * 3}\t{text}\n" for text in expressions)
    # The archive of classes for Kafka's JVMs does not fit this one, which would say so on its standard output.
    environment = {name: value for name, value in os.environ.items() if name != "JDK_JAVA_OPTIONS"}
    out = subprocess.run(["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{JARS}/*",
                          os.path.join(HERE, "quartz", "QuartzFires.java")],
                         input=lines, capture_output=True, text=True, check=True, env=environment).stdout
    return [line if line.startswith("error") else [int(second) for second in line.split()]
            for line in out.splitlines()]


def at_clock_change(second, zone):
    """Whether the clock changes within three hours of the time."""
    info = zoneinfo.ZoneInfo(zone)
    offset = [datetime.datetime.fromtimestamp(second + d, info).utcoffset() for d in (-10800, 10800)]
    return offset[0] != offset[1]


class QuartzTest(unittest.TestCase):
    maxDiff = None

    def compare(self, expressions, zone):
        compared = 0
        converted, theirs = convert(expressions, zone), fires_of_quartz(expressions, zone)
        ours = iter(fires_here([job for job in converted if isinstance(job, dict)]))
        for text, job, their in zip(expressions, converted, theirs):
            if not isinstance(job, dict):
                # A list with L, W or # is refused because Quartz reads only a part of it.
                if not any("in another way than it looks" in reason for reason in job):
                    self.assertIsInstance(their, str, f"{text}: Quartz reads it, but {job}")
                continue
            here = next(ours)
            self.assertIsInstance(their, list, f"{text} became {job['schedules']}, but Quartz: {their}")
            # Years from 2100 cannot be said.
            near = [[s for s in fires if not at_clock_change(s, zone) and s < 4102444800][:FIRES]
                    for fires in (here, their)]
            shortest = min(len(fires) for fires in near)
            if shortest < FIRES:
                near = [fires[:shortest] for fires in near]
            self.assertEqual(near[0], near[1], f"{text} in {zone} became {job['schedules']}")
            compared += len(near[0])
        return compared

    def test_generated_expressions_fire_as_in_quartz(self):
        generator = Generator(20260101)
        expressions = [generator.expression() for _ in range(EXPRESSIONS)]
        for zone in ("Asia/Shanghai", "Europe/Paris"):
            compared = self.compare(expressions, zone)
            self.assertGreater(compared, EXPRESSIONS * FIRES * 0.8, zone)

    def test_chosen_expressions_fire_as_in_quartz(self):
        self.assertGreater(self.compare(CHOSEN, "Asia/Shanghai"), len(CHOSEN) * 5)

    def test_quartz_and_the_import_refuse_the_same(self):
        for text, job in zip(REFUSED, convert(REFUSED, "UTC")):
            self.assertIsInstance(job, list, text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
