// Jobs as files: reading, checking, applying, comparing, exporting.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "cli/jobs/job_files.h"
#include "common/wire/json/job/job_fields.h"
#include "common/yaml/yaml.h"
#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

json Item(int index, const std::string& result, const json& changes = json::array()) {
  return {{"index", index},  {"job_id", "j" + std::to_string(index)},
          {"name", "N"},     {"result", result},
          {"version", 2},    {"changes", changes},
          {"error", nullptr}};
}

json Refused(int index, const std::string& pointer) {
  json item = Item(index, "error");
  item["error"] = {
      {"status", 400},
      {"code", "invalid"},
      {"detail", "timeout has to be 1 to 604800"},
      {"trace_id", "abc"},
      {"errors", {{{"pointer", pointer}, {"code", "invalid"}, {"detail", "too small"}}}}};
  return item;
}

json Answered(const std::vector<json>& items) {
  json counts = {{"created", 0}, {"updated", 0}, {"unchanged", 0}, {"pruned", 0}, {"error", 0}};
  for (const json& item : items) {
    const std::string result = item["result"];
    counts[result] = counts[result].get<int>() + 1;
  }
  return {{"dry_run", false}, {"items", items}, {"counts", counts}, {"prune_complete", nullptr}};
}

class FileCommandsTest : public CliTest {
 protected:
  FileCommandsTest() {
    std::string pattern = ::testing::TempDir() + "/jobs-XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~FileCommandsTest() override { std::filesystem::remove_all(directory_); }

  std::string Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = std::filesystem::path(directory_) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }

  std::string directory_;
};

TEST_F(FileCommandsTest, ApplySendsEveryDocumentOfEveryFileInOrder) {
  Write("b.yaml", "name: B\ncommand: 'true'\n---\n# nothing\n---\n- name: C\n- name: D\n");
  Write("a/x.json", R"({"jobs": [{"name": "A\u00e9 \ud83d\ude00"}]})");
  Write(".hidden.yaml", "name: no\n");
  Write("notes.txt", "name: no\n");
  Answer("POST /api/apply", Answered({Item(0, "created"), Item(1, "updated"), Item(2, "unchanged"),
                                      Item(3, "unchanged")}));
  ASSERT_EQ(Run({"apply", "-f", directory_}), 0) << err();
  const json sent = SentBody(0);
  ASSERT_EQ(sent.size(), 4u);
  EXPECT_EQ(sent[0]["name"], "A\u00e9 \U0001F600");
  EXPECT_EQ(sent[1], (json{{"name", "B"}, {"command", "true"}}));
  EXPECT_EQ(sent[3]["name"], "D");
  EXPECT_FALSE(HeaderOf(Sent(0), "Idempotency-Key").empty());
  EXPECT_NE(out().find("b.yaml:6"), std::string::npos) << out();
  EXPECT_EQ(err(), "1 created, 1 updated, 2 unchanged, 0 pruned, 0 failed\n");
}

TEST_F(FileCommandsTest, WhatIsRefusedIsToldWithItsLine) {
  const std::string file = Write("j.yaml", "name: A\n---\nname: B\nenv:\n  X: 1\ntimeout: 0\n");
  Answer("POST /api/apply", Answered({Item(0, "created"), Refused(1, "/1/timeout")}));
  EXPECT_EQ(Run({"apply", "-f", file}), 2);
  EXPECT_NE(err().find(file + ":6: timeout has to be"), std::string::npos) << err();
  EXPECT_NE(err().find("\n  " + file + ":6: /timeout: too small\n"), std::string::npos) << err();
  EXPECT_NE(err().find("trace abc"), std::string::npos) << err();
}

