"""The contract of the REST API: finds the operation of a request, and the errors in an answer."""
import json
import re
import urllib.parse

import jsonschema

METHODS = ("get", "post", "put", "patch", "delete")
# Errors that are answered before the operation of a request is known: about the path, the method or the load.
BEFORE_ANY_OPERATION = {400: "bad_uri", 401: "unauthenticated", 404: "not_found", 405: "method_not_allowed",
                        413: "body_too_large", 414: "uri_too_long", 429: "too_many_requests",
                        503: "overloaded"}


# By media type: splits an answer into its JSON texts. The contract has the schema of one text as `x-item`.
LINES_OF = {
    "application/x-ndjson": lambda text: text.splitlines(),
    "text/event-stream": lambda text: [event.split("data: ", 1)[1] for event in text.split("\n\n")
                                       if event.startswith("id: ")],
}


class Contract:
    def __init__(self, document):
        self.document = document
        self.operations = []  # (pattern, method, path, operation)
        for path, item in document["paths"].items():
            pattern = re.compile("/".join("[^/]+" if part.startswith("{") else re.escape(part)
                                          for part in path.split("/")))
            for method in METHODS:
                if method in item:
                    self.operations.append((pattern, method, path, item[method]))
        self.validators = {}

    def look_up(self, node):
        while "$ref" in node:
            found = self.document
            for part in node["$ref"][2:].split("/"):
                found = found[part]
            node = found
        return node

    def find(self, method, target):
        """Returns (path, operation) of a request; None if no path matches."""
        path = urllib.parse.urlsplit(target).path
        wanted = "get" if method == "HEAD" else method.lower()
        exact = [o for o in self.operations if o[1] == wanted and o[2] == path]
        fitting = exact or [o for o in self.operations if o[1] == wanted and o[0].fullmatch(path)]
        return (fitting[0][2], fitting[0][3]) if fitting else None

    def knows_path(self, target):
        path = urllib.parse.urlsplit(target).path
        return any(pattern.fullmatch(path) for pattern, _, _, _ in self.operations)

    def validator(self, schema):
        key = json.dumps(schema, sort_keys=True)
        if key not in self.validators:
            whole = {"$schema": "https://json-schema.org/draft/2020-12/schema",
                     "components": self.document["components"], "allOf": [schema]}
            self.validators[key] = jsonschema.Draft202012Validator(whole)
        return self.validators[key]

    def complaints_about_body(self, schema, text):
        try:
            body = json.loads(text)
        except ValueError as error:
            return [f"not JSON: {error}"]
        return [f"/{'/'.join(str(p) for p in e.absolute_path)}: {e.message[:300]}"
                for e in self.validator(schema).iter_errors(body)]

    def complaints(self, method, target, status, headers, text):
        """Returns the errors in an answer, as sentences; none if the answer obeys the contract."""
        headers = {name.lower(): value for name, value in headers.items()}
        found = self.find(method, target)
        if found is None or (status in BEFORE_ANY_OPERATION and str(status) not in found[1]["responses"]):
            if status not in BEFORE_ANY_OPERATION:
                return [f"{status} for a request that is in no path of the contract"]
            if method == "HEAD":
                return []
            wrong = self.complaints_about_body({"$ref": "#/components/schemas/Problem"}, text)
            if not wrong and json.loads(text)["code"] != BEFORE_ANY_OPERATION[status]:
                wrong.append(f"the code is not {BEFORE_ANY_OPERATION[status]}")
            return wrong
        path, operation = found
        if str(status) not in operation["responses"]:
            return [f"{status} is no documented answer of {method} {path}"]
        answer = self.look_up(operation["responses"][str(status)])
        wrong = []
        for name, header in answer.get("headers", {}).items():
            header = self.look_up(header)
            if name.lower() not in headers:
                if header.get("required"):
                    wrong.append(f"no header {name}")
            elif (pattern := header["schema"].get("pattern")) and not re.search(pattern, headers[name.lower()]):
                wrong.append(f"header {name}: {headers[name.lower()]!r}")
        if "x-trace-id" not in headers:
            wrong.append("no header X-Trace-Id")
        content = answer.get("content")
        if content is None:
            return wrong + (["a body, where there is to be none"] if text else [])
        media = headers.get("content-type", "")
        if media not in content:
            return wrong + [f"Content-Type {media!r}, not {' or '.join(content)}"]
        if method != "HEAD" and media in LINES_OF:
            for item in LINES_OF[media](text):
                wrong += self.complaints_about_body(content[media]["x-item"], item)
        elif method != "HEAD" and "json" in media:
            wrong += self.complaints_about_body(content[media]["schema"], text)
        return wrong
