#!/usr/bin/env python3
"""Checks that the contract allows every answer that the unit tests of the API got.

test_recorded.py EXCHANGES OPENAPI_YAML: checks each exchange of the file that unit_api wrote (CARILLON_API_RECORD).
"""
import collections
import json
import sys
import unittest

import jsonschema
import yaml

from contract import METHODS, Contract

EXCHANGES, OPENAPI = sys.argv[1:3]


def recorded():
    with open(EXCHANGES, encoding="utf-8") as f:
        exchanges = [json.loads(line) for line in f]
    # Other paths are pages of the console.
    return [e for e in exchanges if e["path"].startswith(("/api", "/livez", "/readyz"))]


class RecordedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(OPENAPI, encoding="utf-8") as f:
            cls.document = yaml.safe_load(f)
        cls.contract = Contract(cls.document)
        cls.exchanges = recorded()

    def complaints(self, exchange):
        return self.contract.complaints(*(exchange[k] for k in ("method", "path", "status", "headers", "body")))

    def test_answers_follow_the_contract(self):
        wrong = collections.Counter()
        where = {}
        for exchange in self.exchanges:
            for complaint in self.complaints(exchange):
                what = f"{exchange['method']} {exchange['path'].split('?')[0]} {exchange['status']}: {complaint}"
                wrong[what] += 1
                where.setdefault(what, exchange["test"])
        self.assertFalse(wrong, "\n" + "\n".join(f"{n} times, first in {where[w]}: {w}" for w, n in wrong.most_common(40)))

    def test_every_operation_has_a_successful_answer(self):
        answered = {self.contract.find(e["method"], e["path"])[1]["operationId"] for e in self.exchanges
                    if e["status"] < 300 and self.contract.find(e["method"], e["path"])}
        known = {operation["operationId"] for _, _, _, operation in self.contract.operations}
        self.assertEqual(known - answered, set())

    def test_a_wrong_answer_is_reported(self):
        good = next(e for e in self.exchanges if e["method"] == "POST" and e["path"] == "/api/jobs" and e["status"] == 201)
        self.assertEqual(self.complaints(good), [])
        body = json.loads(good["body"])
        for change in ({"body": json.dumps({**body, "state": "SLEEPING"})},
                       {"body": json.dumps({**body, "colour": "red"})},
                       {"body": json.dumps({k: v for k, v in body.items() if k != "version"})},
                       {"body": "{"},
                       {"status": 299},
                       {"path": "/api/nowhere"},
                       {"headers": {k: v for k, v in good["headers"].items() if k.lower() != "etag"}},
                       {"headers": {**good["headers"], "content-type": "text/plain"}}):
            self.assertNotEqual(self.complaints({**good, **change}), [], change)

    def test_the_document_is_valid(self):
        ids = [o["operationId"] for _, _, _, o in self.contract.operations]
        self.assertEqual(len(ids), len(set(ids)))
        for schema in self.document["components"]["schemas"].values():
            jsonschema.Draft202012Validator.check_schema(schema)
        tags = {tag["name"] for tag in self.document["tags"]}
        for path, item in self.document["paths"].items():
            shared = [self.contract.look_up(p)["name"] for p in item.get("parameters", [])]
            named = [part[1:-1] for part in path.split("/") if part.startswith("{")]
            self.assertEqual(shared, named, path)
            for method in METHODS:
                self.assertLessEqual(set(item.get(method, {"tags": []})["tags"]), tags)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
