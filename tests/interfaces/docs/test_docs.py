#!/usr/bin/env python3
"""The commands in the documentation: they are run against a real `carillon standalone`.

The word after the language of a code fence gives the kind of the block:

  ```sh run         run, all blocks of a page in order in one shell, each page with its own server
  ```console run    the lines after `$ ` are run and must print what the page shows
  ```yaml jobs      jobs in a file, which must be valid
  ```sh example     and the other words of NOT_RUN: not run, for the reason given there

A block without a known word fails this test, so that a new one cannot be forgotten.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(ROOT, "tests", "support", "py"))
from harness import BIN, Standalone  # noqa: E402

PAGES = ["README.md", "README.zh-CN.md"] + sorted(
    os.path.join("docs", name) for name in os.listdir(os.path.join(ROOT, "docs")) if name.endswith(".md"))
NOT_RUN = {
    "sh synopsis": "the grammar of a command",
    "sh example": "names what only the reader has: people, files, runs, versions",
    "sh server": "starts what this test has started already",
    "sh install": "installs on the machine",
    "sh systemd": "belongs to the service manager",
    "sh compose": "needs a container engine; tests/interfaces/deploy checks what it starts",
    "sh cluster": "starts a cluster; tests/cluster has one",
    "sh inside": "what a job's own command may be",
    "sql": "belongs to the database's administrator",
    "nginx": "of another program's configuration",
    "json": "what is sent or answered",
    "python": "a program with the SDK: it must compile",
    "java": "parts of a class; ./dev test builds sdk/java-spring/example, which is whole",
    "yaml": "of another program's, or a part",
    "text": "a drawing, or what is printed",
}
RUN = ("sh run", "console run", "yaml jobs")
SECONDS = 240  # for all commands of a page

PRELUDE = """
set -eo pipefail
shopt -s expand_aliases
carillon() { "$CARILLON" "$@"; }
curl() { command curl --fail-with-body "$@"; }  # a refusal ends the block
"""


class Block:
    def __init__(self, page, line, info, text):
        self.page, self.line, self.info, self.text = page, line, info, text

    def place(self):
        return f"{self.page}:{self.line}"


def blocks_of(page, text):
    found, inside = [], None
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"\s*```(.*)$", line)
        if fence is None:
            if inside:
                inside.text += line + "\n"
        elif inside:
            found.append(inside)
            inside = None
        else:
            inside = Block(page, number, fence.group(1).strip(), "")
    if inside:
        raise AssertionError(f"{inside.place()}: this block has no end")
    return found


def read(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as f:
        return blocks_of(page, f.read())


def script_of(block):
    """The block, with the path of the tested program instead of that in the default build directory."""
    return block.text.replace("build/dev/bin/carillon", "\"$CARILLON\"").replace("$PWD/\"$CARILLON\"", "\"$CARILLON\"")


def transcript(text):
    """Returns [(command, expected output)] of a block whose commands follow `$ `."""
    parts = []
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            parts.append([line[2:], ""])
        else:
            parts[-1][1] += line
    return parts


class Shell:
    """Runs the commands of a page. The server's data are in the directory where the commands look by default."""

    def __init__(self):
        self.home = tempfile.TemporaryDirectory(prefix="carillon-docs-")
        data = os.path.join(self.home.name, ".local", "share", "carillon")
        os.makedirs(os.path.dirname(data))
        self.server = Standalone()
        self.server.data_dir = data
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("CARILLON_", "XDG_"))}
        self.env.update(HOME=self.home.name, CARILLON=os.path.abspath(os.path.join(BIN, "carillon")))

    def __enter__(self):
        self.server.start()
        return self

    def __exit__(self, *_):
        self.server.destroy()
        self.server.remove()
        self.home.cleanup()

    def run(self, script, text=None):
        return subprocess.run(["bash", "-c", PRELUDE + script], cwd=self.home.name, env=self.env, input=text or "",
                              capture_output=True, text=True, timeout=SECONDS)

    def run_all(self, blocks):
        """Returns the problems of a page's blocks, as sentences."""
        script = "".join(f"echo '@@ {b.place()}' >&2\n{script_of(b)}\n" for b in blocks if b.info == "sh run")
        done = self.run(script)
        if done.returncode != 0:
            place = re.findall(r"@@ (\S+)", done.stderr)[-1:]
            return [f"{place}: ended with {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"]
        return []

    def compare(self, block):
        wrong = []
        for command, expected in transcript(block.text):
            done = self.run(command)
            printed = done.stdout + done.stderr
            if printed != expected:
                wrong.append(f"{block.place()}: {command}prints\n{printed}instead of\n{expected}")
        return wrong

    def check_jobs(self, block):
        done = self.run("carillon validate -f -", block.text)
        return [f"{block.place()}: {done.stderr}"] if done.returncode != 0 else []


class DocsTest(unittest.TestCase):
    def test_every_block_names_its_kind(self):
        wrong = [f"{b.place()}: '{b.info}' is none of {', '.join(RUN + tuple(NOT_RUN))}"
                 for page in PAGES for b in read(page) if b.info not in RUN and b.info not in NOT_RUN]
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_shown_commands_work(self):
        ran = 0
        for page in PAGES:
            blocks = [b for b in read(page) if b.info in RUN]
            if not blocks:
                continue
            with self.subTest(page), Shell() as shell:
                wrong = shell.run_all(blocks)
                for block in blocks:
                    if block.info == "console run":
                        wrong += shell.compare(block)
                    if block.info == "yaml jobs":
                        wrong += shell.check_jobs(block)
                self.assertFalse(wrong, "\n" + "\n".join(wrong))
                ran += len(blocks)
        self.assertGreaterEqual(ran, 15)

    def test_a_wrong_page_is_reported(self):
        page = ("```sh run\ncarillon job list\n```\n```sh run\ncarillon job get none >/dev/null\necho on\n```\n"
                "```console run\n$ echo one\ntwo\n```\n```yaml jobs\nname: A\ncolour: red\n```\n")
        blocks = blocks_of("page", page)
        with Shell() as shell:
            [wrong] = shell.run_all(blocks)
            self.assertIn("page:4", wrong)
            self.assertIn("ended with 3", wrong)
            self.assertNotIn("\non\n", wrong)
            self.assertEqual(len(shell.compare(blocks[2])), 1)
            self.assertIn("colour", shell.check_jobs(blocks[3])[0])
            refused = blocks_of("page", "```sh run\ncurl -sS http://127.0.0.1:1/\n```\n")
            self.assertEqual(len(shell.run_all(refused)), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
