// The contract of ExecutorStore and AdminStore.
#pragma once

#include "tests/contract/store_driver.h"

namespace carillon::test {

template <typename Factory>
class ExecutorStoreContract : public StoreContract<Factory> {};
TYPED_TEST_SUITE(ExecutorStoreContract, StoreFactories);

inline ExecutorRecord Executor(const std::string& id, const std::string& incarnation = "x1") {
  return {.id = ExecutorId(id),
          .incarnation = Incarnation(incarnation),
          .host = "host-" + id,
          .ops_port = 8642,
          .labels = {{"zone", "a"}},
          .slots = 8,
          .last_heartbeat = kT0,
          .registered = kT0,
          .version = "1.0"};
}

TYPED_TEST(ExecutorStoreContract, RegistrationIsReadBack) {
  StoreDriver s = this->driver();
  const ExecutorRecord made = s.v(s.executors.RegisterExecutor(Executor("e1")));
  EXPECT_TRUE(made.enabled);
  EXPECT_FALSE(made.draining);
  const ExecutorRecord read = s.v(s.executors.GetExecutor(ExecutorId("e1")));
  EXPECT_EQ(read.incarnation, Incarnation("x1"));
  EXPECT_EQ(read.host, "host-e1");
  EXPECT_EQ(read.ops_port, 8642);
  EXPECT_EQ(read.slots, 8);
  EXPECT_EQ(read.version, "1.0");
  EXPECT_EQ(read.labels.at("zone"), "a");
  EXPECT_EQ(read.registered, kT0);
  EXPECT_CODE(s.executors.GetExecutor(ExecutorId("e9")), ErrorCode::kNotFound);
}

TYPED_TEST(ExecutorStoreContract, RegisteringAgainKeepsWhatPeopleSet) {
  StoreDriver s = this->driver();
  const ExecutorId id("e1");
  s.v(s.executors.RegisterExecutor(Executor("e1")));
  s.v(s.executors.SetExecutorEnabled(id, false));
  s.v(s.executors.SetExecutorDraining(id, true));
  s.v(s.executors.SetExecutorLabels({id, {{"zone", "b"}}, {{"zone", "a"}}}));
  ExecutorRecord again = Executor("e1", "x2");
  again.slots = 16;
  const ExecutorRecord record = s.v(s.executors.RegisterExecutor(again));
  EXPECT_EQ(record.incarnation, Incarnation("x2"));
  EXPECT_EQ(record.slots, 16);
  EXPECT_FALSE(record.enabled);
  EXPECT_TRUE(record.draining);
  EXPECT_EQ(record.labels.at("zone"), "b");
  this->Reopen();
  StoreDriver reopened = this->driver();
  EXPECT_FALSE(reopened.v(reopened.executors.GetExecutor(id)).enabled);
}

TYPED_TEST(ExecutorStoreContract, UpdatesTouchStateAndLoadOfKnownOnesOnly) {
  StoreDriver s = this->driver();
  s.v(s.executors.RegisterExecutor(Executor("e1")));
  s.v(s.executors.SetExecutorEnabled(ExecutorId("e1"), false));
  ExecutorRecord update = Executor("e1");
  update.state = ExecutorState::kLost;
  update.slots = 12;
  update.running = 3;
  update.load = {.cpu = 0.5, .memory = 0.25, .disk = 0.75, .io = 0.125};
  update.last_heartbeat = kT0 + 5s;
  update.enabled = true;
  ExecutorRecord before = Executor("e1");  // its process is another one by now
  before.incarnation = Incarnation("older");
  before.state = ExecutorState::kOffline;
  ASSERT_OK(s.executors.UpdateExecutors({update, Executor("e9")}));
  ASSERT_OK(s.executors.UpdateExecutors({before}));
  const std::vector<ExecutorRecord> all = s.v(s.executors.ListExecutors());
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].state, ExecutorState::kLost);
  EXPECT_EQ(all[0].slots, 12);
  EXPECT_EQ(all[0].running, 3);
  EXPECT_DOUBLE_EQ(all[0].load.cpu, 0.5);
  EXPECT_DOUBLE_EQ(all[0].load.io, 0.125);
  EXPECT_EQ(all[0].last_heartbeat, kT0 + 5s);
  EXPECT_FALSE(all[0].enabled);
}

