"""Generated crontabs for test_crontabs.py, by seed: ordinary entries and every peculiarity that crontabs have."""
import random

ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Tokyo", "UTC"]
COMMANDS = [
    "/usr/bin/true", "/opt/backup.sh --full", "cd app && ./run.sh >> log/run.log 2>&1", "x\t--a\t# nightly",
    "docker ps --format '{{.Names}}' | grep -q web", "echo {{job_id}}", "echo '{\"a\":{\"b\":{{json .}}}}'",
    "echo }}}} {{", "echo '{{{x}}}'",
    "tar czf /b/$(date +\\%F).tgz /etc", "date \"+%H:%M\"", "date +%F", "sleep $((RANDOM % 600)); x", "echo a\\\\%b",
    "mail -s 'Mon day' bob%dear bob,%it's me.%", "cat%", "cat%%a\\%b\\\\%c", "echo 100\\%", "printf 'a\\nb'", "A=1 run",
    "test \"$A\" = b && c  ", "*oops", "/bin/a \\", "-n /bin/sh /etc/daily", "-ns rpki", "-q -s  x", "-x y", "- z",
    "\xe9cho", "env A=b /bin/c", "~/bin/x $HOME", "wc -l%one%two", "[ -x /a ] && /a", "a\x01b",
]
SETTINGS = [
    "PATH=/usr/local/bin:/usr/bin:/bin", "PATH = $HOME/bin:$PATH ", "MAILTO=root HOME=/", "MAILTO=\"\"",
    "SHELL=/bin/bash", "SHELL=/bin/sh", "SHELL=/bin/bash  # the shell", "SHELL=bash", "HOME=/srv", "HOME=~",
    "\"GREETING\" = \"it's 5 o'clock\"",
    "FMT={{.Names}}", "QUOTED='a # b'", "EMPTY=", "OPEN=\"half", "my.setting=1", "my.setting = 'it'", "LOGNAME=other",
    "RANDOM_DELAY=30", "RANDOM_DELAY=90", "RANDOM_DELAY=x", "TZ=Asia/Tokyo", "CRON_TZ=", "CRON_TZ=Mars/Base",
    "CRON_TZ=\"UTC\"",
    "CRON_TZ=Europe/Berlin", "CRON_TZ=America/Santiago", "CRON_TZ=Australia/Lord_Howe", "A=caf\xe9", "A=b", "-x=1",
    "'A B'=c", "X=a\tb",
]
BOUNDS = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)]
NAMES = [[], [], [], ["jan", "Feb", "mar", "DEC"], ["sun", "Mon", "fri", "SAT"]]
ODD = ["L", "?", "H", "*5", "*-5", "5/10", "1,,2", "1,", "*/0", "60", "22-2", "5-0", "sat-sun", "sat-sun/2", "fri-mon",
       "0-60/25", "january", "1-5-7", "*/90", "000007", "~", "0~3", "~2", "3~", "2~1", "~/2", "0~9/3", "1~2,4"]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def field(self, unit):
        r = self.random
        low, high = BOUNDS[unit]
        kind = r.random()
        if kind < 0.34:
            return "*"
        if kind < 0.40:
            return r.choice(ODD)
        if kind < 0.55:
            return f"*/{r.randint(1, high + 3)}"
        items = []
        for _ in range(r.choice([1, 1, 1, 2, 3])):
            first = r.randint(low, high)
            last = r.randint(first, high)
            form = r.random()
            if form < 0.5:
                items.append(str(first) if r.random() < 0.9 else f"{first:02}")
            elif form < 0.75:
                items.append(f"{first}-{last}")
            else:
                items.append(f"{first}-{last}/{r.randint(1, 9)}")
        if NAMES[unit] and r.random() < 0.3:
            items.append(r.choice(NAMES[unit]))
        return ",".join(items)

    def times(self):
        r = self.random
        kind = r.random()
        if kind < 0.12:
            return r.choice(["@hourly", "@daily", "@weekly", "@monthly", "@yearly", "@midnight", "@annually", "@reboot",
                             "@every_minute", "@600", "@Daily", "@0", "-@daily"])
        # Hours around the clock changes.
        hour = r.choice(["0", "1", "2", "3", "2,3", "1-3", "0-23", "*/2"]) if r.random() < 0.4 else self.field(1)
        fields = [self.field(0), hour]
        if r.random() < 0.55:
            fields += ["*", "*", "*"]
        else:
            fields += [self.field(2), self.field(3), self.field(4)]
        return r.choice(["", "", "", "", "-"]) + r.choice([" ", "  ", "\t"]).join(fields)

    def line(self, system):
        r = self.random
        kind = r.random()
        if kind < 0.12:
            return r.choice(["", "# caf\xe9", "#", "# m h dom mon dow command", "  # note", "#0 1 * * * old"])
        if kind < 0.34:
            return r.choice(SETTINGS)
        if kind < 0.37:
            return r.choice(["nonsense", "0 1 * *", "@daily", "0 1 * * *", "= x", "0 1 * * * * x", ">> /x 2>&1"])
        user = ""
        if system:
            user = r.choice(["root"] * 6 + ["www-data", "backup", "www:www/daemon", "env", "/usr/bin/x", "A=1", ""])
            user += r.choice([" ", "\t "])
        return r.choice(["", "", " ", "\t"]) + self.times() + r.choice([" ", "\t", "  "]) + user + r.choice(COMMANDS)

    def crontab(self, system):
        r = self.random
        lines = [self.line(system) for _ in range(r.randint(3, 16))]
        end = "\r\n" if r.random() < 0.1 else "\n"
        data = b""
        for line in lines:
            # Latin-1 where a character has it, else UTF-8.
            for c in line + end:
                data += c.encode("latin-1" if c == "\xe9" and r.random() < 0.3 else "utf-8")
        return (b"\xef\xbb\xbf" if r.random() < 0.05 else b"") + data
