"""Test cases with a standalone server, and the requests that most of them make."""
import unittest
from datetime import datetime, timedelta, timezone

from harness import Standalone, wait_until

FINAL = frozenset({"COMPLETED", "FAILED", "TIMED_OUT", "CANCELLED", "LOST", "SKIPPED"})


def zone_of_another_day():
    """A time zone, and its offset, in which the date is another one than in UTC."""
    if datetime.now(timezone.utc).hour < 10:
        return "Pacific/Pago_Pago", timedelta(hours=-11)
    return "Pacific/Kiritimati", timedelta(hours=14)


def local_time(fire_time, offset):
    """The time of a fire as the API shows it, in a zone of this offset."""
    return datetime.fromisoformat(fire_time.replace("Z", "+00:00")).astimezone(timezone(offset))


class Runs:
    """Creates jobs and waits for their runs, with `self.api`."""
    JOB = {"command": "true"}  # what a job has by default, apart from its name

    def create(self, **fields):
        return self.api.post("/api/jobs", {"name": self.id()[-60:], **self.JOB, **fields})

    def start(self, job, **body):
        return self.api.post(f"/api/jobs/{job['job_id']}/execute", body)["run_id"]

    def run_of(self, run_id):
        return self.api.get(f"/api/runs/{run_id}")

    def ended(self, run_id):
        """Waits for the end of the run and returns it."""
        def final():
            run = self.run_of(run_id)
            return run if run["state"] in FINAL else None
        return wait_until(final, 60, f"run {run_id} to end")

    def execute(self, job, **body):
        return self.ended(self.start(job, **body))

    def running(self, run_id):
        wait_until(lambda: self.run_of(run_id)["state"] == "RUNNING", 30, f"run {run_id} to be RUNNING")


class ServerCase(Runs, unittest.TestCase):
    """The tests of a class share one server. It must stop with exit code 0."""
    OPTIONS = {}  # of Standalone

    @classmethod
    def setUpClass(cls):
        cls.start_server(**cls.OPTIONS)

    @classmethod
    def start_server(cls, **options):
        cls.server = Standalone(**options)
        cls.addClassCleanup(cls.server.destroy)
        cls.server.start()
        cls.api = cls.server.api()

    @classmethod
    def restart(cls):
        """Starts the server again, also one that was stopped or killed. Its port changes."""
        cls.api.close()
        cls.server.stop()
        cls.server.start()
        cls.api = cls.server.api()

    @classmethod
    def tearDownClass(cls):
        cls.api.close()
        cls.server.finish()


class OwnServerCase(Runs, unittest.TestCase):
    """Each test has a server of its own. It must stop with exit code 0."""
    OPTIONS = {}  # of Standalone

    def setUp(self):
        self.start_server(**self.OPTIONS)

    def start_server(self, **options):
        self.server = Standalone(**options)
        self.addCleanup(self.server.destroy)
        self.server.start()
        self.api = self.server.api()
        self.addCleanup(self.finish)

    def finish(self):
        self.api.close()
        self.server.finish()

    def restart(self):
        """Starts the server again, also one that was stopped or killed. Its port changes."""
        self.api.close()
        self.server.stop()
        self.server.start()
        self.api = self.server.api()
