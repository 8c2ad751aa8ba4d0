// The contract of mapped nodes: their runs fan out into one part for each item of a list.
#pragma once

#include "common/domain/workflow/node_rules.h"
#include "tests/contract/store/fire_driver.h"
#include "tests/contract/store/node_driver.h"

namespace carillon::test {

template <typename Factory>
class MapContract : public FireContract<Factory> {
 protected:
  NodeDriver node_driver() { return NodeDriver(this->handle()); }
  // `list` has the list, `map` runs for each of its items, and `use` has all of their outputs.
  static JobDefinition Flow(WorkflowNode map = NodeDriver::Task("map")) {
    map.after = {{.node = "list"}};
    map.over = "{{nodes.list.outputs.files}}";
    map.as = "file";
    map.collect = "rows";
    map.allow_failure = true;
    WorkflowNode use = NodeDriver::Task("use", {{.node = "map"}});
    use.parameters = {{"all", std::string("{{nodes.map.outputs.rows}}")}};
    return NodeDriver::Flow({NodeDriver::Node("list"), map, use});
  }
  // The own run of the node, which has begun.
  static RunRow Mapped(NodeDriver& s, const RunKey& key, const std::string& list, WallTime now) {
    s.Finish(key, "list", now, RunState::kCompleted, {{"files", list}});
    EXPECT_EQ(s.States(key), "list COMPLETED, map PENDING, use blocked");
    return Base::Begin(s, s.RowOf(key, "map"), {}, s.fence, now);
  }
  static void End(NodeDriver& s, const RunRow& own, uint32_t index, RunState state,
                  const Outputs& outputs, WallTime now) {
    ResultReport report = s.ReportOf(Base::StartPart(s, own, index, s.fence, now), state, now);
    report.result.outputs = outputs;
    s.Apply(report, s.fence, now);
  }

