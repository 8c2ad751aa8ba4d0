// Fixture with a real API server on a free port and the store in memory, with faults on demand.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "common/adapters/http/http_client.h"
#include "common/adapters/memory/memory_coordinator.h"
#include "common/adapters/system/system_clock.h"
#include "scheduler/api/server/api_server.h"
#include "scheduler/streams/change_watch.h"
#include "scheduler/streams/store_probe.h"
#include "tests/support/faults/fault_stores.h"
#include "tests/support/manual_clock.h"
#include "tests/support/parse_json.h"
#include "tests/twins/memory_stores.h"
#include "tests/unit/scheduler/api/exchange_record.h"

namespace carillon::test {

using nlohmann::json;

class FixedStatus : public scheduler::StatusSource {
 public:
  std::vector<ExecutorRecord> linked = {
      {.id = ExecutorId("linked"), .state = ExecutorState::kUnhealthy}};
  std::map<std::string, BusHealth> topics;
  std::vector<UnplannedJob> unplanned;
  SessionState session = SessionState::kConnected;
  std::optional<Overload> overload;
  std::vector<scheduler::ClusterMember> others;

  scheduler::ClusterView Read() override {
    scheduler::ClusterView view = Own();
    view.members.insert(view.members.end(), others.begin(), others.end());
    return view;
  }

 private:
  scheduler::ClusterView Own() const {
    return {.self = MemberId("scheduler-1"),
            .ready = true,
            .leader = MemberId("scheduler-1"),
            .members = {{.id = MemberId("scheduler-1"),
                         .address = "127.0.0.1:8640",
                         .clock_offset = 1500us,
                         .version = "0.1.0-test",
                         .ops_url = "http://127.0.0.1:8642",
                         .schema = 1,
                         .paused = false}},
            .executors = linked,
            .oldest_overdue = 250ms,
            .unplanned_jobs = unplanned,
            .late_p50 = 2ms,
            .late_p99 = 7ms,
            .topics = topics,
            .session = session,
            .overload = overload};
  }
};

inline scheduler::StoreProbe::Ports WatchPorts(const scheduler::ApiContext& context) {
  return {.segments = context.stores.segments,
          .executors = context.stores.executors,
          .runs = context.stores.runs,
          .clock = context.clock};
}

inline scheduler::ChangeWatch::Ports ChangePorts(const scheduler::ApiContext& context) {
  return {.audit = context.stores.audit,
          .runs = context.stores.runs,
          .executors = context.stores.executors,
          .notices = context.stores.notices,
          .bulk = context.stores.bulk,
          .cluster_now = context.cluster_now};
}

class ApiEnv : public ::testing::Test {
 protected:
  // `store_patience`: the time limit of store calls. The default is so long that a busy machine
  // does not look like a store that hangs.
  explicit ApiEnv(Duration store_patience = 1min, EmbeddedFiles console = {})
      : store_patience_(store_patience), console_(console) {
    token_ = *scheduler::CreateAdminToken(stores_.auth, clock_.Wall());
    Serve("");
  }

  // Starts or restarts the server. `link_authority`: the authority of a control link with TLS.
  void Serve(const std::string& link_authority) {
    server_.reset();
    auto started = scheduler::ApiServer::Start({.port = 0, .workers = 8}, Context(link_authority));
    EXPECT_TRUE(started.ok()) << started.error().message;
    server_ = std::move(started).value();
  }

  scheduler::ApiContext Context(const std::string& link_authority) {
    return {.stores = faults_.Ports(),
            .secret_keys = secret_keys_,
            .status = status_,
            .store_standing = [this] { return Standing(); },
            .accept_store = [this](const StoreIdentity& shown) { return Accept(shown); },
            .nudge = [this](const ChangedWork& work) { Nudged(work); },
            .nudge_executors = [this] { ++executor_nudges_; },
            .cluster_now = [this] { return stores_.segments.Now(); },
            .test_notices = [this] { return test_outcomes_; },
            .health = &health_,
            .clock = server_clock_,
            .seed = 7,
            .metrics = metrics_,
            .version = "0.1.0-test",
            .config = config_,
            .settings = settings_,
            .upgrade = upgrade_,
            .new_fields = new_fields_,
            .console = console_,
            .one_process = one_process_,
            .link_authority = link_authority,
            .account_rate = account_rate_,
            .address_rate = address_rate_,
            .store_patience = store_patience_};
  }

