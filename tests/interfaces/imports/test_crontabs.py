#!/usr/bin/env python3
"""Compares `carillon import crontab` with a second reading of the same files (cron_reading.py).

    test_crontabs.py CARILLON FIRES_OF_JOBS [FILES]

Each generated file (crontab_generator.py) is read by both: the same lines must be refused, and each job must have the
command, input, shell, environment, user, zone and fires of its entry, also on the days of clock changes. Then the same
comparison must find mistakes that are made on purpose.
"""
import collections
import copy
import datetime
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
import zoneinfo

import cron_reading
from crontab_generator import ZONES, Generator

CARILLON, FIRES_OF_JOBS = (os.path.abspath(p) for p in sys.argv[1:3])
FILES = int(sys.argv[3]) if len(sys.argv) > 3 else 500
EPOCH = datetime.datetime(1970, 1, 1)
CALENDAR = [30543840, 30543840 + 1500 * 1440, 40]  # from 2028-01-28, with a leap day
AROUND = 20 * 60  # minutes on each side of a clock change


def offsets(zone, first, until):
    """Minutes east of UTC at each minute; no zone changes within a minute."""
    info, utc = zoneinfo.ZoneInfo(zone), datetime.timezone.utc
    found, known = [], {}
    for minute in range(first, until):
        quarter = minute // 15
        if quarter not in known:
            at = datetime.datetime.fromtimestamp(quarter * 900, utc)
            known[quarter] = int(at.astimezone(info).utcoffset().total_seconds()) // 60
        found.append(known[quarter])
    return found


def windows_of(zone):
    """The hours around the clock changes of 2026, or a day without any."""
    first = int(datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc).timestamp()) // 60
    year = offsets(zone, first, first + 365 * 1440)
    changes = [first + i for i in range(1, len(year)) if year[i] != year[i - 1]]
    return [[c - AROUND, c + AROUND] for c in changes or [first + AROUND]]


def hours_of(zone, window):
    """The run of cron's clock through a window: [(day, hour, [(real minute, minute, wild, fixed)])], by local time."""
    offset = offsets(zone, window[0], window[1])
    hours = []
    for real, local, wild, fixed in cron_reading.clock_events(lambda t: offset[t - window[0]], *window):
        key = local // 60
        if not hours or hours[-1][0] != key:
            hours.append((key, []))
        hours[-1][1].append((real, local % 60, wild, fixed))
    return [((EPOCH + datetime.timedelta(hours=key)).date(), key % 24, events) for key, events in hours]


WINDOWS = {zone: windows_of(zone) for zone in ZONES}
HOURS = {zone: [hours_of(zone, window) for window in windows] for zone, windows in WINDOWS.items()}


def drawn_parts(entry, expression):
    """The fields with the values that were drawn, from Carillon's expression; None if they cannot be drawn."""
    fields = []
    for field, text in zip(entry.fields, expression.split()):
        parts = []
        for part, item in zip(field.parts, text.split(",")):
            if part.drawn:
                match = re.fullmatch(r"(\d+)(?:-(\d+)/\d+)?", item)
                first = int(match.group(1)) if match else -1
                width = part.step if part.step > 1 else part.high - part.low + 1
                if not part.low <= first <= min(part.high, part.low + width - 1):
                    return None
                part = cron_reading.Part(first, part.high if part.step > 1 else first, part.step)
            parts.append(part)
        fields.append(cron_reading.Field(field.star, parts))
    return fields


def sets_of(fields):
    sets = [field.values() for field in fields]
    sets[4] = {day % 7 for day in sets[4]}
    return sets


def fires_in(entry, fields, hours):
    sets, stars = sets_of(fields), [field.star for field in fields]
    found = set()
    for day, hour, events in hours:
        if hour in sets[1] and cron_reading.day_matches(sets, stars, day):
            found |= {real for real, minute, wild, fixed in events
                      if minute in sets[0] and (wild if entry.wild else fixed)}
    return sorted(found)


