#!/usr/bin/env python3
"""Checks that answers.json, from which test_golden.py feeds the command line, has what the server says.

test_answers.py EXCHANGES OPENAPI_YAML: EXCHANGES is the file that unit_api wrote (CARILLON_API_RECORD).

Each entry of answers.json, {OPERATION or OPERATION/VARIANT: {from, status, headers, body}}, is the longest successful
answer of the operation in the test `from`. `./dev regen` (CARILLON_REGEN=1) takes them again from the exchanges; to use
the answer of another test, name it in `from` before.
"""
import json
import os
import pathlib
import re
import sys
import unittest

import yaml

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "openapi"))
from contract import Contract  # noqa: E402  (the path comes first)

EXCHANGES, OPENAPI = sys.argv[1:3]
ANSWERS = HERE / "answers.json"
HEADERS = ("etag", "location", "set-cookie", "accept-ranges", "x-log-complete", "x-log-last-seq", "x-output-truncated")
# Values that differ from run to run.
RANDOM = [
    (r"eyJ[\w-]+\.[\w-]+\.[\w-]+", "header.claims.signature"),
    (r"carillon_(?!refresh)[\w-]{6}[\w+/=:-]*", "carillon_shown-once"),
    (r"(carillon_refresh|#token)=[\w-]+", r"\1=shown-once"),
    (r"\b(bulk|tok|user)-[0-9a-f]{12,16}\b", r"\1-1"),
    (r"\b[0-9a-f]{16}\b|\b[0-9a-f]{32}\b|\b[0-9a-f]{64}\b", lambda found: "0a" * (len(found[0]) // 2)),
]


def neutral(value, member=""):
    if isinstance(value, dict):
        return {name: neutral(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [neutral(one) for one in value]
    if isinstance(value, str):
        if member == "time":
            return "2026-03-01T00:00:00.000000Z"
        for pattern, replacement in RANDOM:
            value = re.sub(pattern, replacement, value)
    return value


def entry(exchange):
    headers = {name.title().replace("Etag", "ETag"): exchange["headers"][name] for name in HEADERS if name in exchange["headers"]}
    body, media = exchange["body"], exchange["headers"].get("content-type", "")
    if media.startswith("application/json"):
        body = json.loads(body)
    elif media:
        headers["Content-Type"] = media
    return {"from": exchange["test"], **neutral({"status": exchange["status"], "headers": headers, "body": body or None})}


class AnswersTest(unittest.TestCase):
    maxDiff = 2000

    def test_answers_are_what_the_server_says(self):
        with open(OPENAPI, encoding="utf-8") as f:
            contract = Contract(yaml.safe_load(f))
        longest = {}
        with open(EXCHANGES, encoding="utf-8") as f:
            for exchange in map(json.loads, f):
                found = contract.find(exchange["method"], exchange["path"])
                if found and exchange["method"] != "HEAD" and exchange["status"] < 300:
                    key = found[1]["operationId"], exchange["test"]
                    if key not in longest or len(exchange["body"]) > len(longest[key]["body"]):
                        longest[key] = exchange
        kept = json.loads(ANSWERS.read_text(encoding="utf-8"))
        fresh = {}
        for name, answer in kept.items():
            key = name.split("/")[0], answer["from"]
            self.assertIn(key, longest, "no successful answer in this test; name another one in answers.json")
            fresh[name] = entry(longest[key])
        if os.environ.get("CARILLON_REGEN") == "1":
            lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(fresh[name], ensure_ascii=False)}" for name in sorted(fresh))
            ANSWERS.write_text("{\n" + lines + "\n}\n", encoding="utf-8")
            kept = json.loads(ANSWERS.read_text(encoding="utf-8"))
        for name in fresh:
            with self.subTest(name):
                self.assertEqual(kept[name], fresh[name], "CARILLON_REGEN=1 or `./dev regen` takes the new answer")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
