#!/usr/bin/env python3
"""Checks that a reviewer should not have to make: layers, vendors, banned calls, sizes, words.

Reads the files that git tracks (or would track). Every rule lists the offending file and line.
"""
import itertools
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Includes that are forbidden even if the CMake links of the rooms would allow them.
NEVER = [
    (r"scheduler/", r"executor/", "scheduler and executor never include each other"),
    (r"executor/", r"scheduler/", "scheduler and executor never include each other"),
    (r"common/", r"(scheduler|executor|cli)/", "common/ knows no daemon"),
    (r"common/(base|domain|ports)/", r"common/(wire|config|adapters)/", "pure rooms know no adapter"),
    (r"(scheduler|executor)/(?!api/|streams/)", r"common/adapters/", "daemon rooms know ports, not adapters"),
]
# Composition roots may include anything.
ROOTS = re.compile(r"^cli/main\.cc$|^executor/warden/main\.cc$|^cli/(backup|standalone)[a-z_]*\.(cc|h)$|"
                   r"^cli/standalone/|^(scheduler|executor)/main/")

# A vendor's header appears only in these rooms.
VENDORS = {
    r"cppconn/|mysql": ["common/adapters/mysql"],
    r"restinio|asio": ["common/adapters/http"],
    r"curl/": ["common/adapters/http", "executor/http"],
    r"re2/": ["common/domain", "executor/http"],
    r"idn2": ["common/domain"],
    r"openssl/": ["common/tls"],
    r"prometheus/": ["common/adapters/prometheus"],
    r"nlohmann/(?!json_fwd)": ["common/wire", "common/imports", "common/adapters/mysql", "scheduler/api",
                               "scheduler/explain", "cli/", "common/process", "common/config", "common/yaml",
                               "executor/http"],
    r"yaml-cpp": ["common/config", "common/yaml", "cli/jobs"],
    r"CLI/": ["cli/", "common/process"],
    r"spdlog": ["common/base"],
    r"sodium": ["common/wire", "scheduler/api/http", "scheduler/auth", "scheduler/secrets"],
    r"jwt\.h": ["scheduler/auth"],
    r"google/protobuf|\.pb\.h": ["common/wire"],
    r"absl/": ["common/domain"],
    r"grpc": ["common/adapters/grpc"],
    r"rdkafka": ["common/adapters/kafka"],
    r"zlib": ["executor/journal"],
    r"zookeeper": ["common/adapters/zookeeper"],
}

BANNED = [
    (re.compile(r"::now\(\)|sleep_for|sleep_until|\busleep\(|\bnanosleep\(|\bsleep\("),
     "time comes from Clock; waiting is a condition"),
    (re.compile(r"\bstd::rand\b|\bsrand\(|\brand\(\)|random_device"), "randomness is an injected Rng"),
    (re.compile(r"\bsystem\(|\bpopen\("), "processes are the warden's"),
    (re.compile(r"\bError\(ErrorCode::"), "an aggregate in parentheses is not clang 14's C++: Error{}"),
    (re.compile(r"\bTODO\b|\bFIXME\b|\bXXX\b|\bHACK\b"), "unfinished work is not merged"),
]
# Claim tokens must not come from a seeded generator, because one could be computed
# from another (common/ports/token_source.h).
SEEDED_TOKEN = re.compile(r"(ClaimToken|\btoken)\b[^;]*\b(rng|Rng)\w*\b|\bSeededTokens\b")

# The files that may ask which kind of run a run is: its questions, its names and its numbers.
KINDS_OF_RUNS = {"common/domain/run/run_kind.h", "common/domain/run/run.cc",
                 "common/adapters/mysql/run_rows/run_rows.cc"}
