"""A server with workflows whose nodes write into a journal what they do."""
import os

from harness import wait_until
from server_case import ServerCase

SECONDS = 60


class WorkflowCase(ServerCase):
    def setUp(self):
        self.name = self.id().split(".")[-1].removeprefix("test_").replace("_", "-")[:40]
        self.journal = os.path.join(self.server.scratch, self.name + ".journal")

    def job(self, name, command="true", **more):
        """A job that writes its name when it starts and ends."""
        logged = f'echo "+{name}" >> {self.journal}; ( {command} ); code=$?; echo "-{name}" >> {self.journal}; exit $code'
        job_id = f"{self.name}-{name}"
        self.api.post("/api/jobs", {"job_id": job_id, "name": job_id, "command": logged, **more})
        return job_id

    def flow(self, *nodes, max_parallel=32, suffix="", **more):
        job_id = self.name + suffix
        nodes = [{**node, "job": f"{self.name}-{node.get('job', node['id'])}"} for node in nodes]
        self.api.post("/api/jobs", {"job_id": job_id, "name": job_id, "type": "workflow",
                                    "workflow": {"max_parallel": max_parallel, "nodes": nodes}, **more})
        return job_id

    def begin(self, job_id, **parameters):
        body = {"parameters": parameters} if parameters else {}
        return self.api.post(f"/api/jobs/{job_id}/execute", body)["run_id"]

    def nodes(self, run_id):
        return {node["id"]: node for node in self.api.get(f"/api/runs/{run_id}/nodes")["nodes"]}

    def states(self, run_id):
        return {name: node["state"] for name, node in self.nodes(run_id).items()}

    def ends(self, run_id, state):
        run = self.ended(run_id)
        self.assertEqual(run["state"], state, (run["error"], self.states(run_id)))
        return run

    def journaled(self):
        try:
            with open(self.journal, encoding="utf-8") as journal:
                return journal.read().split()
        except FileNotFoundError:
            return []

    def waits_for(self, word):
        wait_until(lambda: word in self.journaled(), SECONDS, word)
