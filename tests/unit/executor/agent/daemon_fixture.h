// Fixture of the executor daemon: the test controls its ports.
#pragma once

#include <deque>
#include <memory>
#include <set>

#include <gtest/gtest.h>

#include "common/wire/messages/log_codec.h"
#include "common/wire/messages/signature.h"
#include "executor/agent/executor_daemon.h"
#include "executor/report/result_sender.h"
#include "tests/support/manual_clock.h"
#include "tests/support/seeded_tokens.h"

namespace carillon::executor {

struct TestBus : BusConsumer, BusProducer {
  Result<std::vector<ReceivedRecord>> Poll(size_t max) override {
    std::vector<ReceivedRecord> taken;
    while (!tasks.empty() && taken.size() < max) {
      taken.push_back({std::move(tasks.front()), 0, next_offset++});
      tasks.pop_front();
    }
    return taken;
  }
  Status Commit(const std::vector<ReceivedRecord>&) override { return {}; }
  void OnReadable(std::function<void()>) override {}
  BusHealth Look() override { return {BusHealth::Contact::kAnswers, behind}; }
  Status Send(std::string_view topic, uint64_t key, BusRecord record, Delivered) override {
    if (refuse) return {ErrorCode::kExhausted, "test"};
    if (topic == kLogsTopic) {
      const auto pieces = DecodeLogs(record.payload);
      EXPECT_TRUE(pieces.ok());
      logs.insert(logs.end(), pieces->begin(), pieces->end());
      return {};
    }
    EXPECT_EQ(topic, kResultsTopic);
    const auto bundle = DecodeResults(record.payload);
    EXPECT_TRUE(bundle.ok());
    EXPECT_EQ(key, TaskPartitionKey(ExecutorId("e1")));
    ++result_records;
    last_payload = record.payload;
    results.insert(results.end(), bundle->begin(), bundle->end());
    return {};
  }
  std::deque<BusRecord> tasks;
  std::vector<ResultMessage> results;
  std::vector<LogMessage> logs;
  int result_records = 0;
  std::string last_payload;
  int64_t next_offset = 0;
  std::optional<int64_t> behind;
  bool refuse = false;
};

struct TestLink : ExecutorLink {
  std::vector<MemberId> Members() override { return members; }
  Status Send(const MemberId& member, FromExecutor message) override {
    sent.push_back({member, std::move(message)});
    return {};
  }
  std::vector<MemberMessage> Receive(size_t) override { return std::exchange(incoming, {}); }
  void OnReadable(std::function<void()>) override {}
  void Close(const MemberId& member) override { closed.push_back(member); }
  void MayWait(Duration span) override { may_wait = span; }

  template <typename T>
  std::vector<T> Take() {
    std::vector<T> taken;
    for (auto it = sent.begin(); it != sent.end();) {
      if (auto* message = std::get_if<T>(&it->second)) {
        taken.push_back(std::move(*message));
        it = sent.erase(it);
      } else {
        ++it;
      }
    }
    return taken;
  }
  std::vector<MemberId> members = {MemberId("m1")};
  std::vector<MemberId> closed = {};
  Duration may_wait{};
  std::vector<std::pair<MemberId, FromExecutor>> sent;
  std::vector<MemberMessage> incoming;
};

struct TestWarden : Warden {
  Status CanStart() override { return can_start; }
  Status Start(const StartAttempt& start) override {
    if (!can_start.ok()) return can_start;
    starts.push_back(start);
    return {};
  }
  Status RenewLeases(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end) override {
    for (const HeldAttempt& held : attempts) renewed.emplace_back(held.token, lease_end);
    return {};
  }
  Status Cancel(const HeldAttempt& attempt, CancelMode mode) override {
    (mode == CancelMode::kKill ? killed : cancelled).push_back(attempt.token);
    return {};
  }
  Result<Inventory> List() override {
    if (!reachable) return {ErrorCode::kUnavailable, "test"};
    return inventory;
  }
  Status Forget(const std::vector<HeldAttempt>& attempts) override {
    for (const HeldAttempt& held : attempts) forgotten.push_back(held.token);
    return {};
  }
  Status ConfirmOutput(const std::vector<StoredOutput>& output) override {
    if (!reachable) return {ErrorCode::kUnavailable, "test"};
    confirmed.insert(confirmed.end(), output.begin(), output.end());
    return {};
  }
  Status Note(const HeldAttempt&, const std::string& text) override {
    notes.push_back(text);
    return {};
  }
  std::vector<AttemptEvent> Receive(size_t) override { return std::exchange(events, {}); }
  void OnReadable(std::function<void()>) override {}