TYPED_TEST(ExecutorStoreContract, SettersNeedAKnownExecutor) {
  StoreDriver s = this->driver();
  const ExecutorId id("e9");
  EXPECT_CODE(s.executors.SetExecutorEnabled(id, true), ErrorCode::kNotFound);
  EXPECT_CODE(s.executors.SetExecutorDraining(id, true), ErrorCode::kNotFound);
  EXPECT_CODE(s.executors.SetExecutorLabels({id, {}, {}}), ErrorCode::kNotFound);
}

TYPED_TEST(ExecutorStoreContract, LabelsTakeThePlaceOfThoseThatWereRead) {
  StoreDriver s = this->driver();
  using Labels = std::map<std::string, std::string>;
  const ExecutorId id("e1");
  const Labels a = {{"zone", "a"}}, b = {{"zone", "b"}, {"disk", "ssd"}};
  s.v(s.executors.RegisterExecutor(Executor("e1")));
  EXPECT_EQ(s.v(s.executors.SetExecutorLabels({id, b, a})).labels, b);
  EXPECT_CODE(s.executors.SetExecutorLabels({id, {}, a}), ErrorCode::kConflict);
  EXPECT_EQ(s.v(s.executors.GetExecutor(id)).labels, b);
  // A repetition whose first answer was lost.
  EXPECT_EQ(s.v(s.executors.SetExecutorLabels({id, b, a})).labels, b);
  EXPECT_EQ(s.v(s.executors.SetExecutorLabels({id, {}, b})).labels, Labels{});
}

template <typename Factory>
class AdminStoreContract : public StoreContract<Factory> {};
TYPED_TEST_SUITE(AdminStoreContract, StoreFactories);

TYPED_TEST(AdminStoreContract, RepeatedRequestGetsTheFirstAnswer) {
  StoreDriver s = this->driver();
  const StoredAnswer answer{201, R"({"job_id":"a"})", "/api/jobs/a", "\"1\""};
  EXPECT_EQ(s.v(s.admin.BeginRequest("POST /jobs", "k", "f", kT0)).state, RequestState::kNew);
  EXPECT_EQ(s.v(s.admin.BeginRequest("POST /jobs", "k", "f", kT0 + 1s)).state,
            RequestState::kInFlight);
  ASSERT_OK(s.admin.FinishRequest("POST /jobs", "k", answer));
  const RequestLookup replay = s.v(s.admin.BeginRequest("POST /jobs", "k", "f", kT0 + 2s));
  EXPECT_EQ(replay.state, RequestState::kReplay);
  EXPECT_EQ(replay.answer.status, 201);
  EXPECT_EQ(replay.answer.body, answer.body);
  EXPECT_EQ(replay.answer.location, answer.location);
  EXPECT_EQ(replay.answer.etag, answer.etag);
  EXPECT_EQ(s.v(s.admin.BeginRequest("POST /jobs", "k", "other", kT0 + 2s)).state,
            RequestState::kMismatch);
  EXPECT_EQ(s.v(s.admin.BeginRequest("PUT /jobs/a", "k", "f", kT0 + 2s)).state, RequestState::kNew);
}