TEST_F(FileCommandsTest, AProblemIsReportedOnceAndFurtherOnesWithTheirLine) {
  const std::string file = Write("j.yaml", "name: A\ntimeout: 2h\ntimezone: UTC\n");
  json refused = Refused(0, "/0/timeout");
  refused["error"]["detail"] = "timeout must be a number";
  refused["error"]["errors"] = {
      {{"pointer", "/0/timeout"}, {"code", "invalid"}, {"detail", "must be a number"}},
      {{"pointer", "/0/timezone"}, {"code", "invalid"}, {"detail", "unknown field"}}};
  Answer("POST /api/apply", Answered({refused}));
  EXPECT_EQ(Run({"apply", "-f", file}), 2);
  EXPECT_NE(err().find(file + ":2: timeout must be a number (invalid)\n  " + file +
                       ":3: /timezone: unknown field\n"),
            std::string::npos)
      << err();
}

TEST_F(FileCommandsTest, WarningsNameTheirFileAndAreNoErrors) {
  const std::string file = Write("j.yaml", "name: A\n---\nname: B\n");
  json warned = Item(1, "unchanged");
  warned["warnings"] = {{{"schedule", 0}, {"code", "calendar_ends"}, {"detail", "It ends."}}};
  Answer("POST /api/apply", Answered({Item(0, "created"), warned}));
  EXPECT_EQ(Run({"apply", "-f", file}), 0);
  EXPECT_TRUE(err().starts_with(file + ":3: warning: schedule 1: It ends.\n")) << err();
  Answer("POST /api/apply?dry_run=true", Answered({Item(0, "unchanged"), warned}));
  EXPECT_EQ(Run({"diff", "-f", file}), 0) << "no differences";
  EXPECT_TRUE(err().starts_with(file + ":3: warning: schedule 1: It ends.\n")) << err();
}

TEST_F(FileCommandsTest, TheDocumentIsTheServersWithPlaces) {
  const std::string file = Write("j.yaml", "\nname: A\n");
  const json changes = {{{"path", "/timeout"}, {"from", 60}, {"to", 90}}};
  Answer("POST /api/apply?dry_run=true", Answered({Item(0, "updated", changes)}));
  ASSERT_EQ(Run({"apply", "-f", file, "--dry-run", "-o", "json"}), 0) << err();
  json expected = Answered({Item(0, "updated", changes)});
  expected["items"][0]["place"] = file + ":2";
  expected["dry_run"] = true;
  EXPECT_EQ(OutJson(), expected);
  EXPECT_NE(err().find("nothing was changed"), std::string::npos);
}

TEST_F(FileCommandsTest, AChangedNodeIsNamed) {
  const std::string file =
      Write("flow.yaml",
            "name: F\nworkflow:\n  nodes:\n    - {id: a, job: x}\n    - {id: t12, job: y}\n");
  const json changes = {{{"path", "/workflow/nodes/1/job"}, {"from", "x"}, {"to", "y"}},
                        {{"path", "/workflow/nodes/7/job"}, {"from", "x"}, {"to", nullptr}},
                        {{"path", "/workflow/nodes"}, {"from", "x"}, {"to", "y"}}};
  Answer("POST /api/apply?dry_run=true", Answered({Item(0, "updated", changes)}));
  EXPECT_EQ(Run({"diff", "-f", file}), 1) << err();
  EXPECT_NE(out().find("  /workflow/nodes/1/job (t12)\n"), std::string::npos) << out();
  EXPECT_NE(out().find("  /workflow/nodes/7/job\n"), std::string::npos) << out();
  Answer("POST /api/apply", Answered({Item(0, "updated", changes)}));
  EXPECT_EQ(Run({"apply", "-f", file, "-o", "wide"}), 0) << err();
  EXPECT_NE(out().find("/workflow/nodes/1/job (t12), "), std::string::npos) << out();
}

