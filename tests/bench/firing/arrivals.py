"""Events that arrive over the API: the time from the call to the runs, which are stored when it is answered."""
import threading
import time

from firing import report
from firing.judge import SECOND_US

EVENTS_PER_CALL = 10
STARTING_EACH = 10  # of so many events, one starts a run
MATCHED_RATE, UNMATCHED_RATE = 1_000, 10_000
GOAL_MS = 100
SENDERS = 8
TRIGGERS = 100  # of other types, and one that is matched


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def calls(rate, per_call, seconds):
    """When each call is due, in seconds from the begin, and the numbers of its events."""
    count = rate * seconds // per_call
    return [(place * per_call / rate, range(place * per_call, (place + 1) * per_call)) for place in range(count)]


def event(word, number, starting):
    matched = starting and number % starting == 0
    return {"id": f"{word}-{number}", "source": "bench", "type": "bench.start" if matched else "bench.other",
            "data": {"number": number, "region": "eu"}}


class Sender(threading.Thread):
    """Makes every SENDERS-th call at its time. A call that waits for the one before it counts from when it was due."""

    def __init__(self, api, begin, mine, word, starting):
        super().__init__(daemon=True)
        self.api, self.begin, self.mine, self.word, self.starting = api, begin, mine, word, starting
        self.took, self.started, self.failed = [], 0, []

    def run(self):
        for due, numbers in self.mine:
            time.sleep(max(0.0, self.begin + due - time.monotonic()))
            try:
                answer = self.api.post("/api/events", [event(self.word, number, self.starting) for number in numbers])
                self.started += sum(item["status"] == "started" for item in answer["items"])
            except Exception as error:  # counted, and shown at the end
                self.failed.append(str(error)[:200])
            self.took.append(1000 * (time.monotonic() - self.begin - due))


def runs_in(target):
    return int(target.query("SELECT COUNT(*) FROM job_runs r JOIN jobs j USING (job_no) WHERE j.job_id = 'arrivals'")[0][0])


def at_rate(target, word, rate, per_call, starting, seconds):
    every = calls(rate, per_call, seconds)
    begin = time.monotonic() + 0.5
    senders = [Sender(target.api(), begin, every[first::SENDERS], word, starting) for first in range(SENDERS)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    took = [one for sender in senders for one in sender.took]
    stored = int(target.query("SELECT COUNT(*) FROM events WHERE id LIKE '%s-%%'" % word)[0][0])
    answer = {"events_per_second": rate, "events_per_call": per_call, "calls": len(took),
              "took_s": round(time.monotonic() - begin, 1),
              "failed": [one for sender in senders for one in sender.failed][:3],
              "started": sum(sender.started for sender in senders), "events_stored": stored,
              "ms": {name: round(percentile(took, part), 1)
                     for name, part in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1))}}
    report.say(f"{rate} events/s, {answer['started']} started: p99 {answer['ms']['p99']} ms, failed: {answer['failed']}")
    return answer


def events(bench, options):
    with bench.target() as target:
        api = target.api()
        for place in range(TRIGGERS):
            api.post("/api/jobs", {"job_id": f"other-{place}", "name": "other", "type": "noop", "schedules": [
                {"kind": "event", "type": f"other.{place}", "filter": "data.number > 1"}]})
        api.post("/api/jobs", {"job_id": "arrivals", "name": "arrivals", "type": "noop", "overlap_policy": "allow",
                               "schedules": [{"kind": "event", "type": "bench.start", "filter": "data.region == 'eu'",
                                              "parameters": {"number": "{{event.data.number}}"}}]})
        at_rate(target, "warm", MATCHED_RATE, EVENTS_PER_CALL, STARTING_EACH, options.warm)
        before = runs_in(target)
        matched = at_rate(target, "matched", MATCHED_RATE, EVENTS_PER_CALL, STARTING_EACH, options.seconds)
        matched["runs_stored"] = runs_in(target) - before
        unmatched = at_rate(target, "unmatched", UNMATCHED_RATE, 100, 0, options.seconds)
    wanted = MATCHED_RATE * options.seconds // STARTING_EACH
    exact = (matched["started"], matched["events_stored"], matched["runs_stored"]) == (wanted, wanted, wanted)
    held = exact and not matched["failed"] and not unmatched["failed"] and unmatched["events_stored"] == 0
    return {"held": held and max(one["ms"]["p99"] for one in (matched, unmatched)) <= GOAL_MS,
            "matched": matched, "unmatched": unmatched}, []
