// Fixture with a real warden in its own directory, and a client (as in the daemon) connected to it.
#pragma once

#include <signal.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/adapters/system/system_clock.h"
#include "executor/warden/client/warden_client.h"
#include "tests/support/process_wait.h"

namespace carillon::executor {

// A start must happen at least 3 s before the lease ends, so this leaves 2.5 s on a busy machine.
inline constexpr Duration kShortLease = 5500ms;

class WardenFixture : public ::testing::Test {
 protected:
  void SetUp() override { Attach(); }
  void TearDown() override {
    if (client_ == nullptr) Attach();
    ASSERT_TRUE(WaitAttached());  // otherwise a warden that still starts would be left over
    const pid_t warden = pid();
    Detach();
    if (warden <= 0) return;
    kill(warden, SIGTERM);
    EXPECT_TRUE(test::WaitUntil([&] { return !test::ProcessAlive(warden); }));
  }

  void Attach() {
    client_ = std::make_unique<WardenClient>(
        WardenClient::Options{.directory = directory(),
                              .executable = test::BuiltExecutable(executable_),
                              .run_directory = run_directory_,
                              .idle_exit = idle_exit_},
        clock_, metrics_);
    ASSERT_TRUE(WaitAttached());
  }
  void Detach() { client_.reset(); }
  bool WaitAttached() {
    return test::WaitUntil([this] { return client_->warden_pid() > 0; });
  }
  std::string directory() const { return scratch_ / directory_name_; }
  pid_t pid() const { return static_cast<pid_t>(client_->warden_pid()); }

  // Returns a start of `command` with default values, which the test may change.
  StartAttempt Command(const std::string& command) {
    StartAttempt start;
    start.attempt.key = {.fire = FromUnixMicros(1'772'323'200'000'000 + ++made_),
                         .schedule_id = ScheduleId(7)};
    start.attempt.job_no = JobNo(7);
    start.attempt.token = {.high = 1, .low = made_};
    start.job_id = JobId("job-7");
    start.command = command;
    start.env = {{"PATH", "/usr/bin:/bin"},
                 {"CARILLON_RUN_ID", EncodeRunId(start.attempt.key)},
                 {"CARILLON_ATTEMPT", "1"}};
    start.lease_end = clock_.Steady() + 60s;
    return start;
  }

  void Pump() {
    for (AttemptEvent& event : client_->Receive(1000)) {
      if (auto* started = std::get_if<AttemptStarted>(&event)) {
        ++starts_[NameOf(started->attempt)];
      } else if (auto* output = std::get_if<AttemptOutput>(&event)) {
        logs_[NameOf(output->attempt)].push_back(std::move(output->chunk));
      } else {
        auto& ended = std::get<AttemptEnded>(event);
        ++end_counts_[NameOf(ended.attempt)];
        ends_[NameOf(ended.attempt)] = std::move(ended);
      }
    }
  }
  bool Ended(const HeldAttempt& held) {
    Pump();
    return ends_.count(NameOf(held)) > 0;
  }
  bool Started(const HeldAttempt& held) {
    Pump();
    return starts_.count(NameOf(held)) > 0;
  }
  // Starts the attempt and waits for its end. Returns LOST without a reason if no end arrived.
  AttemptResult Run(const StartAttempt& start) {
    EXPECT_TRUE(client_->Start(start).ok());
    return End(start);
  }
  AttemptResult End(const StartAttempt& start, Duration deadline = test::kPatience) {
    const bool came = test::WaitUntil([&] { return Ended(start.attempt); }, deadline);
    EXPECT_TRUE(came) << "no end of " << start.command;
    return came ? ends_[NameOf(start.attempt)].result : AttemptResult{.state = RunState::kLost};
  }
  bool WaitForFile(const std::string& path) {
    return test::WaitUntil([&] { return !test::ReadFile(path).empty(); });
  }

  SystemClock clock_;
  Metrics metrics_;
  test::ScratchDirectory scratch_;
  Duration idle_exit_ = 60s;
  std::string run_directory_ = {};
  std::string directory_name_ = "warden";
  std::string executable_ = "carillon-warden";
  std::unique_ptr<WardenClient> client_;
  uint64_t made_ = 0;
  std::map<AttemptName, int> starts_;
  std::map<AttemptName, int> end_counts_;
  std::map<AttemptName, AttemptEnded> ends_;
  std::map<AttemptName, std::vector<LogChunk>> logs_;  // the reported pieces of logs
};

}  // namespace carillon::executor