TEST_F(FileCommandsTest, ManyJobsGoInSeveralRequests) {
  std::string text;
  for (int i = 0; i < 501; ++i) text += "- name: j" + std::to_string(i) + "\n";
  const std::string file = Write("many.yaml", text);
  Answer("POST /api/apply", Answered({Item(99, "unchanged")}));
  Answer("POST /api/apply", Answered({Refused(0, "/0/name")}));
  EXPECT_EQ(Run({"apply", "-f", file, "-o", "json"}), 2);
  ASSERT_EQ(server_.requests.size(), 6u);
  EXPECT_EQ(SentBody(0).size(), 100u);
  EXPECT_EQ(SentBody(5).size(), 1u);
  EXPECT_EQ(OutJson()["items"][0]["index"], 99);
  EXPECT_EQ(OutJson()["items"][1]["index"], 100);
  EXPECT_EQ(OutJson()["counts"]["error"], 5);
  EXPECT_NE(err().find(file + ":101:"), std::string::npos) << err();
  EXPECT_EQ(Run({"apply", "-f", file, "--prune", "--selector", "a"}), 2);
  EXPECT_EQ(server_.requests.size(), 6u);
}

// A workflow in the first request, and the jobs of its nodes in the second: 422 unknown_job.
TEST_F(FileCommandsTest, TheJobsThatOthersNameGoFirst) {
  std::string text =
      "- {job_id: flow, name: F, type: workflow, workflow: {nodes: [{id: n, job: j140}]}}\n"
      "- {job_id: behind, name: B, schedules: [{kind: after, job: j141}]}\n";
  for (int i = 0; i < 150; ++i) text += fmt::format("- {{job_id: j{0}, name: J{0}}}\n", i);
  Answer("POST /api/apply", Answered({Item(0, "created")}));
  ASSERT_EQ(Run({"apply", "-f", Write("many.yaml", text), "-o", "json"}), 0) << err();
  ASSERT_EQ(server_.requests.size(), 2u);
  std::vector<std::string> sent;
  for (const size_t request : {0, 1}) {
    for (const json& job : SentBody(request)) sent.push_back(job["job_id"]);
  }
  ASSERT_EQ(sent.size(), 152u);
  EXPECT_EQ(sent.front(), "j0");
  EXPECT_EQ((std::vector<std::string>(sent.end() - 3, sent.end())),
            (std::vector<std::string>{"j149", "flow", "behind"}));
}

TEST_F(FileCommandsTest, PruneAsksForWhatItWouldDelete) {
  const std::string file = Write("j.yaml", "name: A\n");
  json pruned = Item(9, "pruned");
  pruned["index"] = nullptr;
  Answer("POST /api/apply?dry_run=true&prune=true&selector=team%3Dx",
         Answered({Item(0, "unchanged"), pruned}));
  Answer("POST /api/apply?prune=true&selector=team%3Dx", Answered({Item(0, "unchanged"), pruned}));
  const std::vector<std::string> prune = {"apply", "-f", file, "--prune", "--selector", "team=x"};
  EXPECT_EQ(Run(prune), 2);
  EXPECT_NE(err().find("Delete 1 job: j9?"), std::string::npos) << err();
  EXPECT_EQ(server_.requests.size(), 1u);
  tty_ = true;
  in_.str("n\n");
  EXPECT_EQ(Run(prune), 1);
  EXPECT_EQ(server_.requests.size(), 2u);
  in_.str("y\n");
  EXPECT_EQ(Run(prune), 0) << err();
  EXPECT_EQ(server_.requests.size(), 4u);
  tty_ = false;
  EXPECT_EQ(Run({"apply", "-f", file, "--prune"}), 2);
  EXPECT_EQ(Run({"apply", "-f", file, "--selector", "team=x"}), 2);
  EXPECT_EQ(Run({"apply", "-f", Write("e.yaml", "# none\n"), "--prune", "--selector", "team=x"}),
            2);
  EXPECT_EQ(server_.requests.size(), 4u);
}

