#!/usr/bin/env python3
"""embed_openapi.py IN.yaml OUT.cc: writes the OpenAPI document as JSON, and the page that shows it, as C++."""
import base64
import hashlib
import html
import json
import sys

import yaml

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #d0d7de; --soft: #f3f5f7; --quiet: #57606a;
  --get: #0a5c2b; --write: #7a3e00; --gone: #a40e26; --link: #0550ae; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0f1419; --line: #30363d; --soft: #1a2027;
  --quiet: #9aa5b1; --get: #56d364; --write: #e3b341; --gone: #ff7b72; --link: #79c0ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 72rem; font: 16px/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); }
a { color: var(--link); }
code { font: 14px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
h2 { margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--line); }
section { margin: 1rem 0; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: 6px; }
section > h3 { margin: 0; font-size: 1rem; }
.get { color: var(--get); } .post, .put, .patch { color: var(--write); } .delete { color: var(--gone); }
table { width: 100%; margin: .5rem 0; border-collapse: collapse; font-size: .9rem; }
th, td { padding: .25rem .5rem; border-top: 1px solid var(--line); text-align: left; vertical-align: top; }
th { background: var(--soft); }
td:first-child { width: 28%; }
.quiet { color: var(--quiet); }
nav ul { columns: 18rem; padding-left: 1.2rem; }
pre { margin: .5rem 0; padding: .75rem; overflow-x: auto; background: var(--soft); border-radius: 6px; }
"""


def text(value):
    return html.escape(str(value))


class Page:
    def __init__(self, document):
        self.document = document

    def look_up(self, node):
        while "$ref" in node:
            found = self.document
            for part in node["$ref"][2:].split("/"):
                found = found[part]
            node = found
        return node

    def type_of(self, schema):
        """Describes a schema in a few words, with a link to it if it has a name."""
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            return f'<a href="#schema-{text(name)}">{text(name)}</a>'
        for word, joint in (("oneOf", " or "), ("anyOf", " or "), ("allOf", " with ")):
            if word in schema and "properties" not in schema:
                return joint.join(self.type_of(part) for part in schema[word])
        if "const" in schema:
            return f"<code>{text(schema['const'])}</code>"
        if "enum" in schema:
            return " | ".join(f"<code>{text(json.dumps(v) if v is None else v)}</code>" for v in schema["enum"])
        kind = schema.get("type", "any")
        kind = " or ".join(kind) if isinstance(kind, list) else kind
        if kind == "array" and "items" in schema:
            return f"list of {self.type_of(schema['items'])}"
        if "properties" in schema and "items" in schema["properties"] and len(schema["properties"]) == 1:
            return f"items: {self.type_of(schema['properties']['items'])}"
        low, high = schema.get("minimum", schema.get("minLength")), schema.get("maximum", schema.get("maxLength"))
        bounds = "" if low is None and high is None else f", {'' if low is None else low} to {'' if high is None else high}"
        return text(kind + bounds)

    def rows(self, heads, rows):
        if not rows:
            return ""
        head = "".join(f'<th scope="col">{text(h)}</th>' for h in heads)
        body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def properties(self, schema):
        schema = self.look_up(schema)
        required = set(schema.get("required", []))
        rows = []
        for name, part in schema.get("properties", {}).items():
            notes = [text(part["description"])] if "description" in part else []
            if "default" in part:
                notes.append(f"default <code>{text(json.dumps(part['default']))}</code>")
            rows.append((f"<code>{text(name)}</code>{' *' if name in required else ''}", self.type_of(part),
                         ". ".join(notes)))
        return self.rows(("member (* always there)", "type", ""), rows)

    def operation(self, path, method, shared, operation):
        parts = [f'<section id="{text(operation["operationId"])}"><h3><span class="{method}">{method.upper()}</span> '
                 f'<code>{text(path)}</code></h3><p>{text(operation["summary"])}']
        if "description" in operation:
            parts.append(f'<br><span class="quiet">{text(operation["description"])}</span>')
        parts.append("</p>")
        if operation.get("security") == []:
            parts.append('<p class="quiet">Needs no token.</p>')
        parameters = [self.look_up(p) for p in shared + operation.get("parameters", [])]
        parts.append(self.rows(("parameter (* needed)", "in", "type", ""), [
            (f"<code>{text(p['name'])}</code>{' *' if p.get('required') else ''}", text(p["in"]), self.type_of(p["schema"]),
             text(p.get("description", ""))) for p in parameters]))
        body = operation.get("requestBody")
        if body:
            schema = next(iter(body["content"].values()))["schema"]
            parts.append(f"<p>Body{'' if body.get('required') else ' (may be missing)'}: {self.type_of(schema)}</p>")
            if "$ref" not in schema:
                parts.append(self.properties(schema))
            for example in next(iter(body["content"].values())).get("examples", {}).values():
                parts.append(f"<pre><code>{text(json.dumps(example['value'], indent=2))}</code></pre>")
        rows = []
        for status, answer in sorted(operation["responses"].items()):
            answer = self.look_up(answer)
            content = next(iter(answer.get("content", {}).items()), None)
            schema = self.type_of(content[1]["schema"]) if content else ""
            rows.append((f"<code>{status}</code>", text(answer["description"]), schema))
        parts.append(self.rows(("answer", "", "body"), rows) + "</section>")
        return "".join(parts)

    def render(self):
        info = self.document["info"]
        operations = [(path, method, item.get("parameters", []), item[method])
                      for path, item in self.document["paths"].items()
                      for method in ("get", "post", "put", "patch", "delete") if method in item]
        out = ['<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
               '<meta name="viewport" content="width=device-width, initial-scale=1">'
               f"<title>{text(info['title'])}: the REST API</title><style>{STYLE}</style></head><body>"
               f"<header><h1>{text(info['title'])}: the REST API</h1><p>{text(info['description'])}</p>"
               '<p><a href="openapi.json">openapi.json</a></p></header><nav aria-label="Operations"><ul>']
        out += [f'<li><a href="#{text(o["operationId"])}">{text(o["summary"])}</a></li>' for _, _, _, o in operations]
        out.append("</ul></nav><main>")
        for tag in self.document["tags"]:
            out.append(f"<h2>{text(tag['name'])}</h2><p>{text(tag['description'])}.</p>")
            out += [self.operation(*o) for o in operations if o[3]["tags"][0] == tag["name"]]
        out.append("<h2>Schemas</h2>")
        for name, schema in self.document["components"]["schemas"].items():
            what = self.properties(schema) or f"<p>{self.type_of(schema)}</p>"
            note = f"<p>{text(schema['description'])}</p>" if "description" in schema else ""
            out.append(f'<section id="schema-{text(name)}"><h3>{text(name)}</h3>{note}{what}</section>')
        out.append("</main></body></html>\n")
        return "".join(out)


def literal(value):
    """The value as adjacent raw strings of 8,000 characters, because compilers limit the length of one string."""
    pieces = [value[i:i + 8000] for i in range(0, len(value), 8000)]
    return "\n    ".join(f'R"openapi({piece})openapi"' for piece in pieces)


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        document = yaml.safe_load(f)
    document = {name: part for name, part in document.items() if name != "x-anchors"}
    json_text = json.dumps(document, separators=(",", ":"))
    page = Page(document).render()
    style = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        f.write('#include "scheduler/openapi/openapi_texts.h"\n\nnamespace carillon::scheduler {\n\n')
        f.write(f"const std::string_view kOpenApiJson =\n    {literal(json_text)};\n\n")
        f.write(f"const std::string_view kReferencePage =\n    {literal(page)};\n\n")
        f.write(f'const std::string_view kReferenceStyleHash = "sha256-{style}";\n\n')
        for name, served in (("kOpenApiTag", json_text), ("kReferenceTag", page)):
            tag = hashlib.sha256(served.encode()).hexdigest()[:16]
            f.write(f'const std::string_view {name} = "\\"{tag}\\"";\n\n')
        f.write("}  // namespace carillon::scheduler\n")


if __name__ == "__main__":
    main()
