#!/usr/bin/env python3
"""Random workflows of 20 nodes on two members, of which each is killed and frozen in turn, while Kafka and the database
are frozen and killed too. The processes of the nodes write down their starts and ends; judged by that and by a second
implementation of the rules: every node that the rules start has started exactly once and no other one, none before the
nodes that it waits for, and each run has the result that follows.
"""
import datetime
import os
import random
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import LONG, ClusterUnderTest, wait_until  # noqa: E402

SEED = int(os.environ.get("CARILLON_SEED", "5"))
GRAPHS, NODES = 6, 20
EVERY_S, FIRING_S = 5, 50 if LONG else 25  # each workflow begins so often, for so long
SETTLE_S = 180
FAILURES = ("FAILED", "TIMED_OUT", "LOST", "CANCELLED")


# ---- graphs --------------------------------------------------------------------------------------

def edge(rng, before):
    on = rng.choices(["success", "failure", "done"], [6, 2, 2])[0]
    made = {"node": before, "on": on}
    if on == "failure" and rng.random() < 0.4:
        made["if"] = "exit_code == 3"
    if on != "success" and rng.random() < 0.4:
        made["recovers"] = True
    return made


def graph(rng):
    """Nodes that wait for earlier ones. Each has the exit code of its process as a parameter."""
    nodes = []
    for at in range(NODES):
        after = [edge(rng, f"n{before}") for before in sorted(rng.sample(range(at), min(at, rng.choice([0, 1, 1, 2, 3]))))]
        node = {"id": f"n{at}", "job": "node", "parameters": {"code": rng.choices([0, 1, 3], [16, 1, 1])[0]}, "after": after,
                "allow_failure": rng.random() < 0.3}
        if after:
            node["trigger_rule"] = rng.choices(["all", "any", 2 if len(after) > 1 else 1], [7, 2, 1])[0]
        nodes.append(node)
    return nodes


# ---- the rules, a second time --------------------------------------------------------------------

def met(entry, end, node):
    """Whether the entry of `after` is "met", "failed" or "ignored". `end`: how the node before ended."""
    on = entry["on"]
    if end == "not_selected":
        return "ignored"
    if end == "upstream_failed":
        return {"success": "failed", "failure": "ignored", "done": "met"}[on]
    failed = end == "failure"
    if not failed:
        answer = "ignored" if on == "failure" else "met"
    elif node["allow_failure"]:
        answer = "met"
    else:
        answer = "failed" if on == "success" else "met"
    if answer == "met" and "if" in entry and node["parameters"]["code"] != 3:
        return "ignored"
    return answer


def expected(nodes):
    """Returns ({node: success, failure, not_selected or upstream_failed}, the result of the run)."""
    by_id, ends, entries = {node["id"]: node for node in nodes}, {}, {}
    for node in nodes:
        answers = [met(entry, ends[entry["node"]], by_id[entry["node"]]) for entry in node["after"]]
        entries[node["id"]] = answers
        rule = node.get("trigger_rule", "all")
        if rule == "all":
            starts = not answers or ("met" in answers and "failed" not in answers)
        else:
            starts = answers.count("met") >= (1 if rule == "any" else rule)
        if starts:
            ends[node["id"]] = "failure" if node["parameters"]["code"] else "success"
        else:
            ends[node["id"]] = "upstream_failed" if "failed" in answers else "not_selected"
    recovered = {entry["node"] for node in nodes for entry, answer in zip(node["after"], entries[node["id"]])
                 if entry.get("recovers") and answer == "met" and ends[node["id"]] in ("success", "failure")}
    fails = any(end == "failure" and not by_id[name]["allow_failure"] and name not in recovered for name, end in ends.items())
    return ends, "FAILED" if fails else "COMPLETED"