TYPED_TEST(AdminStoreContract, AbandonedDeadAndExpiredRequestsStartAnew) {
  StoreDriver s = this->driver();
  s.v(s.admin.BeginRequest("s", "abandoned", "f", kT0));
  ASSERT_OK(s.admin.AbandonRequest("s", "abandoned"));
  EXPECT_EQ(s.v(s.admin.BeginRequest("s", "abandoned", "f", kT0 + 1s)).state, RequestState::kNew);
  s.v(s.admin.BeginRequest("s", "dead", "f", kT0));
  EXPECT_EQ(s.v(s.admin.BeginRequest("s", "dead", "f", kT0 + 61s)).state, RequestState::kNew);
  EXPECT_EQ(s.v(s.admin.BeginRequest("s", "dead", "f", kT0 + 62s)).state, RequestState::kInFlight);
  s.v(s.admin.BeginRequest("s", "old", "f", kT0));
  ASSERT_OK(s.admin.FinishRequest("s", "old", {200, "x", "", ""}));
  EXPECT_EQ(s.v(s.admin.BeginRequest("s", "old", "f", kT0 + 23h)).state, RequestState::kReplay);
  EXPECT_EQ(s.v(s.admin.BeginRequest("s", "old", "f", kT0 + 24h + 1s)).state, RequestState::kNew);
}

TYPED_TEST(AdminStoreContract, AuditIsNewestFirstAndByObject) {
  StoreDriver s = this->driver();
  for (int i = 0; i < 4; ++i) {
    ASSERT_OK(s.admin.RecordAudit({.at = kT0 + i * 1s,
                                   .actor = "ann",
                                   .action = "job.pause",
                                   .object_id = i % 2 == 0 ? "even" : "odd",
                                   .reason = "because \xe2\x82\xac" + std::to_string(i),
                                   .trace_id = "t",
                                   .changes_json = i == 3 ? "[1]" : ""}));
  }
  const std::vector<AuditRecord> all = s.v(s.admin.ListAudit({.limit = 3}));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].at, kT0 + 3s);
  EXPECT_EQ(all[0].actor, "ann");
  EXPECT_EQ(all[0].action, "job.pause");
  EXPECT_EQ(all[0].object_id, "odd");
  EXPECT_EQ(all[0].reason,
            "because \xe2\x82\xac"
            "3");
  EXPECT_EQ(all[0].trace_id, "t");
  EXPECT_EQ(all[0].changes_json, "[1]");
  EXPECT_EQ(all[1].changes_json, "");
  EXPECT_TRUE(s.v(s.admin.ListAudit({.object_id = "\u00e9ven"})).empty());
  const auto later = s.v(s.admin.ListAudit({.after_id = all[2].id}));
  ASSERT_EQ(later.size(), 2u);
  EXPECT_EQ(later[0].id, all[0].id);
  const auto rest = s.v(s.admin.ListAudit({.object_id = "even", .before_id = all[1].id}));
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].at, kT0);
  const auto oldest = s.v(s.admin.ListAudit({.oldest_first = true, .limit = 3}));
  ASSERT_EQ(oldest.size(), 3u);
  EXPECT_EQ(oldest[0].at, kT0);
  EXPECT_EQ(oldest[2].at, kT0 + 2s);
  const auto after =
      s.v(s.admin.ListAudit({.object_id = "odd", .after_id = oldest[1].id, .oldest_first = true}));
  ASSERT_EQ(after.size(), 1u);
  EXPECT_EQ(after[0].at, kT0 + 3s);
}