KIND_COMPARED = re.compile(
    r"[!=]=\s*RunKind::|RunKind::k\w+\s*[!=]=|case RunKind::|using enum (carillon::)?RunKind\b|"
    # SQL: a number, a name in capitals, or a list. The kinds of schedules and dependencies are small.
    r"\bkind\s*(=|<>|!=)\s*'[A-Z]+'|\b\w\.kind\s*(=|<>|!=|<=?|>=?)\s*\d|"
    r"\bkind\s*\+\s*0\s*(=|<|>|BETWEEN|IN\b)|\br\.kind\s+(NOT\s+)?(IN|BETWEEN)\b")

# Where runs are decided by the rows of their jobs: a node may have rules of its own.
RUNS_MEET_JOBS = re.compile(r"common/adapters/mysql/(completions|firing|runs|upstream|workflow)/")
JOB_LOOKED_UP = re.compile(r"\bjobs_?(\.|->)(at|find)\(|\bjobs_?\[")

BANNED_EXEMPT = re.compile(r"^(common/adapters/system/|tests/support/)")

FORBIDDEN_WORDS = re.compile(
    r"\b(this session|next session|assistant|claude|chatgpt|copilot|issue #?[0-9]+)\b|/work/", re.I)

# A file must not begin with a question word, because its first words must say what it is.
HEADLESS = re.compile(r'(#![^\n]*\n)?(//|"""|/\*\*?) ?(What|Which|Whose|Who|How|Where|When|Whether)\b')
# A test's title must be a sentence that is understood alone, so it begins with its subject.
TITLE = re.compile(r"(?:\b(?:it|test|describe)\(|\](?: as const)?\)\()\s*(['\"`])(.*?)\1", re.S)
NO_SUBJECT = re.compile(
    r"(is|are|was|were|be|has|have|had|can|may|must|does|do|says?|shows?|not|and|or|but|if|as|also|only|"
    r"of|in|on|at|by|for|from|to|with|without|that|what|which|who|whose|whom|whether|where|when|why|how)\b")
# Design pages that are not in the repository.
FOREIGN_PAGES = re.compile(r"\b(DESIGN|SPEC|STYLE|HOUSE)(\.md|'s| §| P[1-9]|\b of\b)")

HEADER_LINES_MAX = 250
SOURCE_LINES_MAX = 500
COLUMNS_MAX = 100
# Of all pages in docs/ together, because a reader must find what they need. A thing is said once.
DOCUMENT_WORDS_MAX = 45000
# Limits that keep a folder readable. A header and its source count as one unit.
FOLDER_UNITS_MAX = 28
FOLDER_LINES_MAX = 3000
LOOSE_NAMES = re.compile(r"(^|[/_])(util|utils|helper|helpers|misc|manager)([_./]|$)")


def tracked():
    out = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                         cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [f for f in out.splitlines() if os.path.isfile(os.path.join(ROOT, f))]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def declared_rooms():
    """Returns {room: the words of its carillon_room declaration}."""
    rooms = {}
    for folder in ("common", "scheduler", "executor", "cli"):
        for match in re.finditer(r"carillon_room\(([^)]*)\)", read(folder + "/CMakeLists.txt")):
            words = match.group(1).split()
            rooms[f"{folder}/{words[0]}"] = words[1:]
    return rooms


ROOMS = declared_rooms()


def room_of(path):
    """The innermost declared room that contains the file; its top-level folder if there is none."""
    folder = os.path.dirname(path)
    while folder and folder not in ROOMS:
        folder = os.path.dirname(folder)
    return folder or path.split("/")[0]


def rooms_and_links():
    """Returns {room: rooms it links with, directly or not}, from the carillon_room declarations."""
    links = {room: words[words.index("DEPS") + 1:] if "DEPS" in words else []
             for room, words in ROOMS.items()}
    names = {}
    for room in links:
        folder, name = room.split("/", 1)
        flat = name.replace("/", "_")
        names["carillon_" + (flat if folder == "common" else f"{folder}_{flat}")] = room

    def resolve(room, dep):
        folder = room.split("/")[0]
        if dep.startswith("./"):
            return f"{folder}/{dep[2:]}"
        return names.get(dep, f"common/{dep}" if f"common/{dep}" in links else None)
    direct = {room: {r for r in (resolve(room, d) for d in deps) if r} for room, deps in links.items()}
    closed = {}

    def close(room, path):
        assert room not in path, f"rooms link each other in a circle: {path + [room]}"
        if room not in closed:
            closed[room] = {room}.union(*(close(dep, path + [room]) for dep in direct[room]))
        return closed[room]
    for room in direct:
        close(room, [])
    return closed


class TidyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = tracked()
        cls.sources = [f for f in cls.files if f.endswith((".cc", ".h"))]
        cls.product = [f for f in cls.sources if not f.startswith("tests/")]
        assert len(cls.product) > 50, "the list of files looks wrong"

    def report(self, problems):
        if problems:
            self.fail("\n" + "\n".join(problems))

    def test_includes_follow_the_layers(self):
        problems = []
        links = rooms_and_links()
        for path in self.product:
            if ROOTS.match(path):
                continue
            for number, line in enumerate(read(path).splitlines(), 1):
                match = re.match(r'\s*#include "([^"]+)"', line)
                if not match:
                    continue
                target = match.group(1)
                if target.startswith("tests/"):
                    problems.append(f"{path}:{number}: includes {target}")
                elif "/" not in target:
                    problems.append(f"{path}:{number}: includes are root-relative: {target}")
                elif target.split("/")[0] in ("common", "scheduler", "executor", "cli"):
                    room, other = room_of(path), room_of(target)
                    if other not in links.get(room, {room}):
                        problems.append(f"{path}:{number}: {room} does not link {other} ({target})")
                    if room.startswith("common/adapters/") and other.startswith("common/adapters/") \
                            and room.split("/")[2] != other.split("/")[2]:
                        problems.append(f"{path}:{number}: {target}: adapters never include each other")
                    for who, whom, why in NEVER:
                        if room != other and re.match(who, room + "/") and re.match(whom, other + "/"):
                            problems.append(f"{path}:{number}: {target}: {why}")
        self.report(problems)

    def test_each_vendor_stays_in_its_room(self):
        problems = []
        for path in self.product:
            for number, line in enumerate(read(path).splitlines(), 1):
                match = re.match(r'\s*#include [<"]([^>"]+)[>"]', line)
                if not match or match.group(1).split("/")[0] in ("common", "scheduler", "executor",
                                                                 "cli", "tests"):
                    continue
                for vendor, rooms in VENDORS.items():
                    if re.match(vendor, match.group(1)) and not any(
                            path.startswith(room.rstrip("/") + "/") for room in rooms):
                        problems.append(f"{path}:{number}: {match.group(1)} belongs in {rooms}")
        self.report(problems)

    def test_nothing_banned_is_called(self):
        problems = []
        for path in self.sources:
            if BANNED_EXEMPT.match(path):
                continue
            for number, line in enumerate(read(path).splitlines(), 1):
                code = line if "TODO" in line or "FIXME" in line else re.sub(r"//.*$", "", line)
                for pattern, why in BANNED:
                    if pattern.search(code):
                        problems.append(f"{path}:{number}: {why}: {line.strip()}")
        self.report(problems)

    def test_kinds_of_runs_are_compared_in_one_file(self):
        for text in ("if (run.kind != RunKind::kBackfill)", "case RunKind::kAfter:", "r.kind + 0 BETWEEN 1 AND 6",
                     "r.kind <> 'BACKFILL'", "r.kind NOT IN ('MANUAL')", "using enum RunKind;"):
            self.assertTrue(KIND_COMPARED.search(text), text)
        for text in (".kind = RunKind::kManual,", "r.kind = {}, r.flags = {}", "d.kind = 'after'", "s.kind = 'delay'",
                     "SELECT r.kind + 0, r.state"):
            self.assertFalse(KIND_COMPARED.search(text), text)
        problems = []
        twins = [path for path in self.sources if path.startswith("tests/twins/")]
        for path in self.product + twins:
            if path in KINDS_OF_RUNS:
                continue
            for number, line in enumerate(read(path).splitlines(), 1):
                if KIND_COMPARED.search(re.sub(r"//.*$", "", line)):
                    problems.append(f"{path}:{number}: ask run_kind.h (KindsWith in SQL): {line.strip()}")
        self.report(problems)

    def test_runs_meet_the_rows_of_their_jobs_in_one_place(self):
        for text in ("jobs.at(run.row.job_no)", "facts.jobs.find(own.job_no)", "jobs_->find(run.row.job_no)"):
            self.assertTrue(JOB_LOOKED_UP.search(text), text)
        for text in ("JobOf(jobs, run.row)", "RowOf(jobs, end.job_no)", "state.jobs.slots.at(job_no)"):
            self.assertFalse(JOB_LOOKED_UP.search(text), text)
        problems = []
        for path in self.product:
            if not RUNS_MEET_JOBS.match(path):
                continue
            for number, line in enumerate(read(path).splitlines(), 1):
                if JOB_LOOKED_UP.search(re.sub(r"//.*$", "", line)):
                    problems.append(f"{path}:{number}: ask job_of.h: {line.strip()}")
        self.report(problems)

    def test_claim_tokens_are_not_from_a_seed(self):
        self.assertTrue(SEEDED_TOKEN.search("held.token = {rng_.Next(), rng_.Next()};"))
        problems = []
        for path in self.product:
            text = re.sub(r"//[^\n]*", "", read(path))
            for match in SEEDED_TOKEN.finditer(text):
                problems.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match.group(0)[:80]}")
        self.report(problems)

    def test_files_are_of_a_readable_size(self):
        problems = []
        for path in self.sources:
            lines = read(path).count("\n")
            limit = HEADER_LINES_MAX if path.endswith(".h") and not path.startswith("tests/") else SOURCE_LINES_MAX
            if lines > limit:
                problems.append(f"{path}: {lines} lines, more than {limit}")
        self.report(problems)

    def test_lines_of_code_end_at_100_columns(self):
        problems = []
        for path in self.files:
            if not path.endswith((".cc", ".h", ".proto")):
                continue
            for number, line in enumerate(read(path).splitlines(), 1):
                if len(line) > COLUMNS_MAX:
                    problems.append(f"{path}:{number}: {len(line)} columns")
        self.report(problems)

    def test_folders_are_of_a_readable_size(self):
        units, lines = {}, {}
        for path in self.product:
            folder = os.path.dirname(path)
            units.setdefault(folder, set()).add(os.path.splitext(path)[0])
            lines[folder] = lines.get(folder, 0) + read(path).count("\n")
        self.report([f"{folder}: {len(units[folder])} units, {lines[folder]} lines, at most "
                     f"{FOLDER_UNITS_MAX} and {FOLDER_LINES_MAX}" for folder in sorted(units)
                     if len(units[folder]) > FOLDER_UNITS_MAX or lines[folder] > FOLDER_LINES_MAX])

    def test_a_class_has_one_source_file(self):
        """Searches the folder that declares a class for the definitions of its members."""
        looked_at = self.product + [f for f in self.sources if f.startswith(("tests/twins/", "tests/support/"))]
        declared = {}
        for path in looked_at:
            if path.endswith(".h"):
                for name in re.findall(r"^(?:  )?class (\w+)\b[^;{]*\{", read(path), re.M):
                    declared.setdefault(name, set()).add(os.path.dirname(path))
        sources = {}
        for path in looked_at:
            if path.endswith(".cc"):
                for name in re.findall(r"^[^\s/#][^=;(]*?\b([A-Z]\w+)::~?\w+\(", read(path), re.M):
                    if os.path.dirname(path) in declared.get(name, ()):
                        sources.setdefault((name, os.path.dirname(path)), set()).add(path)
        divided = {name: sorted(paths) for (name, _), paths in sources.items() if len(paths) > 1}
        self.assertEqual(divided, {})

    def test_options_are_values(self):
        """Behaviour belongs in an interface that the constructor takes."""
        found = {path for path in self.product if path.endswith(".h")
                 for body in re.findall(r"struct \w*Options \{(.*?)\n(?:  )?\};", read(path), re.S)
                 if "std::function" in body}
        self.assertEqual(found, set())

    def test_headers_are_guarded_and_say_what_they_are(self):
        problems = []
        for path in self.product:
            if not path.endswith(".h"):
                continue
            text = read(path)
            if "#pragma once" not in text:
                problems.append(f"{path}: no #pragma once")
            if not text.startswith("//"):
                problems.append(f"{path}: does not open with a comment for its reader")
        self.report(problems)

    def test_names_say_what_a_file_is(self):
        self.report([f for f in self.sources if LOOSE_NAMES.search(f)])

    def test_the_project_speaks_of_itself_alone(self):
        problems = []
        for path in self.files:
            if path == "tests/tidy/tidy_test.py" or path.endswith((".tsv", ".png")):
                continue
            for number, line in enumerate(read(path).splitlines(), 1):
                if FORBIDDEN_WORDS.search(line):
                    problems.append(f"{path}:{number}: {line.strip()[:100]}")
        self.report(problems)

    def test_comments_open_with_what_a_file_is(self):
        self.assertTrue(HEADLESS.match("// What is done to a secret.") and HEADLESS.match('#!/x\n"""Who asks."""'))
        self.assertFalse(HEADLESS.match("// Dialogs that create a secret: what is done to it."))
        self.report([f for f in self.files
                     if f.endswith((".cc", ".h", ".ts", ".tsx", ".mjs", ".py")) and HEADLESS.match(read(f))])

    def test_titles_are_sentences(self):
        self.assertEqual([two for _, two in TITLE.findall("it('a', f); it.each([1])(\n 'b', f); test(`c ${d}`, f)")],
                         ["a", "b", "c ${d}"])
        problems = []
        for path in self.files:
            if path.startswith(("web-ui/src/", "tests/console/")) and path.endswith((".test.ts", ".test.tsx", ".mjs")):
                text = read(path)
                problems += [f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match.group(2)}"
                             for match in TITLE.finditer(text) if NO_SUBJECT.match(match.group(2))]
        self.report(problems)

    def test_console_rooms_import_each_other_in_one_direction(self):
        """Rooms are the folders of web-ui/src, and each subject in features. Texts are data that any room may say."""
        def room(path):
            parts = path.split("/")[2:]
            return "/".join(parts[:2]) if parts[0] == "features" else parts[0] if len(parts) > 1 else "main"
        imports = {}
        for path in self.files:
            if path.startswith("web-ui/src/") and path.endswith((".ts", ".tsx")) and ".test." not in path:
                for target in re.findall(r"(?:from |import\(|import )'(\.[^']+)'", read(path)):
                    full = os.path.normpath(os.path.join(os.path.dirname(path), target))
                    full += "/index" if os.path.isdir(os.path.join(ROOT, full)) else ""
                    if room(full) != room(path) and not full.endswith("/texts.en"):
                        imports.setdefault(room(path), {}).setdefault(room(full), f"{path}: {target}")
        while lowest := {one for one in imports if not imports.keys() & imports[one].keys()}:
            for one in lowest:
                del imports[one]
        self.report([line for one in imports.values() for other, line in one.items() if other in imports])

    def test_console_folders_are_small(self):
        folders = [os.path.dirname(f) for f in self.files if f.startswith("web-ui/src/")]
        self.report([f"{folder}: {folders.count(folder)} files, at most 24" for folder in sorted(set(folders))
                     if folders.count(folder) > 24])

    def test_comments_name_pages_that_are_here(self):
        self.assertTrue(FOREIGN_PAGES.search("// Place    DESIGN §5."))
        self.report([f for f in self.files if f != "tests/tidy/tidy_test.py" and not f.endswith(".png")
                     and FOREIGN_PAGES.search(read(f))])

    def test_comments_are_not_torn(self):
        """No single word below a full line: a formatter leaves it when it wraps captions again."""
        problems = []
        for path in self.sources:
            lines = read(path).splitlines()
            for number in range(1, len(lines)):
                if (len(lines[number - 1]) >= 95 and re.match(r"\s*// ", lines[number - 1])
                        and re.match(r"\s*// ?[^\s/]+$", lines[number])):
                    problems.append(f"{path}:{number + 1}: {lines[number].strip()}")
        self.report(problems)

    def test_pages_have_lines_that_a_difference_shows(self):
        """At most 100 columns, except tables, code and links, which cannot be wrapped."""
        problems = []
        for path in self.files:
            if not path.endswith(".md") or path == "README.zh-CN.md":
                continue
            code = False
            for number, line in enumerate(read(path).splitlines(), 1):
                code ^= line.lstrip().startswith("```")
                if len(line) > 100 and not code and not re.match(r"\s*\|", line) and not re.search(r"\S{60}", line):
                    problems.append(f"{path}:{number}: {len(line)} columns")
        self.report(problems)

    def test_documents_are_short(self):
        pages = [f for f in self.files if f.startswith("docs/") and f.endswith(".md")]
        self.assertLessEqual(sum(len(read(f).split()) for f in pages), DOCUMENT_WORDS_MAX)

    def test_releases_name_their_commits(self):
        lines = [line for line in read("deploy/releases").splitlines() if not line.startswith("#")]
        self.report([line for line in lines if not re.fullmatch(r"\d+\.\d+\.\d+ [0-9a-f]{40}", line)])

    def test_decisions_have_one_page(self):
        words = {f: len(read(f).split()) for f in self.files if f.startswith("docs/adr/")}
        self.report([f"{f}: {n} words, at most 250" for f, n in words.items() if n > 250])

    def test_architecture_names_every_room(self):
        """One item of a list for each room and each of its FOLDERS, and no item for anything else."""
        rooms = set(ROOMS)
        for room, words in ROOMS.items():
            folders = words[words.index("FOLDERS") + 1:] if "FOLDERS" in words else []
            rooms.update(f"{room}/{folder}" for folder in itertools.takewhile(str.islower, folders))
        lists = "".join(map(read, ("docs/architecture.md", "scheduler/README.md", "executor/README.md")))
        named = re.findall(r"^- `((?:common|scheduler|executor|cli)/[\w/]+)`:", lists, re.M)
        self.assertEqual(sorted(named), sorted(rooms))

    def test_every_test_is_checked_for_what_it_leaves(self):
        """By tests/support/py/nothing_left.py, with which carillon_add_test starts it."""
        self.report([f"{path}: add_test" for path in self.files if path.endswith(("CMakeLists.txt", ".cmake"))
                     and re.search(r"^\s*add_test\(", read(path), re.M) and path != "cmake/rooms.cmake"])

    def test_no_test_is_switched_off(self):
        problems = []
        for path in self.files:
            if not path.startswith("tests/") or path == "tests/tidy/tidy_test.py":
                continue
            for number, line in enumerate(read(path).splitlines(), 1):
                if re.search(r"GTEST_SKIP|DISABLED_|unittest\.skip|skipTest", line):
                    problems.append(f"{path}:{number}: {line.strip()}")
        self.report(problems)

    def test_links_in_the_documents_lead_somewhere(self):
        problems = []
        for path in self.files:
            if not path.endswith(".md"):
                continue
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", read(path)):
                if re.match(r"[a-z]+:", target):
                    continue
                if not os.path.exists(os.path.join(ROOT, os.path.dirname(path), target)):
                    problems.append(f"{path}: {target}")
        self.report(problems)


if __name__ == "__main__":
    sys.exit(unittest.main())
