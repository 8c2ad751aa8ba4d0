"""A second reading of crontabs, for test_crontabs.py: written from the behaviour of cron (cronie, and OpenBSD and
FreeBSD where these have more), without any code of Carillon. Works on bytes, as cron does.

read(data, system, machine_zone) -> list of Line. A line that Carillon should refuse has `why`; an entry has what cron
would start. fires(entry, clock) -> the minutes at which cron would start it.
"""
import dataclasses
import re
import zoneinfo

BLANK = b" \t"
SPACE = b" \t\r\v\f"
UNITS = [("minute", 0, 59), ("hour", 0, 23), ("day of month", 1, 31), ("month", 1, 12), ("day of week", 0, 7)]
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
# name: minute, hour, day of month, month, day of week, and whether cron runs it by real time
SPECIALS = {"yearly": ("0", "0", "1", "1", "*", False), "annually": ("0", "0", "1", "1", "*", False),
            "monthly": ("0", "0", "1", "*", "*", False), "weekly": ("0", "0", "*", "*", "0", False),
            "daily": ("0", "0", "*", "*", "*", False), "midnight": ("0", "0", "*", "*", "*", False),
            "hourly": ("0", "*", "*", "*", "*", True), "every_minute": ("*", "*", "*", "*", "*", True)}
PROGRAMS = {b"env", b"bash", b"sh", b"cd", b"cat", b"date", b"docker", b"echo", b"find", b"flock", b"nice", b"php",
            b"printf", b"python3", b"rm", b"sleep", b"sudo", b"tar", b"test"}  # no names of users


class Refused(Exception):
    pass


@dataclasses.dataclass
class Part:
    """One item of a field: the values from `low` to `high`, or one of them that is drawn."""
    low: int
    high: int
    step: int = 1
    drawn: bool = False


@dataclasses.dataclass
class Field:
    star: bool
    parts: list

    def values(self):
        return {v for part in self.parts for v in range(part.low, part.high + 1, part.step)}


@dataclasses.dataclass
class Entry:
    fields: list = None  # of five Field
    wild: bool = False
    delay: int = 0
    user: bytes = b""
    single: bool = False
    zone: str = ""
    jitter: int = 0
    shell: bytes = b"/bin/sh"
    command: bytes = b""
    stdin: bytes = b""
    env: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Line:
    number: int
    entry: Entry = None
    why: str = ""


def number(text, low, names):
    if re.fullmatch(r"[0-9]+", text):
        return int(text)
    if text.lower() in names:
        return low + names.index(text.lower())
    raise Refused(f"no number: {text}")


def part(text, unit):
    _, low, high = UNITS[unit]
    names = MONTHS if unit == 3 else DAYS if unit == 4 else []
    match = re.fullmatch(r"\*(?:/([0-9A-Za-z]+))?", text)
    if match:
        step = number(match.group(1), 0, []) if match.group(1) else 1
        if step == 0:
            raise Refused("step 0")
        return Part(low, high, step)
    match = re.fullmatch(r"([0-9A-Za-z]*)~([0-9A-Za-z]*)(?:/([0-9A-Za-z]+))?", text)
    if match:
        first = number(match.group(1), low, names) if match.group(1) else low
        last = number(match.group(2), low, names) if match.group(2) else high
        step = number(match.group(3), 0, []) if match.group(3) else 1
        if not low <= first <= last <= high or step == 0:
            raise Refused("random range")
        return Part(first, last, step, drawn=True)
    match = re.fullmatch(r"([0-9A-Za-z]+)(?:-([0-9A-Za-z]+)(?:/([0-9A-Za-z]+))?)?", text)
    if not match:
        raise Refused(f"unreadable: {text}")
    first = number(match.group(1), low, names)
    last = number(match.group(2), low, names) if match.group(2) else first
    step = number(match.group(3), 0, []) if match.group(3) else 1
    if step == 0:
        raise Refused("step 0")
    if unit == 4 and first > last == 0 and not match.group(3):
        last = 7
    if first > last:
        raise Refused("backwards")  # cron takes it for an empty range
    for value in range(first, last + 1, step):
        if not low <= value <= high:
            raise Refused("out of range")
    return Part(first, min(last, high), step)


def field(text, unit):
    return Field(text.startswith("*"), [part(item, unit) for item in text.split(",")])


def word(data):
    match = re.match(rb"([^ \t]*)[ \t]*", data)
    return match.group(1), data[match.end():]


def times(data, entry):
    if data.startswith(b"-"):
        data = data[1:]
    if data.startswith(b"@"):
        name, data = word(data)
        name = name[1:].decode("latin-1")
        if re.fullmatch("[0-9]+", name) and 0 < int(name) <= 31536000:
            entry.delay = int(name)
            return data
        if name not in SPECIALS:
            raise Refused("no such special")
        *texts, entry.wild = SPECIALS[name]
        entry.fields = [field(text, unit) for unit, text in enumerate(texts)]
        return data
    entry.fields = []
    for unit in range(5):
        text, data = word(data)
        entry.fields.append(field(text.decode("latin-1"), unit))
    entry.wild = entry.fields[0].star or entry.fields[1].star
    return data


def flags(data, entry):
    while data.startswith(b"-"):
        text, data = word(data)
        if not re.fullmatch(rb"-[nqs]+", text):
            raise Refused("flag")
        entry.single |= b"s" in text
    return data