TEST_F(FileCommandsTest, ManyJobsAreAppliedBeforeTheRestIsPruned) {
  std::string text;
  for (int i = 0; i < 150; ++i) text += "- name: j" + std::to_string(i) + "\n";
  const std::vector<std::string> prune = {"apply",   "-f",         Write("many.yaml", text),
                                          "--prune", "--selector", "team=x",
                                          "--yes",   "-o",         "json"};
  json pruned = Item(9, "pruned");
  pruned["index"] = nullptr;
  json end = Answered({Item(0, "unchanged"), pruned});
  end["prune_complete"] = true;
  Answer("POST /api/apply", Answered({Item(0, "created")}));
  Answer("POST /api/apply?prune=true&selector=team%3Dx", end);
  ASSERT_EQ(Run(prune), 0) << err();
  ASSERT_EQ(server_.requests.size(), 3u);
  EXPECT_EQ(SentBody(0).size(), 100u);
  EXPECT_EQ(SentBody(1).size(), 50u);
  EXPECT_EQ(SentBody(2).size(), 150u);
  EXPECT_EQ(OutJson()["items"].size(), 3u);
  EXPECT_EQ(OutJson()["items"][2]["result"], "pruned");
  EXPECT_EQ(OutJson()["counts"]["created"], 2);
  EXPECT_EQ(OutJson()["counts"]["pruned"], 1);
  EXPECT_TRUE(OutJson()["prune_complete"]);
  server_.answers.clear();
  Answer("POST /api/apply", Answered({Refused(0, "/0/name")}));
  EXPECT_EQ(Run(prune), 2);
  EXPECT_EQ(server_.requests.size(), 5u);
  EXPECT_FALSE(OutJson()["prune_complete"]);
  EXPECT_NE(err().find("Not everything was pruned"), std::string::npos) << err();
}

TEST_F(FileCommandsTest, DiffEndsWithWhatThereIs) {
  const std::string file = Write("j.yaml", "name: A\n");
  const std::string call = "POST /api/apply?dry_run=true";
  Answer(call, Answered({Item(0, "unchanged")}));
  Answer(call,
         Answered({Item(0, "updated", {{{"path", "/command"}, {"from", "a\nb"}, {"to", "c"}}})}));
  Answer(call, Answered({Refused(0, "/0/timeout")}));
  EXPECT_EQ(Run({"diff", "-f", file}), 0);
  EXPECT_EQ(out(), "");
  EXPECT_EQ(Run({"diff", "-f", file}), 1);
  EXPECT_EQ(out(), "~ j0  " + file + ":1\n  /command\n    - |-\n    -   a\n    -   b\n    + c\n");
  EXPECT_EQ(Run({"diff", "-f", file}), 2);
  in_.str("");
  EXPECT_EQ(Run({"diff", "-f", "-"}), 0);
  EXPECT_EQ(Run({"diff", "-f", directory_ + "/none.yaml"}), 2);
  EXPECT_EQ(server_.requests.size(), 3u);
}

TEST_F(FileCommandsTest, ValidateNeedsNoServer) {
  environment_.clear();
  const std::string good = Write("good.yaml", "defaults: &d\n  command: 'true'\n").c_str();
  const std::string file = Write("j.yaml",
                                 "- &base\n  name: A\n  command: 'true'\n  env: {MODE: fast}\n"
                                 "- <<: *base\n  name: B\n"
                                 "- <<: *base\n  name: C\n  cron_expression: 61 * * * *\n"
                                 "- <<: *base\n  name: D\n  time_zone: Mars/Olympus\n"
                                 "  cron_expression: 0 3 * * *\n"
                                 "- <<: *base\n  name: E\n  env:\n    X: [1]\n"
                                 "- <<: *base\n  name: A\n"
                                 "- <<: *base\n  name: F\n  colour: red\n");
  EXPECT_EQ(Run({"validate", "-f", file, "-o", "json"}), 2);
  const json items = OutJson()["items"];
  ASSERT_EQ(items.size(), 7u);
  EXPECT_FALSE(OutJson()["valid"]);
  EXPECT_TRUE(items[0]["valid"]);
  EXPECT_TRUE(items[1]["valid"]) << items[1];
  const std::vector<std::pair<int, int>> lines = {{2, 9}, {3, 12}, {4, 17}, {5, 19}, {6, 22}};
  for (const auto& [item, line] : lines) {
    EXPECT_EQ(items[item]["errors"][0]["place"], file + ":" + std::to_string(line)) << items[item];
  }
  EXPECT_EQ(items[6]["errors"][0]["pointer"], "/colour");
  EXPECT_EQ(Run({"validate", "-f", Write("ok.yaml", "name: A\ncommand: 'true'\n")}), 0) << err();
  EXPECT_EQ(err(), "1 job checked, no errors.\n");
  EXPECT_EQ(Run({"validate", "-f", good}), 2);
  EXPECT_TRUE(server_.requests.empty());
}