TYPED_TEST(AdminStoreContract, AuditRecordsOfOneGoKeepTheirOrder) {
  StoreDriver s = this->driver();
  std::vector<AuditRecord> records;
  for (int i = 0; i < 3; ++i) {
    records.push_back({.at = kT0 + 1s,
                       .actor = "ann\xc3\xa9",
                       .action = "job.apply",
                       .object_id = "j" + std::to_string(i),
                       .reason = "line\n\"quoted\" \\",
                       .trace_id = "t",
                       .changes_json = i == 0 ? "" : R"([{"path":"/a\n","to":"\"x\""}])"});
  }
  ASSERT_OK(s.admin.RecordAudits(records));
  ASSERT_OK(s.admin.RecordAudits({}));
  const std::vector<AuditRecord> all = s.v(s.admin.ListAudit({.oldest_first = true, .limit = 9}));
  ASSERT_EQ(all.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(all[i].at, records[i].at);
    EXPECT_EQ(all[i].actor, records[i].actor);
    EXPECT_EQ(all[i].action, records[i].action);
    EXPECT_EQ(all[i].object_id, records[i].object_id);
    EXPECT_EQ(all[i].reason, records[i].reason);
    EXPECT_EQ(all[i].trace_id, records[i].trace_id);
    EXPECT_EQ(all[i].changes_json, records[i].changes_json);
  }
}

TYPED_TEST(AdminStoreContract, AuditIsOfOnePersonOfActionsAndOfATime) {
  StoreDriver s = this->driver();
  const std::vector<std::array<std::string, 3>> done = {{"ann", "job.pause", "a"},
                                                        {"ann/ci", "job.execute", "a"},
                                                        {"anna", "job.execute", "b"},
                                                        {"ann", "job.execute", "b"},
                                                        {"ann0", "job.pause", "b"}};
  for (size_t i = 0; i < done.size(); ++i) {
    ASSERT_OK(s.admin.RecordAudit(
        {.at = kT0 + i * 48h, .actor = done[i][0], .action = done[i][1], .object_id = done[i][2]}));
  }
  // At which places of `done` what was found is, in its order.
  const auto found = [&](const AuditFilter& filter) {
    std::vector<int64_t> places;
    for (const AuditRecord& one : s.v(s.admin.ListAudit(filter))) {
      places.push_back((one.at - kT0) / 48h);
    }
    if (filter.limit > done.size() && filter.before_id == UINT64_MAX) {
      const BoundedCount count = s.v(s.counts.CountAudit(filter));
      EXPECT_EQ(count.seen, places.size());
      EXPECT_TRUE(count.all);
    }
    return places;
  };
  using Places = std::vector<int64_t>;
  EXPECT_EQ(found({.actor = "ann"}), (Places{3, 1, 0}));
  EXPECT_EQ(found({.actor = "ann/ci"}), (Places{1}));
  EXPECT_EQ(found({.actor = "nobody"}), (Places{}));
  EXPECT_EQ(found({.actor = "\u00fc"}), (Places{}));
  EXPECT_EQ(found({.actor = "ann", .oldest_first = true, .limit = 2}), (Places{0, 1}));
  EXPECT_EQ(found({.actions = {"job.execute"}}), (Places{3, 2, 1}));
  EXPECT_EQ(found({.actions = {"job.pause", "job.execute"}, .limit = 3}), (Places{4, 3, 2}));
  EXPECT_EQ(found({.actions = {"job.pause", "job.pause"}}), (Places{4, 0}));
  EXPECT_EQ(found({.actions = {"job.create"}}), (Places{}));
  EXPECT_EQ(found({.actions = {"\u00fc"}}), (Places{}));
  EXPECT_EQ(found({.actor = "ann", .actions = {"job.execute"}}), (Places{3, 1}));
  EXPECT_EQ(found({.object_id = "a", .actor = "ann", .actions = {"job.execute"}}), (Places{1}));
  EXPECT_EQ(found({.object_id = "b", .actor = "ann"}), (Places{3}));
  // Times reach as far as the microsecond, whatever order the ids have.
  EXPECT_EQ(found({.since = kT0 + 96h}), (Places{4, 3, 2}));
  EXPECT_EQ(found({.since = kT0 + 96h + 1us}), (Places{4, 3}));
  EXPECT_EQ(found({.until = kT0 + 96h}), (Places{1, 0}));
  EXPECT_EQ(found({.since = kT0 + 48h, .until = kT0 + 144h}), (Places{2, 1}));
  EXPECT_EQ(found({.since = kT0 + 1000h}), (Places{}));
  EXPECT_EQ(found({.until = kT0 - 1000h}), (Places{}));
  EXPECT_EQ(found({.actor = "ann", .since = kT0 + 1h, .until = kT0 + 200h}), (Places{3, 1}));
  // By a member whose clock is behind: later by its number, earlier by its time.
  ASSERT_OK(s.admin.RecordAudit(
      {.at = kT0 + 192h - 30min, .actor = "late", .action = "job.pause", .object_id = "c"}));
  EXPECT_EQ(found({.until = kT0 + 192h}), (Places{3, 3, 2, 1, 0}));
  EXPECT_EQ(found({.since = kT0 + 192h - 20min}), (Places{4}));
  const auto first = s.v(s.admin.ListAudit({.actor = "ann", .limit = 1}));
  EXPECT_EQ(found({.actor = "ann", .before_id = first[0].id, .limit = 9}), (Places{1, 0}));
}