 private:
  using Base = FireContract<Factory>;
};
TYPED_TEST_SUITE(MapContract, StoreFactories);

TYPED_TEST(MapContract, ANodeRunsForEachItem) {
  NodeDriver s = this->node_driver();
  const RunKey key = s.Begun(s.CreateFlow(this->Flow()), kT0);
  const RunRow own = this->Mapped(s, key, R"(["x",2,true])", kT0 + 1s);
  EXPECT_EQ(own.shard_total, 3u);
  const RunRules rules = s.v(RunRulesFromText(own.rules));
  EXPECT_EQ(rules.items, 3);
  EXPECT_EQ(rules.as, "file");
  EXPECT_NE(s.Get(own.key).parameters_json.find("$items"), std::string::npos);
  std::vector<RunKey> keys;
  for (const uint32_t index : {0u, 1u, 2u}) {
    const RunRow part = this->Part(s, own, index);
    EXPECT_EQ(part.job_no, own.job_no);
    EXPECT_EQ(part.def_version, own.def_version);
    EXPECT_EQ(part.rules, own.rules);
    EXPECT_NE(part.flags & run_flag::kRules, 0u);
    keys.push_back(part.key);
  }
  const auto loaded = s.v(s.firing.LoadRunRules(keys));
  ASSERT_EQ(loaded.size(), 3u);
  for (const RunKey& part : keys) EXPECT_EQ(loaded.at(part), own.rules);

  this->End(s, own, 0, RunState::kCompleted, {{"rows", "1"}, {"other", "no"}}, kT0 + 2s);
  this->End(s, own, 2, RunState::kCompleted, {{"rows", "a \"b\""}}, kT0 + 3s);
  this->End(s, own, 1, RunState::kCompleted, {}, kT0 + 4s);
  EXPECT_EQ(this->Look(s, own, s.fence, kT0 + 5s).state, RunState::kCompleted);
  EXPECT_EQ(s.Get(own.key).result.outputs, (Outputs{{"rows", R"(["1",null,"a \"b\""])"}}));
  s.Steps(kT0 + 5s);
  EXPECT_EQ(s.States(key), "list COMPLETED, map COMPLETED, use PENDING");
  EXPECT_EQ(s.Finish(key, "use", kT0 + 6s).ended, RunState::kCompleted);
}

TYPED_TEST(MapContract, AJobMayBeMapped) {
  NodeDriver s = this->node_driver();
  const StoredJob job = s.Create("map", s.Manual());
  const RunKey key =
      s.Begun(s.CreateFlow(this->Flow(s.With(s.Node("map"), {.retry_count = 1}))), kT0);
  const RunRow own = this->Mapped(s, key, R"(["x","y"])", kT0 + 1s);
  EXPECT_EQ(own.job_no, job.job_no);
  EXPECT_EQ(own.shard_total, 2u);
  // Parts obey the rules of the node.
  this->End(s, own, 0, RunState::kFailed, {}, kT0 + 2s);
  EXPECT_EQ(this->Part(s, own, 0).state, RunState::kPending);
  EXPECT_EQ(this->Part(s, own, 0).attempt, 2);
}

TYPED_TEST(MapContract, OutputsOfAFailedNodeAreCollected) {
  NodeDriver s = this->node_driver();
  const RunKey key = s.Begun(s.CreateFlow(this->Flow()), kT0);
  const RunRow own = this->Mapped(s, key, R"(["x","y"])", kT0 + 1s);
  this->End(s, own, 0, RunState::kFailed, {}, kT0 + 2s);
  this->End(s, own, 1, RunState::kCompleted, {{"rows", "2"}}, kT0 + 3s);
  EXPECT_EQ(this->Look(s, own, s.fence, kT0 + 4s).state, RunState::kFailed);
  EXPECT_EQ(s.Get(own.key).result.outputs, (Outputs{{"rows", R"([null,"2"])"}}));
  s.Steps(kT0 + 4s);
  EXPECT_EQ(s.States(key), "list COMPLETED, map FAILED, use PENDING");
}

TYPED_TEST(MapContract, OutputsMayBeTooLongToBeCollected) {
  NodeDriver s = this->node_driver();
  const RunKey key = s.Begun(s.CreateFlow(this->Flow()), kT0);
  const RunRow own = this->Mapped(s, key, R"(["x","y"])", kT0 + 1s);
  const Outputs much{{"rows", std::string(10'000, 'x')}};
  this->End(s, own, 0, RunState::kCompleted, much, kT0 + 2s);
  this->End(s, own, 1, RunState::kCompleted, much, kT0 + 3s);
  EXPECT_EQ(this->Look(s, own, s.fence, kT0 + 4s).state, RunState::kFailed);
  EXPECT_EQ(s.Get(own.key).result.reason, reason::kBadOutputs);
  EXPECT_NE(s.Get(own.key).result.error, "");
  s.Steps(kT0 + 4s);
  // Its output is missing.
  EXPECT_EQ(s.States(key), "list COMPLETED, map FAILED, use SKIPPED bad_parameters");
}

TYPED_TEST(MapContract, AnEmptyListIsDone) {
  NodeDriver s = this->node_driver();
  const RunKey key = s.Begun(s.CreateFlow(this->Flow()), kT0);
  s.Finish(key, "list", kT0 + 1s, RunState::kCompleted, {{"files", "[]"}});
  const RunRow own = s.RowOf(key, "map");
  const PartsReply reply = s.v(s.workflows.BeginParts({this->ToBegin(own, {})}, s.fence, kT0 + 2s));
  EXPECT_EQ(reply.ended, RunState::kCompleted);
  EXPECT_EQ(s.Get(own.key).result.outputs, (Outputs{{"rows", "[]"}}));
  s.Steps(kT0 + 2s);
  EXPECT_EQ(s.States(key), "list COMPLETED, map COMPLETED, use PENDING");
}

TYPED_TEST(MapContract, AListOfOtherFormSkipsTheNode) {
  NodeDriver s = this->node_driver();
  const StoredJob flow = s.CreateFlow(this->Flow());
  std::string many = "[0";
  for (int i = 0; i < 1'000; ++i) many += ",1";
  WallTime now = kT0;
  for (const std::string& list : {std::string("x"), std::string(R"({"a":1})"), many + "]"}) {
    const RunKey key = s.Begun(flow, now += 1min);
    s.Finish(key, "list", now, RunState::kCompleted, {{"files", list}});
    EXPECT_EQ(s.NodeOf(key, "map").row.reason, reason::kBadParameters) << list.size();
    EXPECT_NE(s.NodeOf(key, "map").detail.result.error, "");
  }
}

TYPED_TEST(MapContract, ARetryMayHaveAnotherList) {
  NodeDriver s = this->node_driver();
  const RunKey key = s.Begun(s.CreateFlow(this->Flow()), kT0);
  RunRow own = this->Mapped(s, key, R"(["x","y","z"])", kT0 + 1s);
  for (const uint32_t index : {0u, 1u, 2u}) {
    this->End(s, own, index, RunState::kFailed, {}, kT0 + 2s);
  }
  this->Look(s, own, s.fence, kT0 + 3s);
  s.Steps(kT0 + 3s);
  s.Finish(key, "use", kT0 + 4s);
  EXPECT_OK(s.runs.RetryRun(
      {.key = key, .workflow = {.from = RetryFrom::kNodes, .nodes = {"list"}}}, {.now = kT0 + 5s}));
  s.ExpectBegin(key, kT0 + 5s);
  s.Steps(kT0 + 5s);
  own = this->Mapped(s, key, R"(["only"])", kT0 + 6s);
  EXPECT_EQ(own.shard_total, 1u);
  EXPECT_EQ(s.v(RunRulesFromText(own.rules)).items, 1);
  EXPECT_EQ(this->States(s, own), std::vector<RunState>{RunState::kPending});
  EXPECT_EQ(this->Part(s, own, 0).rules, own.rules);
  EXPECT_EQ(this->Part(s, own, 0).attempt, 2);
}

// The new list is as long, and has other items.
TYPED_TEST(MapContract, ACheckpointIsOfAnItem) {
  NodeDriver s = this->node_driver();
  const RunKey key = s.Begun(s.CreateFlow(this->Flow()), kT0);
  RunRow own = this->Mapped(s, key, R"(["x","y"])", kT0 + 1s);
  const RunRow part = this->StartPart(s, own, 0, s.fence, kT0 + 2s);
  const RunSave save{.key = part.key,
                     .segment = part.segment,
                     .job_no = part.job_no,
                     .attempt = part.attempt,
                     .token = part.claim_token,
                     .seq = 1,
                     .checkpoint = "half of x"};
  EXPECT_EQ(s.v(s.checkpoints.Save({save}, s.fence, kT0 + 2s)).at(0), SaveVerdict::kKept);
  s.Apply(s.ReportOf(part, RunState::kFailed, kT0 + 3s), s.fence, kT0 + 3s);
  this->End(s, own, 1, RunState::kFailed, {}, kT0 + 3s);
  this->Look(s, own, s.fence, kT0 + 3s);
  s.Steps(kT0 + 3s);
  s.Finish(key, "use", kT0 + 4s);
  EXPECT_OK(s.runs.RetryRun(
      {.key = key, .workflow = {.from = RetryFrom::kNodes, .nodes = {"list"}}}, {.now = kT0 + 5s}));
  s.ExpectBegin(key, kT0 + 5s);
  s.Steps(kT0 + 5s);
  own = this->Mapped(s, key, R"(["v","w"])", kT0 + 6s);
  EXPECT_EQ(this->Part(s, own, 0).attempt, 2);
  EXPECT_EQ(s.v(s.checkpoints.ReadCheckpoint(part.key)), std::nullopt);
}

TYPED_TEST(MapContract, ARetryOfTheNodeKeepsItsItems) {
  NodeDriver s = this->node_driver();
  JobDefinition definition = this->Flow();
  definition.workflow->nodes[1].allow_failure = false;
  const RunKey key = s.Begun(s.CreateFlow(definition), kT0);
  RunRow own = this->Mapped(s, key, R"(["x","y"])", kT0 + 1s);
  const RunRow before = own;
  const std::string items = s.Get(own.key).parameters_json;
  this->End(s, own, 0, RunState::kFailed, {}, kT0 + 2s);
  this->End(s, own, 1, RunState::kCompleted, {}, kT0 + 2s);
  this->Look(s, own, s.fence, kT0 + 3s);
  EXPECT_EQ(s.Steps(kT0 + 3s).ended, RunState::kFailed);
  EXPECT_OK(s.runs.RetryRun({.key = key}, {.now = kT0 + 4s}));
  s.ExpectBegin(key, kT0 + 4s);
  s.Steps(kT0 + 4s);
  EXPECT_EQ(s.Get(own.key).parameters_json, items);
  own = this->Begin(s, s.RowOf(key, "map"), {}, s.fence, kT0 + 5s);
  EXPECT_EQ(own.rules, before.rules);
  EXPECT_EQ(this->States(s, own), std::vector<RunState>(2, RunState::kPending));
  EXPECT_EQ(this->Part(s, own, 1).attempt, 2);
}

}  // namespace carillon::test