  Features Isolation() override { return isolation; }

  std::vector<std::string> notes;
  Status can_start;
  Features isolation;
  bool reachable = true;
  Inventory inventory;
  std::vector<StartAttempt> starts;
  std::vector<std::pair<ClaimToken, SteadyTime>> renewed;
  std::vector<ClaimToken> cancelled;
  std::vector<ClaimToken> killed;
  std::vector<ClaimToken> forgotten;
  std::vector<StoredOutput> confirmed;
  std::vector<AttemptEvent> events;
};

struct TestHttp : HttpRunner {
  void Start(StartHttp start) override { starts.push_back(std::move(start)); }
  Status RenewLeases(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end) override {
    for (const HeldAttempt& held : attempts) renewed.emplace_back(held.token, lease_end);
    return {};
  }
  Status Cancel(const HeldAttempt& attempt, CancelMode) override {
    cancelled.push_back(attempt.token);
    return {};
  }
  std::vector<AttemptEvent> Receive(size_t) override { return std::exchange(events, {}); }
  void OnReadable(std::function<void()>) override {}

  std::vector<StartHttp> starts;
  std::vector<std::pair<ClaimToken, SteadyTime>> renewed;
  std::vector<ClaimToken> cancelled;
  std::vector<AttemptEvent> events;
};

struct TestHandlers : HandlerRunner {
  std::shared_ptr<const HandlerOffers> Offers() override { return offers; }
  void Start(StartHandler start) override { starts.push_back(std::move(start)); }
  Status RenewLeases(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end) override {
    for (const HeldAttempt& held : attempts) renewed.emplace_back(held.token, lease_end);
    return {};
  }
  Status Cancel(const HeldAttempt& attempt, CancelMode) override {
    cancelled.push_back(attempt.token);
    return {};
  }
  Status Note(const HeldAttempt& attempt, const std::string& text) override {
    notes.emplace_back(attempt.token, text);
    return {};
  }
  Status Forget(const std::vector<HeldAttempt>& attempts) override {
    for (const HeldAttempt& held : attempts) forgotten.push_back(held.token);
    return {};
  }
  std::vector<AttemptEvent> Receive(size_t) override { return std::exchange(events, {}); }
  void OnReadable(std::function<void()>) override {}

  std::shared_ptr<const HandlerOffers> offers = std::make_shared<HandlerOffers>();
  std::vector<StartHandler> starts;
  std::vector<std::pair<ClaimToken, SteadyTime>> renewed;
  std::vector<ClaimToken> cancelled;
  std::vector<std::pair<ClaimToken, std::string>> notes;
  std::vector<ClaimToken> forgotten;
  std::vector<AttemptEvent> events;
};

struct TestSpool : ResultSpool {
  Status Append(const std::vector<AttemptEnded>& results) override {
    if (full) return {ErrorCode::kExhausted, "test"};
    for (const AttemptEnded& ended : results) held.push_back(ended);
    return {};
  }
  Status Remove(const std::vector<HeldAttempt>& applied) override {
    for (const HeldAttempt& gone : applied) {
      std::erase_if(held, [&](const AttemptEnded& e) { return e.attempt.token == gone.token; });
    }
    return {};
  }
  Result<std::vector<AttemptEnded>> Load() override { return held; }
  std::vector<AttemptEnded> held;
  bool full = false;
};

struct TestUsers : ProcessUsers {
  Result<ProcessUser> Find(const std::string& name) override {
    const auto user = known.find(name);
    if (user == known.end()) return {ErrorCode::kDenied, "test"};
    return user->second;
  }
  Result<ProcessUser> Own() override { return own; }
  std::map<std::string, Result<ProcessUser>> known;
  Result<ProcessUser> own = Error{ErrorCode::kNotFound, "test"};
};

struct TestLoad : LoadSource {
  ExecutorLoad Sample() override { return {.cpu = 0.5}; }
};

class DaemonFixture : public ::testing::Test {
 protected:
  void SetUp() override { Boot(); }