class RulesTest(unittest.TestCase):
    def test_rules_decide_as_the_documented_table(self):
        def node(name, code=0, allow=False, after=(), rule="all"):
            return {"id": name, "job": "node", "parameters": {"code": code}, "allow_failure": allow, "after": list(after),
                    "trigger_rule": rule}
        ends, result = expected([
            node("a", 3), node("b", after=[{"node": "a", "on": "success"}]),
            node("c", after=[{"node": "b", "on": "success"}]), node("d", after=[{"node": "b", "on": "done"}]),
            node("e", after=[{"node": "a", "on": "failure", "if": "exit_code == 3", "recovers": True}]),
            node("f", after=[{"node": "e", "on": "failure"}]), node("g", after=[{"node": "f", "on": "success"}]),
            node("h", after=[{"node": "b", "on": "success"}, {"node": "e", "on": "success"}], rule="any")])
        self.assertEqual(ends, {"a": "failure", "b": "upstream_failed", "c": "upstream_failed", "d": "success", "e": "success",
                                "f": "not_selected", "g": "not_selected", "h": "success"})
        self.assertEqual(result, "COMPLETED")
        self.assertEqual(expected([node("a", 1)])[1], "FAILED")
        self.assertEqual(expected([node("a", 1, allow=True)])[1], "COMPLETED")


def text_of(moment):
    return datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).isoformat()


# ---- the cluster ---------------------------------------------------------------------------------