TYPED_TEST(AdminStoreContract, NewStoreHasNoSettings) {
  StoreDriver s = this->driver();
  EXPECT_EQ(s.v(s.admin.ReadSettings()).version, 0);
  EXPECT_TRUE(s.v(s.admin.ReadSettings()).values.empty());
}

TYPED_TEST(AdminStoreContract, SettingsAreReplacedAtTheVersionThatWasReadOnly) {
  StoreDriver s = this->driver();
  const std::map<std::string, std::string> first = {{"executor.slots", "3"},
                                                    {"log.level", "\xe2\x82\xac"}};
  const ClusterSettings written = s.v(s.admin.WriteSettings(0, {.version = 1, .values = first}));
  EXPECT_EQ(written, (ClusterSettings{.version = 1, .values = first}));
  EXPECT_EQ(s.v(s.admin.ReadSettings()), written);
  ClusterSettings next{.version = 3, .values = {{"log.level", "debug"}}};
  EXPECT_CODE(s.admin.WriteSettings(0, next), ErrorCode::kConflict);
  EXPECT_CODE(s.admin.WriteSettings(2, next), ErrorCode::kConflict);
  EXPECT_EQ(s.v(s.admin.ReadSettings()), written) << "nothing of a refused one stays";
  EXPECT_EQ(s.v(s.admin.WriteSettings(1, next)), next) << "versions may be left out";
  s.v(s.admin.WriteSettings(3, {.version = 4}));
  EXPECT_EQ(s.v(s.admin.ReadSettings()), (ClusterSettings{.version = 4}));
  s.v(s.admin.WriteSettings(4, {.version = 9, .values = first}));
  this->Reopen();
  StoreDriver reopened = this->driver();
  EXPECT_EQ(reopened.v(reopened.admin.ReadSettings()),
            (ClusterSettings{.version = 9, .values = first}));
}

TYPED_TEST(AdminStoreContract, RetentionDropsWholeOldDaysThatHaveNothingOpen) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  ASSERT_OK(s.admin.Maintain(kT0, 14 * 24h));
  const StoredJob job = s.Create("a", s.Manual());
  const auto finished = [&](WallTime at, uint64_t token) {
    const RunRow row = s.Start(s.Execute(job, at), token, fence, at);
    s.Apply(s.ReportOf(row, RunState::kCompleted, at), fence, at);
    return row.key;
  };
  const RunKey old = finished(kT0 + 1h, 1);
  const RunKey beside_open = finished(kT0 + 25h, 2);
  const RunRow open = s.Execute(job, kT0 + 26h);
  const RunKey recent = finished(kT0 + 49h, 3);
  // Members do this at any time, and again.
  for (int i = 0; i < 2; ++i) ASSERT_OK(s.admin.Maintain(kT0 + 16 * 24h + 1h, 14 * 24h));
  EXPECT_CODE(s.runs.GetRun(old), ErrorCode::kNotFound);
  EXPECT_EQ(s.Get(beside_open).row.state, RunState::kCompleted);
  EXPECT_EQ(s.Get(open.key).row, open);
  EXPECT_EQ(s.Get(recent).row.state, RunState::kCompleted);
}