  void Boot(int slots = 2, int light_slots = 4) {
    ExecutorOptions options;
    options.executor_id = ExecutorId("e1");
    options.incarnation = Incarnation("i1");
    options.tuning.slots = slots;
    options.light_slots = light_slots;
    daemon_.reset();
    if (seed_) tokens_ = std::make_unique<test::SeededTokens>(*seed_);
    settings_ = std::make_unique<LiveSettings>();  // each process has its own
    daemon_ = std::make_unique<ExecutorDaemon>(
        ExecutorDaemon::Ports{clock_, *tokens_, bus_, bus_, link_, warden_, users_, http_,
                              handlers_, spool_, load_, metrics_,
                              [this] { return std::vector{signer_.public_key()}; }, *settings_,
                              run_files_, programs_},
        options);
  }
  // Steps all loops until nothing more happens. After this, all collected messages have been sent.
  void Step() {
    for (int i = 0; i < 4; ++i) {
      for (NamedStepper& loop : daemon_->steppers()) loop.stepper->Step(clock_.Steady());
      if (i == 1) clock_.Advance(ResultSender::kGap);
    }
  }
  void StepFor(Duration time) {
    for (Duration passed{}; passed < time; passed += 100ms) {
      clock_.Advance(100ms - ResultSender::kGap);
      Step();
    }
  }
  void Join() {
    Step();
    Deliver(Registered{});
  }
  void Deliver(ToExecutor message, const std::string& member = "m1") {
    link_.incoming.push_back({MemberId(member), std::move(message)});
    Step();
  }
  TaskMessage Task(uint64_t number, JobType type = JobType::kShell) {
    TaskMessage task;
    task.key = {FromUnixMicros(1'772'323'200'000'000), ScheduleId(number), 0};
    task.job_id = JobId("job");
    task.job_no = JobNo(number);
    task.segment = SegmentId(3);
    task.def_version = 1;
    task.member = MemberId("m1");
    task.type = type;
    task.command = type == JobType::kShell ? "true" : "";
    return task;
  }
  void Publish(const std::vector<TaskMessage>& tasks) {
    PutOnBus(tasks);
    Step();
  }
  void PutOnBus(const std::vector<TaskMessage>& tasks) {
    bus_.tasks.push_back(
        SealTasks(tasks, {ExecutorId("e1"), Incarnation("i1"), clock_.Wall() + 10s}, signer_));
  }
  std::vector<ClaimRequest> Claims() {
    std::vector<ClaimRequest> requests;
    for (ClaimBatch& batch : link_.Take<ClaimBatch>()) {
      last_batch_ = batch.batch_id;
      requests.insert(requests.end(), batch.requests.begin(), batch.requests.end());
    }
    return requests;
  }
  void Answer(const ClaimRequest& request, ClaimVerdict verdict, Duration age = {},
              const std::string& member = "m1", ClaimReason reason = ClaimReason::kNone) {
    ClaimBatchReply reply;
    reply.batch_id = last_batch_;
    reply.sent_us = (clock_.Steady() - age).time_since_epoch().count();
    reply.items.push_back({request.key, request.token, verdict, reason});
    Deliver(reply, member);
  }
  // Publishes the task, lets the daemon claim it, and accepts the claim. Returns the claim.
  ClaimRequest RunToAccepted(const TaskMessage& task) {
    Publish({task});
    const auto claims = Claims();
    EXPECT_EQ(claims.size(), 1u);
    if (claims.empty()) return {};
    Answer(claims[0], ClaimVerdict::kAccepted);
    return claims[0];
  }
  HeldAttempt HeldOf(const ClaimRequest& claim) {
    return {.key = claim.key,
            .segment = claim.segment,
            .job_no = claim.job_no,
            .attempt = claim.attempt,
            .token = claim.token};
  }
  void EndInWarden(const ClaimRequest& claim) {
    AttemptEnded ended{
        HeldOf(claim), {.state = RunState::kCompleted, .exit_code = 0}, JobId("job")};
    warden_.events.push_back(AttemptStarted{ended.attempt, clock_.Wall()});
    warden_.events.push_back(ended);
    Step();
  }
  uint64_t Rejected(std::string_view why) {
    return metrics_.counter("carillon_rejected_messages_total", why).value();
  }

  test::ManualClock clock_;
  Metrics metrics_;
  TestBus bus_;
  TestLink link_;
  TestWarden warden_;
  TestUsers users_;
  TestHttp http_;
  TestHandlers handlers_;
  TestSpool spool_;
  TestLoad load_;
  RunFiles* run_files_ = nullptr;
  const ProgramBoard* programs_ = nullptr;
  Signer signer_ = Signer::Generate();
  std::unique_ptr<LiveSettings> settings_;
  std::unique_ptr<TokenSource> tokens_;
  std::unique_ptr<ExecutorDaemon> daemon_;
  uint64_t last_batch_ = 0;
  std::optional<uint64_t> seed_ = 7;  // seed of the tokens, unless the test provides them
};

}  // namespace carillon::executor
