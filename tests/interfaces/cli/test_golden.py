#!/usr/bin/env python3
"""Requests, output in every format and exit code of each verb of the command line, against recorded answers.

test_golden.py CARILLON OPENAPI_YAML

answers.json  an answer of the server for each operation of the API (test_answers.py)
cases.json    [{arguments, before?, input?, files?, answers?, text?, nothing?}]: `answers` replaces some answers for
              this case (a text names another entry of answers.json); the items of a list are given one after the
              other. `text`: the verb never prints JSON.
              `nothing`: it prints nothing.
golden/VERB.json  the results: {"job list --limit 2": {sent, exit, json, table, name, err}}. json is "= listJobs" if the
              verb printed the recorded answer of that operation, and {"= applyJobs but": {"/items/0/place": "a:1"}} if
              a few values were added or changed.

`./dev regen` (CARILLON_REGEN=1) writes the golden files again. Read the difference before you commit it.
"""
import concurrent.futures
import copy
import http.server
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import unittest

import yaml

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "openapi"))
from contract import METHODS, Contract  # noqa: E402  (the path comes first)

CARILLON, OPENAPI = (os.path.abspath(path) for path in sys.argv[1:3])
GOLDEN = HERE / "golden"
REGEN = os.environ.get("CARILLON_REGEN") == "1"
FORMS = ("json", "table", "name")
TRACE = "0af7651916cd43dd8448eb211c80319c"
# Verbs that print no answer of the API, with the tests that cover them.
OTHERWISE = {
    "standalone": "a server; tests/standalone",
    "check-config": "files only; tests/unit/config",
    "backup create": "asks the database, not the API; tests/standalone/operations/test_backup.py",
    "backup restore": "asks the database, not the API; tests/standalone/operations/test_backup.py",
    "completion bash": "tests/interfaces/docs/test_completion.py", "completion zsh": "tests/interfaces/docs/test_completion.py",
    "completion fish": "tests/interfaces/docs/test_completion.py",
    "executor authority": "writes a key, another each time; tests/standalone/operations/test_tls.py",
    "output": "a file inside a run; tests/unit/cli/runs/output_command_test.cc",
    "progress": "a file inside a run; tests/unit/cli/runs/checkpoint_commands_test.cc",
    "checkpoint save": "a file inside a run; tests/unit/cli/runs/checkpoint_commands_test.cc",
    "checkpoint load": "a file inside a run; tests/unit/cli/runs/checkpoint_commands_test.cc",
    "version": "the version; tests/unit/cli", "help": "the flags of a verb; tests/unit/cli",
}
# Operations that no verb uses to print JSON.
CONSOLE_ONLY = {"importText", "previewSchedule", "previewWaits", "getReference", "getOpenApi", "setUp", "getAuthState", "streamRunLogs",
                "streamChanges", "refreshSession", "replaceJob", "listRecentRuns", "changeMe", "getLiveness", "getReadiness", "getRunCheckpoint"}

# The verb that prints the list of this operation.
LIST_VERBS = {
    "listJobs": "job list", "listJobRuns": "job history", "listJobVersions": "job versions", "listRuns": "run list", "listBulkActions": "bulk list", "listBackfills": "backfill list",
    "listBulkItems": "bulk items", "listDeadLetters": "dead-letter list", "listFailingJobs": "dead-letter jobs", "listDeliveries": "delivery list", "listExecutors": "executor list",
    "listSecrets": "secret list", "listAudit": "audit", "listGaps": "job gaps", "listEvents": "event list", "listRoles": "role list", "listUsers": "user list", "listTokens": "token list",
    "listNamespaces": None,
}


class RecordedServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, contract, answers):
        super().__init__(("127.0.0.1", 0), RecordedHandler)
        self.contract = contract
        self.answers = answers
        self.sent = []  # in the form of the golden files: "GET /api/jobs?x=1", or [the same, body]
        self.answered = []  # (operation, body)
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class RecordedHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self):
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        line = f"{self.command} {self.path}"
        if "If-Match" in self.headers:
            line += f" (If-Match: {self.headers['If-Match']})"
        self.server.sent.append([line, json.loads(text)] if text else line)
        found = self.server.contract.find(self.command, self.path)
        operation = found[1]["operationId"] if found else ""
        answer = self.server.answers.get(operation, {"status": 404, "body": problem("not_found")})
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        self.server.answered.append((operation, answer.get("body")))
        status, headers, body = parts_of(answer)
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer


def problem(code):
    return {"type": "urn:carillon:problem:" + code, "title": code, "status": 404, "code": code, "detail": "recorded",
            "instance": "/api", "trace_id": TRACE, "errors": []}


