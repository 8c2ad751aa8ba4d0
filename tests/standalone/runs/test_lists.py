#!/usr/bin/env python3
"""Lists and downloads on a real store: totals, orders page by page, ranges of a log."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import LONG, cli, wait_until  # noqa: E402
from server_case import ServerCase  # noqa: E402
from test_history import History  # noqa: E402

JOBS = 23
LINES = 20_000
MANY = 1_000_000 if LONG else 110_000
SEARCHED_MAX = 100_000  # the most jobs that are examined for one page


class ListsTest(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for n in range(JOBS):
            cls.api.post("/api/jobs", {"job_id": f"list-{n:02}", "name": f"Name {n * 7 % JOBS // 2:02}", "type": "noop"})

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

    def test_command_line_sorts_and_prints_the_total(self):
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


class ManyJobsTest(ServerCase):
    """More jobs than are examined for one answer, put into the store by SQL."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.api.post("/api/jobs", {"job_id": "first", "name": "First", "type": "noop"})
        History(cls.server).sql(f"""
CREATE TEMPORARY TABLE copies AS SELECT j.* FROM jobs j WHERE j.job_id = 'first';
INSERT INTO jobs (job_no, job_id, segment, version, manual_schedule_id, enabled, pause_reason, user_id, name, type,
                  command, priority, timeout, retry_count, retry_interval, retry_backoff, retry_intervals, on_lost,
                  overlap_policy, create_time, update_time, namespace)
SELECT 10000000 + q.seq, CONCAT('many-', LPAD(q.seq, 7, '0')), c.segment, 1, 20000000 + q.seq, q.seq < {MANY}, '',
  'user-1', CONCAT('Report ', LPAD(q.seq, 7, '0')), c.type, c.command, c.priority, c.timeout, c.retry_count,
  c.retry_interval, c.retry_backoff, c.retry_intervals, c.on_lost, c.overlap_policy, TIMESTAMPADD(SECOND, q.seq, '2025-01-01'),
  TIMESTAMPADD(SECOND, q.seq, '2025-01-01'), IF(q.seq % 2 = 0, 'even', 'odd')
FROM seq_1_to_{MANY} q JOIN copies c;
INSERT INTO job_versions (job_no, version, name, definition, actor, created_us)
SELECT j.job_no, 1, j.name, REPLACE(v.definition, '"name":"First"', CONCAT('"name":"', j.name, '"')), '', 1 FROM jobs j JOIN (
  SELECT x.definition FROM job_versions x JOIN copies c ON c.job_no = x.job_no) v WHERE j.job_no > 10000000;
ANALYZE TABLE jobs, job_versions;
""")
        cls.last = f"many-{MANY:07}"

    def test_a_search_continues_page_by_page(self):
        page = self.api.get("/api/jobs?q=nothing-like-it")
        self.assertEqual((page["items"], page["total_at_least"]), ([], 0))
        pages = 1
        while page["next_page_token"] is not None:
            page = self.api.get(f"/api/jobs?q=nothing-like-it&page_token={page['next_page_token']}")
            self.assertEqual(page["items"], [])
            pages += 1
        self.assertEqual(pages, MANY // SEARCHED_MAX + 1)

    def test_one_job_at_the_end_is_found_once_in_each_order(self):
        for sort in ("job_id", "name", "create_time", "update_time"):
            for query in (f"q={self.last.upper()}&sort={sort}", f"status=PAUSED&sort={sort}"):
                self.assertEqual(self.api.get("/api/jobs?" + query)["items"], [], query)
                self.assertEqual([job["job_id"] for job in self.api.pages("/api/jobs?" + query)], [self.last], query)
            query = f"/api/jobs?q={self.last}&namespace=even&sort={sort}"
            self.assertEqual([job["job_id"] for job in self.api.pages(query)], [self.last], query)
            # In the reverse order this job is one of the first two.
            nearest = self.api.get(f"/api/jobs?q={self.last}&sort=-{sort}")["items"]
            self.assertEqual([job["job_id"] for job in nearest], [self.last], sort)

    def test_command_line_continues_a_search(self):
        _, out, _ = cli(self.server, "job", "list", "--search", self.last, "-o", "name")
        self.assertEqual(out.split(), [self.last])

    def test_full_page_is_found_at_once(self):
        page = self.api.get("/api/jobs?q=report&page_size=50")
        self.assertEqual(len(page["items"]), 50)
        # On a busy machine the count may take too long. Then the total is the length of the page.
        self.assertIn(page["total_at_least"], (50, 1000))


if __name__ == "__main__":
    unittest.main(verbosity=2)
