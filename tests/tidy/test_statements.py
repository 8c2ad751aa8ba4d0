#!/usr/bin/env python3
"""Checks the SQL in the sources for what only one of the servers, MariaDB and MySQL, accepts."""
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tidy_test  # noqa: E402

ROOM = "common/adapters/mysql/"
LOCKS = re.compile(r"\b(FOR UPDATE|FOR SHARE|LOCK IN SHARE MODE)\b")
CLAUSES = ROOM + "client/row_locks.h"
# The name that a piece of code defines: a constant, or a function that returns text.
DEFINED = re.compile(r"(?:std::string|string_view|char) (\w+)(?:\([^)]*\) \{)?\s*(?:\[\] )?(?:=|return)")


def pieces(text):
    """The text without comments, cut at semicolons outside of strings, with joined string literals: [(line, piece)]."""
    text = re.sub(r"//[^\n]*", "", text)
    found, begin = [], 0
    for match in re.finditer(r'"(?:[^"\\\n]|\\.)*"|;', text):
        if match.group(0) == ";":
            found.append((text.count("\n", 0, begin) + 1, text[begin:match.end()]))
            begin = match.end()
    found.append((text.count("\n", 0, begin) + 1, text[begin:]))
    return [(line, re.sub(r'"\s*"', "", piece)) for line, piece in found]


def reads_table(piece, names):
    return "JSON_TABLE" in piece or any(re.search(rf"\b{name}\b", piece) for name in names)


def locked_tables(sources):
    """The places where a SELECT over a JSON_TABLE has a locking clause of its own: ["path:line"]."""
    everywhere = {}  # constants and functions whose text has a JSON_TABLE; a k… may be of another file
    cut = {path: pieces(text) for path, text in sources.items()}
    for _ in range(3):  # a text of texts of texts
        for path, found in cut.items():
            local = everywhere.setdefault(path, set())
            for _, piece in found:
                named = DEFINED.search(piece)
                if named and reads_table(piece, shared(everywhere) | local):
                    local.add(named.group(1))
    return [f"{path}:{line}" for path, found in cut.items() for line, piece in found
            if LOCKS.search(piece) and reads_table(piece, shared(everywhere) | everywhere[path])]


def shared(everywhere):
    return {name for names in everywhere.values() for name in names if re.match(r"k?[A-Z]", name)}


class StatementsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sources = {path: tidy_test.read(path) for path in tidy_test.tracked()
                       if path.startswith(ROOM) and path.endswith((".cc", ".h"))}

    def test_locks_over_a_json_table_name_their_table(self):
        """MySQL refuses other locks (row_locks.h)."""
        sources = {path: text for path, text in self.sources.items() if path != CLAUSES}
        self.assertEqual(locked_tables(sources), [])
        self.assertGreater(sum(text.count("ForShareOf(") + text.count("ForUpdateOf(") for text in sources.values()), 12)

    def test_each_json_table_takes_text_of_any_length(self):
        """CARILLON_JSON of json_rows.h, in place of ?: without it MySQL refuses texts of more than 256 KiB. What is
        merged from columns has no such limit."""
        problems = [f"{path}:{line}" for path, text in self.sources.items() for line, piece in pieces(text)
                    for _ in re.findall(r'JSON_TABLE\((?!" CARILLON_JSON\s|JSON_MERGE_)', piece)]
        self.assertEqual(problems, [])

    def test_no_statement_calls_a_function_that_one_of_the_servers_has_not(self):
        """MySQL 9.6 has dropped MD5 and SHA1. ENCODE and the sequences are of MariaDB alone, as is RETURNING."""
        foreign = re.compile(r"\b(MD5|SHA1?|ENCODE|DECODE|ENCRYPT|PASSWORD|UUIDV?[47]|NEXTVAL|LASTVAL|ADD_MONTHS|"
                             r"NATURAL_SORT_KEY|JSON_COMPACT|JSON_EXISTS|JSON_QUERY|TO_CHAR|ANY_VALUE|GROUPING|"
                             r"BIN_TO_UUID|UUID_TO_BIN)\(|\bRETURNING\b|\bNEXT VALUE FOR\b|\bseq_\d+_to_\d+\b", re.I)
        statement = re.compile(r'"[^"]*\b(SELECT|INSERT|UPDATE|DELETE|REPLACE)\b')
        problems = [f"{path}:{line}: {match.group(0)}" for path, text in self.sources.items()
                    for line, piece in pieces(text) if statement.search(piece)
                    for string in re.findall(r'"(?:[^"\\]|\\.)*"', piece)
                    for match in foreign.finditer(string)]
        self.assertEqual(problems, [])

    def test_a_lock_over_a_json_table_is_found_wherever_its_parts_are(self):
        join = 'const std::string kJoin =\n    "JSON_TABLE(?, \'$[*]\' COLUMNS (n INT PATH \'$[0]\')) k";\n'
        for broken in ('s.Query("SELECT 1 FROM JSON_" "TABLE(?) k FOR "\n  "UPDATE", {});',
                       'const std::string kNext = "x" + kJoin;\ns.Query("SELECT " + kNext + " LOCK IN SHARE MODE");'):
            self.assertEqual(len(locked_tables({"a.h": join, "b.cc": broken})), 1, broken)
        for sound in ('s.Query("SELECT 1 FROM jobs FOR UPDATE; ", {}); f(kJoin);',
                      's.Query("SELECT 1 FROM " + kJoin + ForUpdateOf("j"));'):
            self.assertEqual(locked_tables({"a.h": join, "b.cc": sound}), [], sound)


if __name__ == "__main__":
    unittest.main()