def calendar_of(fields):
    sets, stars = sets_of(fields), [field.star for field in fields]
    found = []
    first, until, most = CALENDAR
    for day in range(first // 1440, until // 1440):
        if cron_reading.day_matches(sets, stars, (EPOCH + datetime.timedelta(days=day)).date()):
            found += [day * 1440 + hour * 60 + minute for hour in sorted(sets[1]) for minute in sorted(sets[0])]
        if len(found) >= most:
            break
    return found[:most]


def rendered(template):
    """The text of a template without placeholders. Where {{ was escaped, the }} that closes it may be doubled."""
    out, opened, at = "", 0, 0
    while at < len(template):
        if template.startswith("{{{{", at):
            out, opened, at = out + "{{", opened + 1, at + 4
        elif template.startswith("{{", at):
            return None
        elif opened and template.startswith("}}", at):
            out, opened, at = out + "}}", opened - 1, at + (4 if template.startswith("}}}}", at) else 2)
        else:
            out, at = out + template[at], at + 1
    return out


def started(line):
    """(shell, command, standard input, further environment) of a job's command line."""
    if not re.match(r"exec '|exec env '|printf '%s\\n' '", line):
        return b"/bin/sh", line.encode(), b"", {}
    words = shlex.split(line)
    stdin = b""
    if words[0] == "printf":
        end = words.index("|")
        stdin = "".join(word + "\n" for word in words[2:end]).encode()
        words = words[end:]
    words, env = words[1:], {}
    if words[0] == "env":
        while "=" in words[1]:
            name, value = words.pop(1).split("=", 1)
            env[name] = value
        words = words[1:]
    return words[0].encode(), words[2].encode(), stdin, env


def complaints_about(entry, job, fires, user):
    """The differences between an entry and its job; `user`: whose file it is, if the entry names none."""
    found = []

    def same(what, here, there):
        if here != there:
            found.append(f"{what}: {here!r} instead of {there!r}")

    line = rendered(job["command"])
    if line is None:
        return ["a placeholder"]
    shell, command, stdin, env = started(line)
    env.update({name: rendered(value) for name, value in job.get("env", {}).items()})
    same("command", command, entry.command)
    same("shell", shell, entry.shell)
    same("input", stdin, entry.stdin)
    same("environment", {k.encode(): v.encode() for k, v in env.items()}, entry.env)
    same("user", job.get("labels", {}).get("crontab-user", "").encode(), entry.user or user)
    same("overlap", job.get("overlap_policy", "allow"), "skip" if entry.single else "allow")
    same("directory", job.get("working_directory"), "~")
    if re.search(r"[\x00-\x1f\x7f]", job["name"]) or not job["name"].strip():
        found.append("no name")
    schedule = job["schedules"][0] if "schedules" in job else job
    if entry.delay:
        same("delay", (schedule.get("kind"), schedule.get("every_ms")), ("delay", entry.delay * 1000))
        return found
    same("zone", schedule["time_zone"], entry.zone)
    same("jitter", schedule.get("jitter_s", 0), entry.jitter)
    if found:
        return found
    fields = drawn_parts(entry, fires["expression"])
    if fields is None:
        return [f"a random value that cron cannot draw: {fires['expression']}"]
    for hours, there in zip(HOURS[entry.zone], fires["windows"]):
        expected = fires_in(entry, fields, hours)
        if there != expected:
            found.append(f"fires in {entry.zone}: {len(there)} instead of {len(expected)}, e.g. "
                         f"{sorted(set(there) ^ set(expected))[:3]}")
    same("calendar", fires["calendar"], calendar_of(fields))
    return found


class Import:
    """The files of one command, what cron makes of them, and what Carillon made of them."""

    def __init__(self, files, system, zone):
        self.system = system
        self.expected = [(name, line) for name, data in sorted(files.items())
                         for line in cron_reading.read(data, system, zone)]
        with tempfile.TemporaryDirectory() as directory:
            for name, data in files.items():
                with open(os.path.join(directory, name), "wb") as f:
                    f.write(data)
            words = [CARILLON, "import", "crontab", directory, "--tz", zone, "-o", "json"]
            run = subprocess.run(words + ["--system"] * system, capture_output=True, timeout=120, check=False)
        if run.returncode not in (0, 1):
            raise AssertionError(run.stderr.decode(errors="replace"))
        self.jobs = json.loads(run.stdout)["jobs"]
        self.refused = {(m.group(1), int(m.group(2))): m.group(3) for m in re.finditer(
            r"^(\w+), line (\d+) skipped: (.*)$", run.stderr.decode(errors="replace"), re.M)}

    def fires(self, jobs):
        request = {"jobs": jobs, "windows": WINDOWS, "calendar": CALENDAR}
        run = subprocess.run([FIRES_OF_JOBS], input=json.dumps(request).encode(), capture_output=True, timeout=120,
                             check=True)
        return json.loads(run.stdout)

    def complaints(self, jobs=None, refused=None):
        jobs = self.jobs if jobs is None else jobs
        refused = set(self.refused) if refused is None else refused
        wrong = refused ^ {(name, line.number) for name, line in self.expected if line.why}
        found = [f"{name}:{line.number} {line.why or 'a job'}, but refused: {self.refused.get((name, line.number))}"
                 for name, line in self.expected if (name, line.number) in wrong]
        if wrong:
            return found or [f"refused: {sorted(wrong)}"]
        entries = [(name, line) for name, line in self.expected if line.entry]
        if len(entries) != len(jobs):
            return [f"{len(jobs)} jobs of {len(entries)} entries"]
        for (name, line), job, fires in zip(entries, jobs, self.fires(jobs)):
            user = b"" if self.system else name.encode()
            found += [f"{name}:{line.number} {c}" for c in complaints_about(line.entry, job, fires, user)]
        return found


def generated(count):
    groups = collections.defaultdict(dict)
    for seed in range(count):
        system, zone = seed % 3 == 0, ZONES[seed % len(ZONES)]
        groups[system, zone][f"f{seed:04}"] = Generator(seed).crontab(system)
    return [Import(files, system, zone) for (system, zone), files in sorted(groups.items())]


def schedule(job):
    return job["schedules"][0] if "schedules" in job else job


def without(*names):
    def change(job):
        for name in names:
            job.pop(name, None)
    return change


def changed(name, value):
    def change(job):
        if name in job:
            job[name] = value(job[name])
    return change


def with_expression(value):
    return lambda job: changed("cron_expression", value)(schedule(job))


MISTAKES = {
    "braces are not escaped": changed("command", rendered),
    "tabs become blanks": changed("command", lambda c: c.replace("\t", " ")),
    "blanks at the end are lost": changed("command", str.rstrip),
    "input is dropped": changed("command", lambda c: re.sub(r"^printf .* \| ", "exec ", c, flags=re.S)),
    "the shell is forgotten": changed("command", lambda c: started(c)[1].decode() if c.startswith("exec '") else c),
    "settings are forgotten": without("env"),
    "a flag is forgotten": without("overlap_policy"),
    "the user is forgotten": without("labels"),
    "the directory is forgotten": without("working_directory"),
    "clock changes by the defaults": without("dst_gap", "dst_repeat"),
    "both passes for all": lambda job: job.update(dst_repeat="both"),
    "the zone of the machine": lambda job: schedule(job).update(time_zone="UTC"),
    "no random delay": lambda job: schedule(job).pop("jitter_s", None),
    "random is the first": with_expression(lambda e: re.sub(r"H\((\d+)-(\d+)\)", r"\2", e).replace("H", "0")),
    "days need both fields": with_expression(lambda e: re.sub(r"^(\S+ \S+) (\d\S*) (\S+ \d\S*)$", r"\1 */1,\2 \3", e)),
    "a step ends early": with_expression(lambda e: re.sub(r"-(\d+)/", lambda m: f"-{max(int(m.group(1)) - 1, 0)}/", e)),
}


class CrontabsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.imports = generated(FILES)

    def test_jobs_do_what_cron_would_do(self):
        found = [c for one in self.imports for c in one.complaints()]
        self.assertEqual(found[:20], [], f"{len(found)} differences")
        lines = [line for one in self.imports for _, line in one.expected]
        reasons = collections.Counter(line.why.split(":")[0] for line in lines if line.why)
        jobs = sum(line.entry is not None for line in lines)
        print(f"{FILES} files, {jobs} jobs, refused: {dict(reasons)}")
        self.assertGreater(jobs, FILES * 2)
        if FILES >= 500:
            self.assertGreaterEqual(len(reasons), 12, "a reason to refuse does not occur")

    def test_mistakes_are_noticed(self):
        for name, change in MISTAKES.items():
            noticed = []
            for one in self.imports:
                jobs = copy.deepcopy(one.jobs)
                for job in jobs:
                    change(job)
                touched = [i for i, job in enumerate(jobs) if job != one.jobs[i]]
                if not touched:
                    continue
                try:
                    noticed += one.complaints(jobs)
                except subprocess.CalledProcessError as error:
                    noticed += [error.stderr]  # no job any more
                if noticed:
                    break
            self.assertTrue(noticed, f"{name}: not noticed")
        one = self.imports[0]
        self.assertTrue(one.complaints(one.jobs[1:]), "a lost job is not noticed")
        self.assertTrue(one.complaints(refused=set(list(one.refused)[1:])), "a line that was taken is not noticed")

    def test_commands_reach_the_shell_unchanged(self):
        """What /bin/sh makes of a job's command line, tried."""
        with tempfile.TemporaryDirectory() as directory:
            shell = os.path.join(directory, "shell")
            with open(shell, "w") as f:
                f.write("#!/usr/bin/python3\nimport os, sys\n"
                        "print('|'.join(sys.argv[1:] + [os.environ.get('odd.name', '-'), sys.stdin.read()]), end='')\n")
            os.chmod(shell, 0o755)
            commands = ["it's \"$A\" `b` \\x {{.c}} }}}}", "a%in'put%\"two\"%\\%", "b\t %", "c%%", "d%{{.n}}"]
            text = f"SHELL={shell}\n" + "".join(f"* * * * * {c}\n" for c in commands)
            text += "odd.name='x y'\n" + "".join(f"* * * * * {c}\n" for c in commands)
            one = Import({"f": text.encode()}, False, "UTC")
            self.assertEqual(one.complaints(), [])
            entries = [line.entry for _, line in one.expected]
            self.assertEqual(len(entries), len(one.jobs))
            for entry, job in zip(entries, one.jobs):
                run = subprocess.run(["/bin/sh", "-c", rendered(job["command"])], stdin=subprocess.DEVNULL,
                                     capture_output=True, timeout=20, check=True)
                odd = entry.env.get(b"odd.name", b"-")
                self.assertEqual(run.stdout, b"|".join([b"-c", entry.command, odd, entry.stdin]))
        one = Import({"f": b"* * * * * cat; exit 3%a%b\n"}, False, "UTC")
        run = subprocess.run(["/bin/sh", "-c", rendered(one.jobs[0]["command"])], stdin=subprocess.DEVNULL,
                             capture_output=True, timeout=20, check=False)
        self.assertEqual((run.stdout, run.returncode), (b"a\nb\n", 3))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
