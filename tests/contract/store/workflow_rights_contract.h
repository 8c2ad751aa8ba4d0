// The contract of workflow runs whose owner, or whoever gave them parameters, may not run a
// node's job.
#pragma once

#include "common/domain/workflow/node_rules.h"
#include "tests/contract/store/workflow_driver.h"

namespace carillon::test {

// anna has the job "load" and the workflow "hers" of it; bert has the workflow "his" of the same
// job. The labels of anna's things decide what of them an administrator shares with bert.
class RightsDriver : public WorkflowDriver {
 public:
  static constexpr const char* kAnna = "user-anna";
  static constexpr const char* kBert = "user-bert";

  explicit RightsDriver(StoreHandle& store) : WorkflowDriver(store) {
    AddUser("user-root", "admin");  // one has to be left
    AddUser(kAnna, "user");
    AddUser(kBert, "user");
    JobDefinition load = Manual();
    load.command = "load {{params.v}}";
    load.parameters = {{"v", std::string("none")}};
    Create("load", Of(kAnna, "load", load));
    hers = Create("hers", Of(kAnna, "hers", Flow({Given(Node("load"))})));
    his = Create("his", Of(kBert, "his", Flow({Given(Node("load"))})));
  }

  static WorkflowNode Given(WorkflowNode node) {
    node.parameters = {{"v", std::string("{{workflow.parameters.v}}")}};
    return node;
  }
  static JobDefinition Of(const std::string& user, const std::string& kind, JobDefinition job) {
    job.user_id = user;
    job.labels = {{"kind", kind}};
    job.overlap_policy = OverlapPolicy::kAllow;
    if (job.workflow) job.parameters = {{"v", std::string("own")}};
    return job;
  }
  void AddUser(const std::string& id, const std::string& role) {
    EXPECT_OK(auth.CreateUser({.user_id = id, .name = id.substr(5), .role = role}));
  }
  void Change(const std::string& id, const std::function<void(UserRecord&)>& change) {
    UserRecord user = v(auth.GetUser(id));
    change(user);
    v(auth.UpdateUser(user, kT0));
  }
  // bert may act on what has one of these labels.
  void Share(const std::vector<std::string>& kinds) {
    Change(kBert, [&](UserRecord& bert) {
      bert.shares.clear();
      for (const std::string& kind : kinds) bert.shares.push_back({"default", "kind = " + kind});
    });
  }
  static std::string From(const std::string& user) {
    return R"({"v":"given","$given_by":[")" + user + R"("]})";
  }
  RunKey BegunWith(const StoredJob& flow, const std::string& parameters) {
    const RunKey key =
        v(runs.ExecuteJob({.job_id = flow.job_id, .parameters_json = parameters}, {.now = kT0}))
            .key;
    const WallTime begin = kT0 + 1s;  // two runs of one instant are a microsecond apart
    ExpectBegin(key, begin);
    Steps(begin);
    return key;
  }
  void ExpectForbidden(const RunKey& key, const std::string& who) {
    EXPECT_EQ(States(key), "load SKIPPED forbidden");
    const std::string error = NodeOf(key, "load").detail.result.error;
    EXPECT_TRUE(error.starts_with(who + ", who ")) << error;
    ExpectEnd(key, RunState::kFailed, reason::kNodeFailed);
  }
  void ExpectReleased(const RunKey& key) { EXPECT_EQ(States(key), "load PENDING"); }

