// Bulk retries of the nodes of a workflow run: one item may retry what another one asks for.
#include "scheduler/api/bulk/bulk_item.h"
#include "scheduler/api/logs/log_reads.h"
#include "scheduler/api/server/route_table.h"
#include "scheduler/events/open_runs.h"
#include "tests/unit/scheduler/api/workflows/workflow_env.h"

namespace carillon::test {
namespace {

using scheduler::AuditNote;
using scheduler::BulkOperation;
using scheduler::Call;
using scheduler::DoItem;
using scheduler::FindBulkVerb;
using scheduler::HashToken;
using scheduler::TokenIdOf;

class BulkWorkflowTest : public WorkflowEnv {
 protected:
  BulkWorkflowTest() {
    for (const char* job : {"a", "b", "c"}) MakeJob(job);
    MakeWorkflow("three", json::parse(R"([{"id": "a", "job": "a"}, {"id": "b", "job": "b"},
                                          {"id": "c", "job": "c"}])"));
    run_ = Begin("three");
    for (const char* node : {"a", "b", "c"}) End(run_, node, RunState::kFailed, 1);
    EXPECT_EQ(State(run_), "FAILED");
  }
  std::string State(const std::string& run_id) {
    return Get("/api/runs/" + run_id).body().value("state", "");
  }
  std::string IdOf(const std::string& node) { return Node(run_, node).value("run_id", ""); }
  json Retried(const json& selection) {
    json body = selection;
    body["action"] = "retry";
    const Answer answer = Post("/api/bulk", body);
    EXPECT_EQ(answer.status, 200) << answer.text;
    return answer.body();
  }
  void ExpectAllRunAgainOnce() {
    EXPECT_EQ(State(run_), "PENDING");
    BeginRun(run_);
    for (const char* node : {"a", "b", "c"}) {
      EXPECT_EQ(Node(run_, node)["state"], "PENDING") << node;
      EXPECT_EQ(Node(run_, node)["attempt"], 2) << node;
    }
  }

  std::string run_;
  // For a call without a server.
  const scheduler::ApiContext context_ = Context("");
  scheduler::Identifiers identifiers_{7};
  BoundedCall aside_{server_clock_};
  scheduler::Authenticator authenticator_{stores_.auth, server_clock_, aside_, 1min,
                                          [this] { return stores_.segments.Now(); }};
  scheduler::SignIn sign_in_{server_clock_};
  scheduler::StoreProbe watch_{WatchPorts(context_), context_.store_patience};
  scheduler::ChangeWatch changes_{ChangePorts(context_), "e"};
  scheduler::StreamHub streams_{server_clock_};
  scheduler::LogReads log_reads_{1};
  scheduler::OpenEventRuns open_event_runs_{stores_.events, server_clock_};
  const std::function<void()> nudge_ = [] {};
  const scheduler::Services services_{.routes = scheduler::RouteTable(),
                                      .identifiers = identifiers_,
                                      .probe = watch_,
                                      .streams = streams_,
                                      .log_reads = log_reads_,
                                      .open_event_runs = open_event_runs_,
                                      .changes = changes_,
                                      .authenticator = authenticator_,
                                      .sign_in = sign_in_,
                                      .nudge_bulk = nudge_};
};

TEST_F(BulkWorkflowTest, AllFailedNodesOfARunAreRetried) {
  const json done = Retried({{"ids", {IdOf("a"), IdOf("b"), IdOf("c")}}});
  EXPECT_EQ(done["failed"], 0) << done;
  ExpectAllRunAgainOnce();
}

TEST_F(BulkWorkflowTest, AFilterMatchesTheRunAndItsNodes) {
  const json done = Retried({{"filter", {{"state", "FAILED"}}}});
  EXPECT_EQ(done["total"], 4) << done;
  EXPECT_EQ(done["failed"], 0) << done;
  ExpectAllRunAgainOnce();
}

// The action was requested, and reaches an item only after the retry of the whole run has run
// it again.
TEST_F(BulkWorkflowTest, WhatWasStartedSinceTheRequestIsNotRunTwice) {
  const BulkOperation operation{.verb = FindBulkVerb("retry", "run"), .requested = clock_.Wall()};
  const auto resumed =
      authenticator_.Resume({.token_id = TokenIdOf(HashToken(token_)), .role = "admin"});
  ASSERT_TRUE(resumed.ok() && resumed->caller);
  AuditNote note;
  const HttpRequest none;
  const Call call{.stores = context_.stores,
                  .api = context_,
                  .services = services_,
                  .request = none,
                  .caller = *resumed->caller,
                  .arguments = {},
                  .trace_id = "0123456789abcdef0123456789abcdef",
                  .note = note};
  const auto ask = [&](const std::string& id) {
    const scheduler::Reply reply = DoItem(call, operation, id, note);
    EXPECT_TRUE(reply.ok()) << reply.error().detail;
  };
  ask(run_);
  clock_.Advance(1ms);
  BeginRun(run_);
  ask(run_);
  End(run_, "a", RunState::kCompleted, 0);
  End(run_, "b", RunState::kFailed, 1);
  for (const char* node : {"a", "b", "c"}) {
    ask(IdOf(node));
    EXPECT_EQ(Node(run_, node)["attempt"], 2) << node;
  }
  EXPECT_EQ(Node(run_, "a")["state"], "COMPLETED");
  EXPECT_EQ(Node(run_, "b")["state"], "FAILED");
  EXPECT_EQ(State(run_), "RUNNING");
}

TEST_F(BulkWorkflowTest, ARunHasOneDeadLetter) {
  const json letters = Get("/api/dead-letters").body()["items"];
  ASSERT_EQ(letters.size(), 1u) << letters;
  EXPECT_EQ(letters[0]["run_id"], run_);
  const json done = Retried({{"kind", "dead_letter"}, {"ids", {letters[0]["id"]}}});
  EXPECT_EQ(done["failed"], 0) << done;
  ExpectAllRunAgainOnce();
}

}  // namespace
}  // namespace carillon::test