TYPED_TEST(AdminStoreContract, StoreTakesRunsOfTheDaysAheadAfterMaintenance) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  ASSERT_OK(s.admin.Maintain(kT0, 14 * 24h));
  JobDefinition definition = s.Manual();
  for (const Duration ahead : {1h, 30h, 72h, 24h * 400}) {
    definition.schedules.push_back({.kind = ScheduleKind::kOnce, .at = kT0 + ahead});
  }
  s.Create("a", definition);
  s.Plan(kT0 + 24h * 500, fence);
  EXPECT_EQ(s.Pending(kT0 + 24h * 500).size(), 4u);
}

TYPED_TEST(AdminStoreContract, OldVersionsGoExceptTheNewest) {
  StoreDriver s = this->driver();
  StoredJob job = s.Create("a", s.Manual());
  for (int i = 0; i < 105; ++i) job = s.Replace(job, job.definition, kT0 + i * 1h);
  ASSERT_EQ(job.version, 106);
  const auto kept = [&] {
    std::vector<JobVersionKey> keys;
    for (int64_t version = 1; version <= 106; ++version) keys.push_back({job.job_no, version});
    std::vector<int64_t> versions;
    for (const JobVersionRecord& record : s.v(s.firing.LoadDefinitions(keys))) {
      versions.push_back(record.version);
    }
    std::sort(versions.begin(), versions.end());
    return versions;
  };
  // Version 3 was superseded at 2 h.
  ASSERT_OK(s.admin.Maintain(kT0 + 14 * 24h + 2h + 1min, 14 * 24h));
  EXPECT_EQ(kept().size(), 103u);
  EXPECT_EQ(kept().front(), 4);
  ASSERT_OK(s.admin.Maintain(kT0 + 100 * 24h, 14 * 24h));
  EXPECT_EQ(kept().size(), 100u);
  EXPECT_EQ(kept().front(), 7);
}

TYPED_TEST(AdminStoreContract, ExecutorsThatAreGoneForLongAreForgotten) {
  StoreDriver s = this->driver();
  for (const char* id : {"gone", "off", "alive"}) {
    ExecutorRecord record{.id = ExecutorId(id), .incarnation = Incarnation("i")};
    record.last_heartbeat = record.registered = kT0;
    s.v(s.executors.RegisterExecutor(record));
    if (record.id != ExecutorId("alive")) record.state = ExecutorState::kLost;
    ASSERT_OK(s.executors.UpdateExecutors({record}));
  }
  s.v(s.executors.SetExecutorEnabled(ExecutorId("off"), false));
  ASSERT_OK(s.admin.Maintain(kT0 + 13 * 24h, 14 * 24h));
  EXPECT_EQ(s.v(s.executors.ListExecutors()).size(), 3u);
  ASSERT_OK(s.admin.Maintain(kT0 + 15 * 24h, 14 * 24h));
  EXPECT_EQ(s.v(s.executors.ListExecutors()).size(), 2u);
  EXPECT_CODE(s.executors.GetExecutor(ExecutorId("gone")), ErrorCode::kNotFound);
}

TYPED_TEST(AdminStoreContract, OldDeadLettersGo) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow run = s.Start(s.Execute(s.Create("a", s.Manual()), kT0), 1, fence, kT0 + 1s);
  s.Apply(s.ReportOf(run, RunState::kFailed), fence, kT0 + 2s);
  ASSERT_EQ(s.v(s.runs.ListDeadLetters({.limit = 10})).size(), 1u);
  ASSERT_OK(s.admin.Maintain(kT0 + 15 * 24h, 14 * 24h));
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({.limit = 10})).empty());
}

}  // namespace carillon::test
