#!/usr/bin/env python3
"""Lists and downloads on a real store: how many there are, orders page by page, ranges of a log."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import Standalone, cli, wait_until  # noqa: E402

JOBS = 23
LINES = 20_000


class ListsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Standalone().start()
        cls.addClassCleanup(cls.server.destroy)
        cls.api = cls.server.api()
        for n in range(JOBS):
            cls.api.post("/api/jobs", {"job_id": f"list-{n:02}", "name": f"Name {n * 7 % JOBS // 2:02}", "type": "noop"})

    @classmethod
    def tearDownClass(cls):
        cls.api.close()
        cls.server.stop()
        cls.server.remove()

    def ids(self, sort, size):
        return [job["job_id"] for job in self.api.pages(f"/api/jobs?sort={sort}", size)]

    def test_jobs_come_in_each_order_whatever_the_page(self):
        jobs = self.api.get("/api/jobs?page_size=500")["items"]
        for member in ("job_id", "name", "create_time", "update_time"):
            expected = [job["job_id"] for job in sorted(jobs, key=lambda job: (job[member], job["job_id"]))]
            for size in (1, 5, 500):
                self.assertEqual(self.ids(member, size), expected, (member, size))
                self.assertEqual(self.ids("-" + member, size), expected[::-1], (member, size))

    def test_first_page_says_how_many_there_are(self):
        page = self.api.get("/api/jobs?page_size=5&q=Name")
        self.assertEqual(page["total"], JOBS)
        self.assertNotIn("total", self.api.get(f"/api/jobs?page_size=5&q=Name&page_token={page['next_page_token']}"))

    def test_command_line_sorts_and_tells_the_total(self):
        _, out, _ = cli(self.server, "job", "list", "--search", "Name", "--sort=-job_id", "--limit", "2", "-o", "json")
        listed = json.loads(out)
        self.assertEqual([job["job_id"] for job in listed["items"]], ["list-22", "list-21"])
        self.assertEqual(listed["total"], JOBS)

    def test_log_is_downloaded_in_ranges(self):
        job = self.api.post("/api/jobs", {"name": "zz long", "command": f"seq 1 {LINES}"})
        run_id = self.api.post(f"/api/jobs/{job['job_id']}/execute", {})["run_id"]
        path = f"/api/runs/{run_id}/logs"
        wait_until(lambda: self.api.raw("GET", path)[1].get("X-Log-Complete") == "true", 60, "the log")
        status, headers, whole = self.api.raw("GET", path)
        self.assertEqual((status, headers["Accept-Ranges"]), (200, "bytes"))
        self.assertEqual(whole, b"".join(b"%d\n" % n for n in range(1, LINES + 1)))
        parts, step = [], len(whole) // 7 + 1
        for first in range(0, len(whole), step):
            last = first + step - 1
            status, part, body = self.api.raw("GET", path, headers={"Range": f"bytes={first}-{last}",
                                                                    "If-Range": headers["ETag"]})
            self.assertEqual((status, part["ETag"]), (206, headers["ETag"]))
            self.assertRegex(part["Content-Range"], rf"^bytes {first}-\d+/(\*|{len(whole)})$")
            parts.append(body)
        self.assertEqual(b"".join(parts), whole)
        status, part, body = self.api.raw("GET", path, headers={"Range": "bytes=-6"})
        self.assertEqual((status, body), (206, whole[-6:]))
        status, part, _ = self.api.raw("GET", path, headers={"Range": f"bytes={len(whole)}-"})
        self.assertEqual((status, part["Content-Range"]), (416, f"bytes */{len(whole)}"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