  Answer SendOn(HttpClient& client, const std::string& method, const std::string& path,
                const std::string& body, HttpHeaders headers) {
    auto sent = client.Send({.method = method,
                             .url = server_->url() + path,
                             .headers = std::move(headers),
                             .body = body});
    EXPECT_TRUE(sent.ok()) << method << " " << path << ": " << sent.error().message;
    if (!sent.ok()) return {};
    Answer answer{.status = sent->status, .headers = sent->headers, .text = sent->body};
    RecordExchange(method, path, body, answer);
    return answer;
  }
  HttpHeaders Authorized(HttpHeaders headers = {}) const {
    headers.emplace_back("Authorization", "Bearer " + token_);
    return headers;
  }
  Answer Send(const std::string& method, const std::string& path, const std::string& body = "",
              HttpHeaders headers = {}) {
    headers = Authorized(std::move(headers));
    if (!body.empty()) headers.emplace_back("Content-Type", "application/json");
    return SendOn(client_, method, path, body, std::move(headers));
  }
  Answer Get(const std::string& path) { return Send("GET", path); }
  // As the newest release does with a store that it has created.
  void FinishUpgrade() {
    {
      MutexLock lock(stores_.tables.mu);
      stores_.tables.schema = {.known = scheduler::kFanOutMigration,
                               .applied = scheduler::kFanOutMigration,
                               .finished = scheduler::kFanOutMigration};
    }
    clock_.Advance(scheduler::UpgradeWatch::kLookEvery);
    upgrade_.Step(clock_.Steady());
  }
  Answer Post(const std::string& path, const json& body = json::object(),
              HttpHeaders headers = {}) {
    return Send("POST", path, body.dump(), std::move(headers));
  }

  // Returns the JSON of a job that runs `true` each night, changed by `changes`.
  static json JobBody(json changes = json::object()) {
    json job = {{"name", "Nightly"}, {"command", "true"}, {"cron_expression", "0 3 * * *"}};
    job.update(changes);
    return job;
  }
  json Create(json changes = json::object()) {
    const Answer created = Post("/api/jobs", JobBody(std::move(changes)));
    EXPECT_EQ(created.status, 201) << created.text;
    return created.body();
  }
  std::string Execute(const std::string& job_id) {
    const Answer answer = Post("/api/jobs/" + job_id + "/execute");
    EXPECT_EQ(answer.status, 202) << answer.text;
    return answer.body().value("run_id", "");
  }
  // Takes a PENDING run through a claim to a result, as an owner would.
  void Finish(const std::string& run_id, AttemptResult result);
  ExecutorRecord AddExecutor(const std::string& id);

  size_t nudges() const { return nudges_; }

  // Sets the member's trust in its store, and the outcome of an operator's acceptance.
  void SetStanding(const StoreStanding& standing) {
    const std::lock_guard lock(standing_mu_);
    standing_ = standing;
  }
  StoreStanding Standing() {
    const std::lock_guard lock(standing_mu_);
    return standing_;
  }
  Status Accept(const StoreIdentity& shown) {
    const std::lock_guard lock(standing_mu_);
    accepted_.push_back(shown);
    if (accept_answer_.ok()) standing_ = {.state = StoreState::kTrusted};
    return accept_answer_;
  }
  std::mutex standing_mu_;
  StoreStanding standing_{.state = StoreState::kTrusted};
  Status accept_answer_;
  std::vector<StoreIdentity> accepted_;