def parts_of(answer):
    """Returns (status, headers, text) of a recorded answer."""
    body = answer.get("body")
    headers = {"X-Trace-Id": TRACE, **answer.get("headers", {})}
    if body is None:
        return answer["status"], headers, ""
    if "Content-Type" not in headers:
        headers["Content-Type"] = "application/problem+json" if answer["status"] >= 400 else "application/json"
    return answer["status"], headers, body if isinstance(body, str) else json.dumps(body)


def answers_of(case, answers):
    """The answers of a case. A bulk action in the foreground is previewed before it is done."""
    own = {operation: answers[answer] if isinstance(answer, str) else answer
           for operation, answer in case.get("answers", {}).items()}
    return copy.deepcopy({**answers, "bulkAction": [answers["bulkAction/preview"], answers["bulkAction"]], **own})


def run(case, contract, answers, form):
    server = RecordedServer(contract, answers_of(case, answers))
    with tempfile.TemporaryDirectory() as home:
        for name, text in case.get("files", {}).items():
            (pathlib.Path(home) / name).write_text(text, encoding="utf-8")
        environment = {"PATH": os.environ["PATH"], "HOME": home, "XDG_CONFIG_HOME": home, "CARILLON_ADDR": server.url,
                       "CARILLON_TOKEN": "secret", "TZ": "UTC", "LC_ALL": "C.UTF-8", "EDITOR": "/bin/true"}
        if "before" in case:
            del environment["CARILLON_TOKEN"]
        for arguments, wanted in [*((one, 0) for one in case.get("before", [])), (case["arguments"], None)]:
            server.sent.clear()
            server.answered.clear()
            done = subprocess.run([CARILLON, *shlex.split(arguments), "-o", form, "--time", "utc", "--yes"], cwd=home,
                                  env=environment, input=case.get("input", ""), capture_output=True, text=True, timeout=120)
            if wanted is not None and done.returncode != wanted:
                raise AssertionError(f"{arguments}: {done.stderr}")
    server.shutdown()
    server.server_close()
    plain = lambda text: text.replace(server.url, "http://server").replace(home, "HOME")  # noqa: E731
    return {"sent": server.sent, "answered": server.answered, "exit": done.returncode, "out": plain(done.stdout), "err": plain(done.stderr)}


