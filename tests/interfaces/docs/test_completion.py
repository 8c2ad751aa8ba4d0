#!/usr/bin/env python3
"""The completion scripts, loaded by their shells: each shell offers the same verbs and flags."""
import os
import shutil
import subprocess
import tempfile
import unittest

CARILLON = os.path.abspath(os.path.join(os.environ.get("CARILLON_BIN", "build/dev/bin"), "carillon"))
LINES = {  # the text before the cursor: (some words that are offered, some that are not)
    "carillon ": ({"job", "apply", "context", "--addr"}, {"revert"}),
    "carillon jo": ({"job"}, {"apply", "run"}),
    "carillon job re": ({"revert", "resume"}, {"run", "list"}),
    "carillon --yes job re": ({"revert", "resume"}, {"run"}),
    "carillon apply --p": ({"--prune"}, {"--selector"}),
    "carillon job get nightly --out": ({"--output"}, {"--addr"}),
    "carillon system ": ({"status", "topology"}, {"job"}),
    "carillon namespace ": ({"list"}, {"create"}),
    "carillon user edit anna --s": ({"--share"}, {"--name"}),
    "carillon completion ": ({"bash", "zsh", "fish"}, {"job"}),
}

BASH = """
source "$1"
COMP_WORDS=({words} "{last}"); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_carillon
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
# Outside of a completion, compadd can be replaced by a function that prints its words.
ZSH = """
autoload -Uz compinit; compinit -u -D
source "$1"
[[ $_comps[carillon] == _carillon ]] || exit 9
_files() {{ :; }}
compadd() {{ shift; local w; for w in "$@"; do [[ $w == {last}* ]] && print -r -- "$w"; done; :; }}
words=({words} '{last}'); CURRENT=$#words
_carillon
"""
FISH = """
source "$argv[1]"
complete -C '{line}'
"""


class CompletionTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.env = {"HOME": self.directory.name, "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}

    def tearDown(self):
        self.directory.cleanup()

    def offered(self, shell, line):
        script = os.path.join(self.directory.name, "completion")
        with open(script, "wb") as f:
            f.write(subprocess.run([CARILLON, "completion", shell], check=True, capture_output=True, env=self.env,
                                   timeout=120).stdout)
        *words, last = line.split(" ")
        text = {"bash": BASH, "zsh": ZSH, "fish": FISH}[shell].format(words=" ".join(words), last=last, line=line)
        command = {"bash": ["bash", "-c", text, "bash", script], "zsh": ["zsh", "-f", "-c", text, "zsh", script],
                   "fish": ["fish", "--no-config", "-c", text, script]}[shell]
        done = subprocess.run(command, capture_output=True, text=True, env=self.env, cwd=self.directory.name, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""), f"{shell}: {line}")
        return {word.split("\t")[0] for word in done.stdout.split("\n")}

    def check(self, shell):
        self.assertTrue(shutil.which(shell), f"{shell} is needed: ./dev packages")
        for line, (some, none) in LINES.items():
            with self.subTest(line):
                offered = self.offered(shell, line)
                self.assertLessEqual(some, offered)
                self.assertFalse(none & offered, offered)

    def test_bash_completes_verbs_and_flags(self):
        self.check("bash")

    def test_zsh_completes_verbs_and_flags(self):
        self.check("zsh")

    def test_fish_completes_verbs_and_flags(self):
        self.check("fish")


if __name__ == "__main__":
    unittest.main(verbosity=2)