class WorkflowsTest(unittest.TestCase):
    def setUp(self):
        self.passed = False
        self.cluster = ClusterUnderTest("--session-timeout-ms", "3000", "--slots", "32")
        self.addCleanup(self.finish)
        self.segments = len(self.cluster.api().get("/api/system/status")["segments"])
        self.journal = os.path.join(self.cluster.scratch, "journal")
        rng = random.Random(SEED)
        self.graphs = {f"flow-{number}": graph(rng) for number in range(GRAPHS)}

    def finish(self):
        if not self.passed:
            print(f"CARILLON_SEED={SEED}", self.cluster.log_tails(), flush=True)
        self.cluster.destroy(keep=not self.passed)

    def create(self):
        api = self.cluster.api()
        api.post("/api/jobs", {
            "job_id": "node", "name": "Node", "parameters": {"code": 0}, "misfire_policy": "all", "misfire_grace": 600,
            "command": f'echo "S $CARILLON_RUN_ID $CARILLON_ATTEMPT" >>{self.journal}; sleep 0.02; '
                       f'echo "E $CARILLON_RUN_ID $CARILLON_ATTEMPT" >>{self.journal}; exit $CARILLON_PARAM_CODE'})
        begin = time.time() + 2
        self.fires_until = begin + FIRING_S
        for name, nodes in self.graphs.items():
            api.post("/api/jobs", {
                "job_id": name, "name": name, "type": "workflow", "workflow": {"nodes": nodes, "max_parallel": 6},
                "misfire_policy": "all", "misfire_grace": 600,
                "schedules": [{"kind": "rate", "every_ms": EVERY_S * 1000, "start_time": text_of(begin),
                               "end_time": text_of(begin + FIRING_S)}]})

    def owned(self, name):
        try:
            return self.cluster.metric(name, "carillon_owned_segments")
        except OSError:  # it is dead, frozen or still starting
            return 0

    def lose_scheduler(self, name, signal):
        """Kills or freezes a member, until the other one owns all segments; then it takes its part again."""
        other = "scheduler-2" if name == "scheduler-1" else "scheduler-1"
        # After a fault of the database, members take their segments again one by one.
        wait_until(lambda: self.owned(name) and self.owned(name) + self.owned(other) == self.segments, 60,
                   "both members to own all segments", every=0.2)
        self.cluster.run("kill", name, signal)
        wait_until(lambda: self.owned(other) == self.segments, 60, f"{other} to take over", every=0.2)
        self.cluster.run(*(("kill", name, "CONT") if signal == "STOP" else ("start", name)))
        wait_until(lambda: self.owned(name) > 0, 60, f"{name} to own segments again", every=0.2)

    def freeze_kafka(self):
        """Until workflow runs have begun meanwhile, whose nodes cannot start, or none is left to begin."""
        api = self.cluster.api(timeout=30)

        def begun():
            return len(list(api.pages("/api/runs?state=RUNNING&kind=rate")))
        self.cluster.run("kill", "kafka", "STOP")
        before = begun()
        # A slow machine has all fires behind it before the first node has started.
        wait_until(lambda: time.time() > self.fires_until or begun() >= before + GRAPHS // 2, 60, "workflow runs to begin",
                   every=0.2)
        self.cluster.run("kill", "kafka", "CONT")

    def kill_mariadb(self):
        self.cluster.run("kill", self.cluster.database())
        wait_until(lambda: self.cluster.refresh() and self.cluster.process(self.cluster.database())["state"] == "dead", 60,
                   "MariaDB to be dead", every=0.1)
        self.cluster.run("start", self.cluster.database())

    def break_things(self):
        self.freeze_kafka()
        self.lose_scheduler("scheduler-1", "KILL")
        self.kill_mariadb()
        self.lose_scheduler("scheduler-2", "STOP")
        if LONG:
            self.lose_scheduler("scheduler-2", "KILL")
            self.kill_mariadb()
            self.lose_scheduler("scheduler-1", "STOP")

    def runs(self):
        """The runs of all workflows, once all fires have one and all have ended."""
        api = self.cluster.api(timeout=60)
        runs = [run for name in self.graphs for run in api.pages(f"/api/jobs/{name}/history")]
        planned = GRAPHS * FIRING_S // EVERY_S
        return runs if len(runs) >= planned and all(run["ended_at"] for run in runs) else None

    def journaled(self):
        """{(run, attempt): [line of its start, line of its end]} with all lines of each."""
        starts, ends = {}, {}
        with open(self.journal, encoding="utf-8") as journal:
            for number, line in enumerate(journal):
                word, run, attempt = line.split()
                (starts if word == "S" else ends).setdefault((run, int(attempt)), []).append(number)
        return starts, ends

    def judge_run(self, run, starts, ends):
        """What is wrong with one run."""
        nodes = self.graphs[run["job_id"]]
        fates, result = expected(nodes)
        shown = {node["id"]: node for node in self.cluster.api().get(f"/api/runs/{run['run_id']}/nodes")["nodes"]}
        wrong = [] if run["state"] == result else [f"the result is {run['state']}, not {result}"]
        key = {name: (node["run_id"], 1) for name, node in shown.items()}
        for node in nodes:
            name, fate, is_now = node["id"], fates[node["id"]], shown[node["id"]]
            started = starts.pop(key[name], [])
            if fate in ("success", "failure"):
                wanted = ("COMPLETED", None) if fate == "success" else ("FAILED", "exit_code")
                if len(started) != 1 or len(ends.get(key[name], [])) != 1:
                    wrong.append(f"{name} has started {len(started)} times")
                    continue
                before = [ends.get(key[entry["node"]]) for entry in node["after"]
                          if fates[entry["node"]] in ("success", "failure")]
                done = sum(1 for lines in before if lines and lines[0] < started[0])
                rule = node.get("trigger_rule", "all")
                least = len(before) if rule == "all" else min(len(before), 1 if rule == "any" else rule)
                skipped = len(node["after"]) - len(before)  # a node that was skipped can meet an entry, too
                if done < least - (0 if rule == "all" else skipped):
                    wrong.append(f"{name} has started before {least} of {len(before)} nodes had ended")
            else:
                wanted = ("SKIPPED", fate)
                if started:
                    wrong.append(f"{name} has started although it is {fate}")
            if (is_now["state"], is_now["reason"]) != wanted or is_now["attempt"] != 1:
                wrong.append(f"{name} is {is_now['state']} {is_now['reason']} attempt {is_now['attempt']}, not {wanted}")
        return [f"run {run['run_id']} of {run['job_id']}: {text}" for text in wrong]

    def test_every_node_runs_once_and_in_order_despite_faults(self):
        self.create()
        wait_until(lambda: os.path.exists(self.journal), 60, "the first node to start")
        self.break_things()
        self.cluster.await_ready()
        runs = wait_until(self.runs, SETTLE_S, "all workflow runs to end", every=1)
        self.assertEqual(len({(run["job_id"], run["fire_time"]) for run in runs}), len(runs))
        self.assertEqual(len(runs), GRAPHS * FIRING_S // EVERY_S)
        starts, ends = self.journaled()
        nodes = len(starts)
        wrong = [text for run in runs for text in self.judge_run(run, starts, ends)]
        print(f"{len(runs)} workflow runs, {nodes} processes of nodes, "
              f"{sum(run['state'] == 'FAILED' for run in runs)} runs failed as they should", flush=True)
        self.assertEqual(wrong, [])
        self.assertEqual(starts, {}, "processes that belong to no node")
        self.passed = True


if __name__ == "__main__":
    unittest.main(verbosity=2)