  StoredJob hers;
  StoredJob his;
};

template <typename Factory>
class WorkflowRightsContract : public StoreContract<Factory> {
 protected:
  RightsDriver rights() { return RightsDriver(this->handle()); }
};
TYPED_TEST_SUITE(WorkflowRightsContract, StoreFactories);

TYPED_TEST(WorkflowRightsContract, OwnerMustStillHaveTheRightToRunTheJob) {
  RightsDriver s = this->rights();
  s.Share({"load"});
  s.ExpectReleased(s.Begun(s.his, kT0));
  s.Share({});
  s.ExpectForbidden(s.Begun(s.his, kT0 + 1s), "bert");
  s.ExpectReleased(s.Begun(s.hers, kT0 + 2s));
}

TYPED_TEST(WorkflowRightsContract, OwnersAccountDecides) {
  RightsDriver s = this->rights();
  s.Change(s.kBert, [](UserRecord& bert) { bert.role = "admin"; });
  s.ExpectReleased(s.Begun(s.his, kT0));
  s.Change(s.kBert, [](UserRecord& bert) { bert.disabled = true; });
  s.ExpectForbidden(s.Begun(s.his, kT0 + 1s), "bert");
  s.Share({"load"});
  s.Change(s.kBert, [](UserRecord& bert) {
    bert.disabled = false;
    bert.role = "read_only";
  });
  s.ExpectForbidden(s.Begun(s.his, kT0 + 2s), "bert");
  s.Change(s.kBert, [](UserRecord& bert) { bert.role = "user"; });
  s.ExpectReleased(s.Begun(s.his, kT0 + 3s));
  EXPECT_OK(s.auth.DeleteUser(s.kBert, s.v(s.auth.GetUser(s.kBert)).version));
  s.ExpectForbidden(s.Begun(s.his, kT0 + 4s), s.kBert);
}

TYPED_TEST(WorkflowRightsContract, OwnJobsGoOnWithoutAnAccount) {
  RightsDriver s = this->rights();
  EXPECT_OK(s.auth.DeleteUser(s.kAnna, s.v(s.auth.GetUser(s.kAnna)).version));
  s.ExpectReleased(s.Begun(s.hers, kT0));
}

TYPED_TEST(WorkflowRightsContract, OwnerThatIsNoAccountWasNamedByAnAdministrator) {
  RightsDriver s = this->rights();
  const StoredJob ours = s.Create("ours", s.Of("ops", "ours", s.Flow({s.Node("load")})));
  s.ExpectReleased(s.Begun(ours, kT0));
}

TYPED_TEST(WorkflowRightsContract, TasksAreThoseOfThePresentOwner) {
  RightsDriver s = this->rights();
  JobDefinition plain, with_secret;
  plain.command = with_secret.command = "true";
  with_secret.env = {{"KEY", "{{secrets.KEY}}"}};
  const std::vector<WorkflowNode> nodes = {
      {.id = "first", .task = TaskBox(plain)},
      {.id = "plain", .task = TaskBox(plain), .after = {{.node = "first"}}},
      {.id = "secret", .task = TaskBox(with_secret), .after = {{.node = "first"}}}};
  const auto owned_by = [&](const std::string& user) { return s.Of(user, "moved", s.Flow(nodes)); };
  const StoredJob flow = s.Create("moved", owned_by(s.kAnna));
  const RunKey key = s.Begun(flow, kT0);
  const StoredJob moved = s.Replace(flow, owned_by(s.kBert), kT0 + 1s);
  s.Finish(key, "first", kT0 + 2s);
  EXPECT_EQ(s.States(key), "first COMPLETED, plain PENDING, secret SKIPPED forbidden");
  const std::string error = s.NodeOf(key, "secret").detail.result.error;
  EXPECT_NE(error.find("another owner"), std::string::npos) << error;
  // A later run has the text, and the secrets, of bert.
  const RunKey later = s.Begun(moved, kT0 + 3s);
  s.Finish(later, "first", kT0 + 4s);
  EXPECT_EQ(s.States(later), "first COMPLETED, plain PENDING, secret PENDING");
}

TYPED_TEST(WorkflowRightsContract, GiverOfParametersMustHaveTheRight) {
  RightsDriver s = this->rights();
  s.Share({"hers"});
  s.ExpectForbidden(s.BegunWith(s.hers, s.From(s.kBert)), "bert");
  s.ExpectReleased(s.BegunWith(s.hers, ""));
  s.ExpectReleased(s.BegunWith(s.hers, s.From(s.kAnna)));
  s.Share({"hers", "load"});
  const RunKey allowed = s.BegunWith(s.hers, s.From(s.kBert));
  s.ExpectReleased(allowed);
  const RunRequest request = s.v(s.firing.LoadRunRequest(s.RowOf(allowed, "load").key));
  EXPECT_EQ(request.parameters_json, R"({"v":"given"})") << "a process needs no more";
}

TYPED_TEST(WorkflowRightsContract, RetryAsksTheGiverAgain) {
  RightsDriver s = this->rights();
  s.Share({"hers", "load"});
  const RunKey key = s.BegunWith(s.hers, s.From(s.kBert));
  s.Finish(key, "load", kT0 + 1s, RunState::kFailed);
  s.Share({"hers"});
  s.v(s.runs.RetryRun({.key = key}, {.now = kT0 + 2s}));
  s.ExpectBegin(key, kT0 + 2s);
  s.Steps(kT0 + 2s);
  s.ExpectForbidden(key, "bert");
}

TYPED_TEST(WorkflowRightsContract, BackfillsGiverMustHaveTheRight) {
  RightsDriver s = this->rights();
  s.Share({"hers"});
  JobDefinition definition = s.Of(s.kAnna, "hers", s.Flow({s.Given(s.Node("load"))}));
  definition.schedules = s.Every(1h).schedules;
  const StoredJob daily = s.Create("daily", definition, kT0 + 90min);
  const ScheduleId schedule = daily.schedules.at(0).schedule_id;
  const Backfill made = s.v(s.backfills.CreateBackfill({.job_id = daily.job_id,
                                                        .schedule_id = schedule,
                                                        .from = kT0 + 1h,
                                                        .to = kT0 + 2h,
                                                        .parameters_json = s.From(s.kBert)},
                                                       {}, {.now = kT0 + 2h}));
  s.v(s.backfills.StepBackfill({made.number, daily.job_no, daily.segment}, s.fence, kT0 + 2h,
                               100h));
  const RunKey key{kT0 + 1h, schedule, 0};
  s.ExpectBegin(key, kT0 + 2h);
  s.Steps(kT0 + 2h);
  s.ExpectForbidden(key, "bert");
}

// bert's workflow gives parameters to the nested one, of which he may run nothing but the whole.
TYPED_TEST(WorkflowRightsContract, ParametersOfANestedWorkflowComeFromTheOuterOnesPeople) {
  RightsDriver s = this->rights();
  s.Share({"hers"});
  const auto begin_inner = [&](const std::string& id, const WorkflowNode& node) {
    const StoredJob outer = s.Create(id, s.Of(s.kBert, id, s.Flow({node})));
    const RunKey inner = s.RowOf(s.Begun(outer, kT0), "hers").key;
    s.ExpectBegin(inner, kT0);
    s.Steps(kT0);
    return inner;
  };
  s.ExpectReleased(begin_inner("plain", s.Node("hers")));
  s.ExpectForbidden(begin_inner("giving", s.Given(s.Node("hers"))), "bert");
  s.Share({"hers", "load"});
  s.ExpectReleased(begin_inner("allowed", s.Given(s.Node("hers"))));
}

TYPED_TEST(WorkflowRightsContract, GiverStaysTheGiverInNestedWorkflows) {
  RightsDriver s = this->rights();
  s.Share({"outer", "hers"});
  const StoredJob outer =
      s.Create("outer", s.Of(s.kAnna, "outer", s.Flow({s.Given(s.Node("hers"))})));
  const RunKey inner = s.RowOf(s.BegunWith(outer, s.From(s.kBert)), "hers").key;
  s.ExpectBegin(inner, kT0 + 1s);
  s.Steps(kT0 + 1s);
  s.ExpectForbidden(inner, "bert");
}

}  // namespace carillon::test