def leaves(value, pointer=""):
    """Returns {JSON pointer: value} of all scalar values and of all empty objects and lists."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = {}
    for key, one in items:
        found.update(leaves(one, f"{pointer}/{key}"))
    return found or {pointer: value}


def same_as(operation, body, printed):
    """How the golden file refers to an answer that was printed; None if values are missing or many differ."""
    if body == printed:
        return f"= {operation}"
    answer, shown = leaves(body), leaves(printed)
    new = {pointer: value for pointer, value in shown.items() if pointer not in answer or answer[pointer] != value}
    return {f"= {operation} but": new} if answer.keys() <= shown.keys() and len(new) <= len(answer) // 4 else None


def outcome(case, contract, answers):
    """The entry of a case in its golden file."""
    seen = {form: run(case, contract, answers, form) for form in FORMS}
    kept = {"sent": json.loads(json.dumps(seen["json"]["sent"])), "exit": seen["json"]["exit"]}
    out = seen["json"]["out"]
    try:
        printed = json.loads(out)
        same = [same_as(operation, body, printed) for operation, body in seen["json"]["answered"] if operation]
        # The last answer that is printed without a change, or else with few changes.
        whole, almost = ([one for one in same if isinstance(one, kind)] for kind in (str, dict))
        kept["json"] = [printed, *almost, *whole][-1]
    except ValueError:
        kept["json_text"] = out.splitlines()  # several values, or no JSON at all
    kept["table"] = [line.rstrip() for line in seen["table"]["out"].splitlines()]
    kept["name"] = seen["name"]["out"].splitlines()
    kept["err"] = seen["table"]["err"].splitlines()
    return kept


def verbs():
    """All verbs without verbs below them, from the completion script."""
    text = subprocess.run([CARILLON, "completion", "bash"], capture_output=True, text=True, check=True).stdout
    paths = [path.removeprefix("carillon").strip() for path in re.findall(r"^\s*'(carillon[^']*)'\) words=", text, re.M)]
    return {path for path in paths if path and not any(other.startswith(path + " ") for other in paths)}


def verb_of(arguments, known):
    words = [word for word in shlex.split(arguments)]
    return max((v for v in known if words[:len(v.split())] == v.split()), key=len)


class GoldenTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(OPENAPI, encoding="utf-8") as f:
            cls.contract = Contract(yaml.safe_load(f))
        cls.answers = json.loads((HERE / "answers.json").read_text(encoding="utf-8"))
        cls.cases = json.loads((HERE / "cases.json").read_text(encoding="utf-8"))
        cls.verbs = verbs()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            cls.outcomes = list(pool.map(lambda case: outcome(case, cls.contract, cls.answers), cls.cases))

    def test_answers_follow_the_contract(self):
        operations = {o["operationId"]: (method, path) for _, method, path, o in self.contract.operations}
        everywhere = [self.answers, *({operation: answer for operation, answer in case.get("answers", {}).items()
                                       if not isinstance(answer, str)} for case in self.cases)]
        for operation, answer in ((operation, one) for answers in everywhere for operation, some in answers.items()
                                  for one in (some if isinstance(some, list) else [some])):
            method, path = operations[operation.split("/")[0]]
            status, headers, text = parts_of(answer)
            target = re.sub(r"{[^}]*}", "x", path)
            with self.subTest(operation, status=status):
                self.assertEqual(self.contract.complaints(method.upper(), target, status, headers, text), [])

    def test_each_verb_has_a_case(self):
        covered = {verb_of(case["arguments"], self.verbs) for case in self.cases}
        self.assertEqual(covered & set(OTHERWISE), set())
        self.assertEqual(covered | set(OTHERWISE), self.verbs)

    def test_the_guide_names_each_verb(self):
        """Each verb is in a line of the synopsis, with the verb above it: `carillon job list get`, `carillon apply`."""
        guide = (HERE.parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
        synopsis = re.search(r"^```sh synopsis\n(.*?)^```", guide, re.M | re.S).group(1)
        lines = [set(re.findall(r"[a-z-]+", line)) for line in synopsis.splitlines()]
        missing = [verb for verb in sorted(self.verbs) if not any(set(verb.split()[:2]) <= words for words in lines)]
        self.assertEqual(missing, [])

    def test_each_operation_is_asked_by_a_verb(self):
        asked = set()
        for one in self.outcomes:
            for sent in one["sent"]:
                method, target = (sent if isinstance(sent, str) else sent[0]).split(" ")[:2]
                found = self.contract.find(method, target)
                self.assertIsNotNone(found, sent)
                asked.add(found[1]["operationId"])
        known = {o["operationId"] for _, method, _, o in self.contract.operations if method in METHODS}
        self.assertEqual(known - asked, CONSOLE_ONLY)

    def test_each_filter_of_a_list_is_a_flag_of_the_same_name(self):
        lists = {}
        for _, method, _, operation in self.contract.operations:
            of = [self.contract.look_up(one) for one in operation.get("parameters", [])] if method in METHODS else []
            names = {one["name"] for one in of if one["in"] == "query"}
            if "page_token" in names:
                lists[operation["operationId"]] = names - {"page_size", "page_token"}
        self.assertEqual(set(lists) - CONSOLE_ONLY, set(LIST_VERBS))
        missing = {}
        for operation, verb in LIST_VERBS.items():
            flags = set()
            if verb:
                done = subprocess.run([CARILLON, *verb.split(), "--help"], capture_output=True, text=True, check=True)
                own, of_all, _ = done.stdout.partition("Global flags")
                self.assertTrue(of_all, verb)
                # The names in the column of the flags, but not names in the explanations.
                column = [line.strip().split("  ")[0].split(" ")[0] for line in own.splitlines() if line.lstrip().startswith("-")]
                flags = {name for names in column for name in re.findall(r"(?:^|,)--([a-z-]+)", names)}
                self.assertIn("help", flags, verb)
            if lost := {name for name in lists[operation] if name.replace("_", "-") not in flags}:
                missing[verb] = lost
        self.assertEqual(missing, {})

    def test_outcomes_are_those_of_the_golden_files(self):
        by_file = {}
        for case, one in zip(self.cases, self.outcomes):
            by_file.setdefault(verb_of(case["arguments"], self.verbs).replace(" ", "_"), {})[case["arguments"]] = one
        self.assertEqual(sum(map(len, by_file.values())), len(self.cases), "two cases of the same arguments")
        if REGEN:
            GOLDEN.mkdir(exist_ok=True)
            for file in GOLDEN.glob("*.json"):
                file.unlink()
            for name, content in by_file.items():
                text = json.dumps(content, indent=1, ensure_ascii=False, sort_keys=False)
                (GOLDEN / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        self.assertEqual({file.stem for file in GOLDEN.glob("*.json")}, set(by_file))
        for name, content in by_file.items():
            kept = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
            self.assertEqual(list(kept), list(content), name)
            for arguments, one in content.items():
                with self.subTest(arguments):
                    self.assertEqual(one, kept[arguments])

    def test_json_output_contains_nothing_else(self):
        for case, one in zip(self.cases, self.outcomes):
            with self.subTest(case["arguments"]):
                if case.get("nothing"):
                    self.assertEqual((one.get("json_text"), one["table"], one["name"]), ([], [], []))
                elif one["exit"] in (0, 10, 11) and not case.get("text"):
                    self.assertIn("json", one, one.get("json_text"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