TEST_F(FileCommandsTest, FilesThatAreNoneAreToldWithTheirLine) {
  const std::vector<std::pair<std::string, std::string>> broken = {
      {"name: A\nname: B\n", ":2: name appears twice"},
      {"a: [1\n", ":2: "},
      {"- name: A\n- 7\n", ":2: a job must be a mapping of field names to values"},
      {"text\n", ":1: a job must be a mapping of field names to values"},
      {"a: &x\n  b: *x\n", "nested too deeply"},
      {"a: &x [*x, *x]\n", "nested too deeply"},
      {"a: *none\n", ":1: "},
      {"name: A\n<<: 7\n", ":2: << needs"},
  };
  for (const auto& [text, what] : broken) {
    const std::string file = Write("broken.yaml", text);
    EXPECT_EQ(Run({"validate", "-f", file}), 2) << text;
    EXPECT_NE(err().find(what), std::string::npos) << text << err();
    EXPECT_NE(err().find(file), std::string::npos) << err();
  }
}

TEST_F(FileCommandsTest, ABombIsDefused) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int n = 0; n < 9; ++n) bomb += ", " + before;
    bomb += "]\n";
  }
  EXPECT_EQ(Run({"validate", "-f", Write("bomb.yaml", bomb)}), 2);
  EXPECT_NE(err().find("larger than 4 MiB"), std::string::npos) << err();
}

TEST_F(FileCommandsTest, ExportWritesWhatAPersonWould) {
  json job = JobShown("nightly");
  job["user_id"] = "ann";
  job["timeout"] = 3600;
  job["labels"] = {{"team", "x"}};
  job["command"] = "set -e\nmake\n";
  json rate = JobShown("often");
  rate["cron_expression"] = nullptr;
  rate["enabled"] = false;
  rate["state"] = "PAUSED";
  rate["schedules"] = {{{"kind", "rate"},
                        {"every_ms", 5000},
                        {"schedule_id", 4},
                        {"start_time", "1970-01-01T00:00:00.000000Z"}},
                       {{"kind", "cron"}, {"cron_expression", "@daily"}, {"time_zone", "UTC"}}};
  Answer("GET /api/jobs?selector=team%3Dx&page_size=500",
         {{"items", {job, rate}}, {"next_page_token", nullptr}});
  ASSERT_EQ(Run({"export", "--selector", "team=x"}), 0) << err();
  EXPECT_EQ(out(),
            "---\n"
            "job_id: nightly\n"
            "name: Nightly\n"
            "labels:\n"
            "  team: x\n"
            "command: |\n"
            "  set -e\n"
            "  make\n"
            "cron_expression: \"0 3 * * *\"\n"
            "---\n"
            "job_id: often\n"
            "name: Nightly\n"
            "command: \"true\"\n"
            "schedules:\n"
            "  - every_ms: 5000\n"
            "    kind: rate\n"
            "  - cron_expression: \"@daily\"\n"
            "    kind: cron\n"
            "enabled: false\n");
  const std::string exported = out();
  Answer("POST /api/apply?dry_run=true", Answered({Item(0, "unchanged"), Item(1, "unchanged")}));
  in_.str(exported);
  EXPECT_EQ(Run({"diff", "-f", "-"}), 0) << err();
  EXPECT_EQ(SentBody(1)[0]["command"], "set -e\nmake\n");
  EXPECT_EQ(SentBody(1)[1]["schedules"][0]["every_ms"], 5000);
}