  config::Config config_ = config::Load({}).value();
  bool one_process_ = false;
  int64_t account_rate_ = 0;
  int64_t address_rate_ = 0;
  const Duration store_patience_;
  const EmbeddedFiles console_;
  ManualClock clock_;
  SystemClock server_clock_;
  memory::MemoryStores stores_{clock_, {}};
  PlannedStores faults_{stores_.Ports()};
  FixedStatus status_;
  Metrics metrics_;
  std::atomic<bool> fit_{true};  // the answer of /readyz
  ops::Health health_{
      {{.name = "store",
        .check = [this] { return fit_ ? Status() : Status(ErrorCode::kUnavailable, "away"); }}},
      server_clock_};
  LiveSettings settings_;
  memory::MemoryEnsemble ensemble_;
  std::unique_ptr<Coordinator> coordinator_ = ensemble_.NewClient();
  std::span<const scheduler::NewField> new_fields_ = scheduler::NewFields();
  scheduler::UpgradeWatch upgrade_{{.coordinator = *coordinator_, .store = stores_.schema}};
  // Null for a member without keys.
  std::shared_ptr<const scheduler::Keyring> keyring_ = std::make_shared<const scheduler::Keyring>(
      scheduler::Keyring::Parse(scheduler::Keyring::NewKey()).value());
  class EnvKeys final : public scheduler::KeySource {
   public:
    explicit EnvKeys(const std::shared_ptr<const scheduler::Keyring>& keys) : keys_(keys) {}
    std::shared_ptr<const scheduler::Keyring> Keys() const override { return keys_; }

   private:
    const std::shared_ptr<const scheduler::Keyring>& keys_;
  };
  EnvKeys secret_keys_{keyring_};
  std::atomic<size_t> nudges_{0};
  std::vector<scheduler::TestOutcome> test_outcomes_;  // the outcome of POST /api/notify/test
  std::atomic<size_t> executor_nudges_{0};
  std::string token_;
  std::unique_ptr<scheduler::ApiServer> server_;
  HttpClient client_;

 private:
  void Nudged(const ChangedWork& /*work*/) { ++nudges_; }
  int claims_ = 0;
  std::set<uint32_t> owned_;
};

inline ExecutorRecord ApiEnv::AddExecutor(const std::string& id) {
  ExecutorRecord record{.id = ExecutorId(id), .incarnation = Incarnation("i1"), .host = "host"};
  record.slots = 8;
  return *stores_.executors.RegisterExecutor(record);
}

inline void ApiEnv::Finish(const std::string& run_id, AttemptResult result) {
  const RunDetail run = *stores_.runs.GetRun(*DecodeRunId(run_id));
  const Fence fence = stores_.segments
                          .Take({.member = MemberId("scheduler-1"),
                                 .incarnation = Incarnation("m1"),
                                 .generation = Generation(1),
                                 .segments = {run.row.segment}})
                          ->fence;
  ClaimToken token{.high = 1, .low = static_cast<uint64_t>(++claims_)};
  const ClaimRequest claim{.key = run.row.key,
                           .segment = run.row.segment,
                           .job_no = run.row.job_no,
                           .attempt = run.row.attempt,
                           .def_version = run.row.def_version,
                           .token = token,
                           .executor = ExecutorId("executor-1"),
                           .incarnation = Incarnation("i1")};
  const auto claimed = stores_.firing.Claim({claim}, fence, clock_.Wall());
  ASSERT_TRUE(claimed.ok());
  ASSERT_EQ(claimed->size(), 1u);
  result.started = clock_.Wall();
  result.ended = clock_.Wall();
  const auto applied = stores_.firing.ApplyResults({{.key = run.row.key,
                                                     .segment = run.row.segment,
                                                     .job_no = run.row.job_no,
                                                     .attempt = run.row.attempt,
                                                     .token = token,
                                                     .executor = ExecutorId("executor-1"),
                                                     .result = std::move(result)}},
                                                   fence, clock_.Wall());
  ASSERT_TRUE(applied.ok());
}

}  // namespace carillon::test
