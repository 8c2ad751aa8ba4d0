#!/usr/bin/python3 -IS
"""Runs a test, and fails it if it leaves processes or mounts behind, which it then removes.

    nothing_left.py [--grace SECONDS] COMMAND [ARGUMENT…]

ctest starts tests this way, except those marked UNCHECKED (carillon_add_test in cmake/rooms.cmake). A process whose
parent has ended becomes a child of this one, wherever its session and process group are, so what still runs after the test is found whatever it did to get
away. It may end by itself within the grace. No process left means no socket that listens, and no namespace; a named
network namespace is a mount. Root's tests get a mount namespace of their own, so that the mounts of tests side by side are
distinguished, and what is mounted is never seen outside.
Exit code: that of the command, as a shell would tell it; LEFT if that is 0 and something was left.
"""
import argparse
import ctypes
import os
import signal
import sys
import time

LEFT = 76
GRACE_S = 20.0  # not reached if all end; a busy machine takes its time
KILL_S = 20.0
PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000
MNT_DETACH = 2
# ip mounts this folder on itself with the first network namespace of a host, and leaves it so.
NETNS = "/run/netns"

libc = ctypes.CDLL(None, use_errno=True)


def own_mounts():
    """Moves this process into a mount namespace of its own. Where that is refused, mounting is refused, too."""
    if libc.unshare(CLONE_NEWNS) == 0:
        libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None)


def mounts():
    """Returns {mount id: (where, kind)} of this mount namespace."""
    found = {}
    with open("/proc/self/mountinfo", "rb") as lines:
        for line in lines:
            fields = line.split()
            where = fields[4]
            for code, byte in ((b"\\040", b" "), (b"\\011", b"\t"), (b"\\012", b"\n"), (b"\\134", b"\\")):
                where = where.replace(code, byte)
            found[fields[0]] = (os.fsdecode(where), fields[fields.index(b"-") + 1].decode())
    return found


def added(before, after):
    """Returns [(where, kind)] of the mounts that are left, the newest first."""
    return [its for mount, its in reversed(after.items()) if mount not in before and its[0] != NETNS]


def parents():
    """Returns {process id: parent's id} of all processes that are no zombies."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as stat:
                state, parent = stat.read().rsplit(b")", 1)[1].split()[:2]
        except OSError:  # it has ended
            continue
        if state not in (b"Z", b"X"):
            found[int(name)] = int(parent)
    return found


def descendants(parents_of, ancestor):
    """Returns the sorted ids of the processes that descend from `ancestor`."""
    children = {}
    for pid, parent in parents_of.items():
        children.setdefault(parent, []).append(pid)
    found, look_at = [], [ancestor]
    while look_at:
        for pid in children.get(look_at.pop(), ()):
            found.append(pid)
            look_at.append(pid)
    return sorted(found)


def described(pid):
    """The command line of a process, for people."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as line:
            words = line.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        words = ""
    return f"process {pid}: {words[:300] or '(no command line)'}"


def reap():
    """Reaps the children that have ended. Returns False if there is no child."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
        return True
    except ChildProcessError:
        return False


def wait_for(command):
    """Waits for the command, and reaps all other children meanwhile. Returns its exit code."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == command:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def remaining(seconds):
    """Waits until no descendant is left, for `seconds` at most; returns those that are."""
    end = time.monotonic() + seconds
    pause = 0.005
    while reap():
        left = descendants(parents(), os.getpid())
        if left and time.monotonic() >= end:
            return left
        time.sleep(pause)
        pause = min(2 * pause, 0.2)
    return []


def kill_all():
    end = time.monotonic() + KILL_S
    while (left := remaining(0)) and time.monotonic() < end:
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)
    return left


def unmount(where):
    path = os.fsencode(where)
    libc.umount2(path, MNT_DETACH)
    if where.startswith(NETNS + "/"):
        try:
            os.unlink(path)
        except OSError:
            pass


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grace", type=float, default=GRACE_S, metavar="SECONDS")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit("nothing_left: prctl failed")
    own_mounts()
    before = mounts()
    try:
        command = os.posix_spawnp(options.command[0], options.command, os.environ)
    except OSError as error:
        sys.exit(f"nothing_left: {options.command[0]}: {error.strerror}")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda got, _frame: os.kill(command, got))
    code = wait_for(command)
    problems = [described(pid) for pid in remaining(options.grace)]
    if problems:
        stubborn = kill_all()
        problems += [described(pid) + " (cannot be killed)" for pid in stubborn]
    for where, kind in added(before, mounts()):
        problems.append(f"mount {where} ({kind})")
        unmount(where)
    if problems:
        sys.stdout.flush()
        print("nothing_left: the test left behind:\n  " + "\n  ".join(problems), file=sys.stderr, flush=True)
    return code or (LEFT if problems else 0)


if __name__ == "__main__":
    sys.exit(main())