TEST_F(FileCommandsTest, ExportLeavesNoFieldOut) {
  for (const std::string_view name : JobFieldNames()) {
    const std::string field(name);
    EXPECT_EQ(AsWritten({{field, "given"}}, true).value(field, ""), "given") << field;
  }
}

TEST_F(FileCommandsTest, ExportOfAWorkflowHasItsNodes) {
  json job = JobShown("sales");
  const json workflow = {{"max_parallel", 32}, {"nodes", {{{"id", "load"}, {"job", "load"}}}}};
  job["type"] = "workflow";
  job["command"] = "";
  job["timeout"] = 86'400;
  job["workflow"] = workflow;
  Answer("GET /api/jobs/sales", job);
  const std::string to = directory_ + "/flows";
  ASSERT_EQ(Run({"export", "--job", "sales", "-d", to}), 0) << err();
  EXPECT_EQ(Run({"validate", "-f", to}), 0) << err();
  ASSERT_EQ(Run({"export", "--job", "sales", "-d", to, "-o", "json"}), 0) << err();
  std::ifstream in(to + "/sales.json");
  const json written = test::ParseJson(std::string(std::istreambuf_iterator<char>(in), {}));
  EXPECT_EQ(written["workflow"], workflow);
  EXPECT_EQ(written["type"], "workflow");
  EXPECT_FALSE(written.contains("timeout")) << written;
}

TEST_F(FileCommandsTest, AJobThatWaitsIsExportedAndApplied) {
  json job = JobShown("report");
  const json waits = {
      {{"job", "load"}, {"on", "success"}, {"window", {{"day", -1}}}, {"which", "last"}},
      {{"job", "stock"},
       {"in", "nightly"},
       {"on", "done"},
       {"window", {{"back_s", 7200}, {"ahead_s", 60}}},
       {"which", "all"}}};
  job["waits_for"] = waits;
  job["wait_limit_s"] = 21'600;
  Answer("GET /api/jobs/report", job);
  Answer("POST /api/apply", Answered({Item(0, "unchanged")}));
  for (const std::string form : {"yaml", "json"}) {
    const std::string to = directory_ + "/waits-" + form;
    ASSERT_EQ(Run({"export", "--job", "report", "-d", to, "-o", form}), 0) << err();
    EXPECT_EQ(Run({"validate", "-f", to}), 0) << err();
    EXPECT_EQ(Run({"apply", "-f", to}), 0) << err();
    const json sent = test::ParseJson(server_.requests.back().body)[0];
    EXPECT_EQ(sent.value("waits_for", json()), waits) << sent;
    EXPECT_EQ(sent.value("wait_limit_s", 0), 21'600) << sent;
  }
}

TEST_F(FileCommandsTest, ExportByIdToFilesAsJson) {
  json job = JobShown("nightly");
  job["user_id"] = "ann";
  job["pause_after_failures"] = 3;
  job["presume_dead_s"] = 600;
  job["paused_by"] = "failures";
  Answer("GET /api/jobs/nightly", job);
  const std::string to = directory_ + "/new/dir";
  ASSERT_EQ(Run({"export", "--job", "nightly", "-d", to, "-o", "json", "--with-owner"}), 0)
      << err();
  std::ifstream in(to + "/nightly.json");
  const json written = test::ParseJson(std::string(std::istreambuf_iterator<char>(in), {}));
  EXPECT_EQ(written, (json{{"job_id", "nightly"},
                           {"name", "Nightly"},
                           {"command", "true"},
                           {"pause_after_failures", 3},
                           {"presume_dead_s", 600},
                           {"cron_expression", "0 3 * * *"},
                           {"user_id", "ann"}}));
  EXPECT_EQ(Run({"export", "--job", "none"}), 3);
  EXPECT_EQ(Run({"export", "--job", "a", "--selector", "b"}), 2);
  EXPECT_EQ(Run({"export", "-o", "name"}), 2);
}

}  // namespace
}  // namespace carillon::cli
