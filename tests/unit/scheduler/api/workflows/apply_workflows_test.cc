// POST /api/apply with workflows and the jobs that they run: a list is judged as a whole.
#include "tests/unit/scheduler/api/workflows/workflow_env.h"

namespace carillon::test {
namespace {

class ApplyWorkflowsTest : public WorkflowEnv {
 protected:
  ApplyWorkflowsTest() { FinishUpgrade(); }

  static json Document(const std::string& id, json changes = json::object()) {
    changes["job_id"] = id;
    changes["name"] = "Job " + id;
    changes["cron_expression"] = nullptr;
    changes["labels"] = {{"team", "x"}};
    return JobBody(std::move(changes));
  }
  // A document of `load`, whose runs fan out.
  static json Sharded() { return Document("load", {{"shards", {{"total", 2}}}}); }
  static json Outer(const char* nodes) {
    json document = WorkflowBody("outer", json::parse(nodes));
    document["labels"] = {{"team", "x"}};
    return document;
  }
  static json Asking() {
    return Outer(R"([
      {"id": "i", "job": "load"},
      {"id": "b", "job": "show", "after": ["i"], "parameters": {"v": "{{nodes.i.outputs.x}}"}}])");
  }
  static json Silent() {
    return Outer(R"([{"id": "i", "job": "load"}, {"id": "b", "job": "show", "after": ["i"]}])");
  }
  void Store(const std::vector<json>& documents) {
    MakeJob("show");
    for (const json& document : documents) {
      const Answer created = Post("/api/jobs", document);
      ASSERT_EQ(created.status, 201) << created.text;
    }
  }
  // The result of each item in the order of the answer, or the code of its error.
  std::string Apply(const std::vector<json>& list, const std::string& query = "") {
    const Answer answer =
        Send("POST", "/api/apply" + (query.empty() ? "" : "?" + query), json(list).dump());
    EXPECT_EQ(answer.status, 200) << answer.text;
    std::string told;
    const json applied = answer.body();
    for (const json& item : applied["items"]) {
      const json& error = item["error"];
      told +=
          (told.empty() ? "" : " ") +
          (error.is_object() ? error : item).value(error.is_object() ? "code" : "result", "none");
    }
    return told;
  }

  static constexpr const char* kDryRun = "dry_run=true";
  static constexpr const char* kPrune = "prune=true&selector=team%3Dx";
};

TEST_F(ApplyWorkflowsTest, AJobMayLoseResultsThatItsWorkflowNoLongerAsksFor) {
  Store({Document("load"), Asking()});
  for (const std::vector<json>& list :
       {std::vector{Sharded(), Silent()}, std::vector{Silent(), Sharded()}}) {
    EXPECT_EQ(Apply(list, kDryRun), "updated updated");
  }
  EXPECT_EQ(Apply({Sharded(), Silent()}), "updated updated");
  EXPECT_EQ(Apply({Sharded(), Silent()}, kDryRun), "unchanged unchanged");
  EXPECT_EQ(Apply({Sharded(), Silent()}), "unchanged unchanged");
}

TEST_F(ApplyWorkflowsTest, ADocumentWithoutAnIdIsFoundByItsName) {
  Store({Document("load"), Asking()});
  json outer = Silent();
  outer.erase("job_id");
  EXPECT_EQ(Apply({Sharded(), outer}, kDryRun), "updated updated");
  EXPECT_EQ(Apply({Sharded(), outer}), "updated updated");
}

TEST_F(ApplyWorkflowsTest, AWorkflowThatStaysAsItIsKeepsTheResultsItAsksFor) {
  Store({Document("load"), Asking()});
  for (const std::string query : {"dry_run=true", ""}) {
    EXPECT_EQ(Apply({Sharded()}, query), "in_use");
    EXPECT_EQ(Apply({Sharded(), Asking()}, query), "in_use unchanged");
    json stale = Silent();
    stale["version"] = 7;
    EXPECT_EQ(Apply({Sharded(), stale}, query), "in_use stale_version");
    json wrong = Silent();
    wrong["priority"] = "high";
    EXPECT_EQ(Apply({Sharded(), wrong}, query).substr(0, 7), "in_use ");
  }
  EXPECT_EQ(Apply({Sharded()}, "prune=true&selector=team%3Dy"), "in_use");
}

TEST_F(ApplyWorkflowsTest, AWorkflowThatIsPrunedAsksForNothing) {
  Store({Document("load"), Asking()});
  EXPECT_EQ(Apply({Sharded()}, std::string(kPrune) + "&dry_run=true"), "updated pruned");
  EXPECT_EQ(Apply({Sharded()}, kPrune), "updated pruned");
  EXPECT_EQ(Apply({Sharded()}, kPrune), "unchanged");
  EXPECT_EQ(Get("/api/jobs/outer").status, 404);
}

TEST_F(ApplyWorkflowsTest, ADryRunJudgesTheJobsOfNodesByTheirDocuments) {
  Store({Sharded(), Silent()});
  const std::vector<json> plain = {Document("load"), Asking()};
  EXPECT_EQ(Apply({Asking()}, kDryRun), "bad_template");
  EXPECT_EQ(Apply(plain, std::string(kDryRun) + "&only_new=true"), "unchanged unchanged");
  json inner = Asking();
  inner["job_id"] = "another";
  inner["name"] = "Another";
  for (const std::string query : {"only_new=true&dry_run=true", "only_new=true"}) {
    EXPECT_EQ(Apply({Document("load"), inner}, query), "unchanged bad_template");
  }
  EXPECT_EQ(Apply(plain, kDryRun), "updated updated");
  EXPECT_EQ(Apply(plain), "updated updated");
}

TEST_F(ApplyWorkflowsTest, ADryRunTellsTheSameOfDocumentsThatContradictEachOther) {
  Store({Document("load"), Silent()});
  for (const std::string query : {"dry_run=true", ""}) {
    EXPECT_EQ(Apply({Sharded(), Asking()}, query), "in_use updated");
  }
}

}  // namespace
}  // namespace carillon::test