def command(data, entry):
    """Splits at the first % that no backslash escapes."""
    out, escaped, at = bytearray(), False, 0
    while at < len(data):
        c = data[at:at + 1]
        at += 1
        if escaped:
            if c == b"%":
                del out[-1]
            out += c
            escaped = False
        elif c == b"%":
            break
        else:
            out += c
            escaped = c == b"\\"
    else:
        entry.command = bytes(out)
        return
    entry.command = bytes(out)
    rest = data[at:].replace(b"\\%", b"\0").replace(b"%", b"\n").replace(b"\0", b"%")
    entry.stdin = rest + b"\n" if rest and not rest.endswith(b"\n") else rest


def is_complete(data):
    """True if a shell would run the command: a rough check of quotes, which the generated commands need no better."""
    text = re.sub(rb"\\.", b"", data)
    text = re.sub(rb"'[^']*'", b"", text)
    text = re.sub(rb'"[^"]*"', b"", text)
    return not re.search(rb"['\"`]", text) and text.count(b"(") == text.count(b")")


def read_entry(data, system):
    entry = Entry()
    data = times(data, entry)
    if data.startswith(b"*") or not data:
        raise Refused("command")
    if system:
        user, data = word(data)
        entry.user = user.split(b":")[0]
        if not data or entry.user in PROGRAMS or not re.fullmatch(rb"[A-Za-z_][A-Za-z0-9_.-]{0,31}", entry.user):
            raise Refused("user")
    data = flags(data, entry)
    if not data:
        raise Refused("command")
    if len(data) % 2 != len(data.rstrip(b"\\")) % 2:
        raise Refused("continued")
    command(data, entry)
    try:
        (entry.command + entry.stdin).decode()
    except UnicodeDecodeError:
        raise Refused("not UTF-8") from None
    if not entry.command.strip(BLANK) or b"\0" in data:
        raise Refused("command")
    if entry.stdin and (entry.command.endswith(b"+") or not is_complete(entry.command)):
        raise Refused("percent")
    return entry


def setting(data):
    """(name, value), or None if cron does not take the line for a setting."""
    match = re.fullmatch(rb"""(?:"([^"=]*)"|'([^'=]*)'|([^"'\s=][^\s=]*))\s*=\s*(.*)""", data, re.S)
    if not match:
        return None
    name = next(g for g in match.groups()[:3] if g is not None)
    value = match.group(4)
    if value[:1] in (b'"', b"'"):
        quoted = re.fullmatch(rb"""(?:"([^"]*)"|'([^']*)')\s*""", value, re.S)
        if not quoted:
            return None
        value = quoted.group(1) if quoted.group(1) is not None else quoted.group(2)
    else:
        value = value.rstrip(SPACE)
    return (name, value) if name else None


def setting_fault(name, value):
    """True if Carillon cannot keep the setting."""
    try:
        (name + value).decode()
    except UnicodeDecodeError:
        return True
    if b"\0" in value or name.startswith(b"-") or name == b"CARILLON_RUN_ID":
        return True
    if name == b"SHELL":
        return not value.startswith(b"/") or bool(set(value) & set(BLANK))
    if name == b"HOME":
        return not value.startswith(b"/")
    if name == b"CRON_TZ":
        try:
            return bool(value) and not zoneinfo.ZoneInfo(value.decode())
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, IsADirectoryError):
            return True
    return False


def read(data, system, machine_zone):
    lines, env, faults, continues = [], {}, set(), False
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    for count, text in enumerate(data.split(b"\n"), 1):
        text = text[:-1] if text.endswith(b"\r") else text
        text = text.lstrip(BLANK)
        continued, continues = continues, False
        if not text or text.startswith(b"#"):
            continue
        pair = setting(text)
        if pair:
            env[pair[0]] = pair[1]
            if pair[0] in (b"LOGNAME", b"USER"):
                del env[pair[0]]
            faults.discard(pair[0])
            if setting_fault(*pair):
                faults.add(pair[0])
                lines.append(Line(count, why="setting"))
            continue
        continues = (len(text) - len(text.rstrip(b"\\"))) % 2 == 1
        try:
            entry = read_entry(text, system)
        except Refused as refused:
            lines.append(Line(count, why="continued" if continued else str(refused)))
            continue
        if faults:
            lines.append(Line(count, why="below a setting"))
            continue
        entry.env = {k: v for k, v in env.items() if k not in (b"CRON_TZ", b"RANDOM_DELAY")}
        entry.zone = env.get(b"CRON_TZ", b"").decode() or machine_zone
        entry.shell = env.get(b"SHELL", b"/bin/sh")
        delay = re.match(rb"\s*([+-]?[0-9]+)", env.get(b"RANDOM_DELAY", b""))
        minutes = int(delay.group(1)) if delay else 0
        entry.jitter = min(minutes, 60) * 60 if 0 <= minutes <= 1440 else 0
        lines.append(Line(count, entry))
    return lines


def day_matches(sets, stars, day):
    """`day`: a date. The two day fields must both match if one begins with a star, else one of them."""
    in_month, in_week = day.day in sets[2], day.isoweekday() % 7 in sets[4]
    both = stars[2] or stars[4]
    return day.month in sets[3] and ((in_month and in_week) if both else (in_month or in_week))


def clock_events(offset_at, first, until):
    """Follows cron's clock through the real minutes from `first` to `until`: yields (real minute, local minute, whether
    entries by real time run, whether the others run). `offset_at`: minutes east of UTC at a real minute."""
    virtual = first + offset_at(first) - 1
    for real in range(first, until):
        clock = real + offset_at(real)
        ahead = clock - virtual
        if 0 < ahead <= 5:
            while virtual < clock:
                virtual += 1
                yield real, virtual, True, True
        elif 5 < ahead <= 180:
            yield real, clock, True, False
            while virtual < clock:
                virtual += 1
                yield real, virtual, False, True
        elif -180 <= ahead <= 0:
            yield real, clock, True, False
        else:
            virtual = clock
            yield real, clock, True, True
