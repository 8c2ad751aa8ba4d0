// A WorkerTable whose outgoing messages, events and records the test collects.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "executor/worker/worker_table.h"
#include "executor/worker/worker_ticket.h"

namespace carillon::executor::worker_table_test {

using Session = WorkerTable::Session;

class WorkerTableTest : public testing::Test {
 protected:
  static WorkerId Id(int64_t pid, const std::string& instance = "one") {
    return {.process = {.pid = pid, .start_ticks = 7, .boot_id = "b"}, .instance = instance};
  }
  static HeldAttempt Held(uint64_t number, int attempt = 1) {
    return {
        .key = {.fire = FromUnixMicros(1'000'000), .schedule_id = ScheduleId(number), .shard = 0},
        .segment = SegmentId(1),
        .job_no = JobNo(5),
        .attempt = attempt,
        .token = ClaimToken{number, static_cast<uint64_t>(attempt)}};
  }
  static WorkerHello Hello(int concurrency = 2, const std::string& app = "app") {
    return {.app = app, .handlers = {{"work", concurrency}}};
  }
  static StartHandler Begin(uint64_t number) {
    return {.attempt = Held(number),
            .job_id = JobId("job"),
            .handler = "app/work",
            .env = {{"SECRET", "open-sesame"}},
            .timeout = 60s,
            .lease_end = SteadyTime(20s),
            .masked = {"open-sesame"}};
  }
  WorkerTable::Now Now() const { return {SteadyTime(at_), FromUnixMicros(5'000'000) + at_}; }

  // The Runs that were sent on this stream.
  std::vector<HeldAttempt> Runs(Session session) {
    Collect();
    std::vector<HeldAttempt> runs;
    for (const StartHandler& start : sent_[session].runs) runs.push_back(start.attempt);
    sent_[session].runs.clear();
    return runs;
  }
  void Collect() {
    for (auto& [session, out] : book_.TakeOutgoing()) {
      WorkerTable::Outgoing& all = sent_[session];
      for (StartHandler& run : out.runs) all.runs.push_back(std::move(run));
      for (WorkerAsk& ask : out.asks) all.asks.push_back(std::move(ask));
      for (WorkerTicket& ticket : out.done_stored) all.done_stored.push_back(std::move(ticket));
      all.drained = all.drained || out.drained;
      for (auto& [end, tickets] : out.leases) all.leases[end] = tickets;
    }
    for (AttemptEvent& event : book_.TakeEvents()) events_.push_back(std::move(event));
  }
  void Write() {
    std::vector<AttemptId> ids;
    for (const StartRecord& record : book_.TakeRecords()) {
      records_.push_back(record);
      ids.push_back(IdOf(record.attempt));
    }
    book_.Recorded(ids);
  }
  void Start(uint64_t number) {
    book_.Start(Begin(number), Now());
    Write();
  }
  // The lines in the logs of the attempts, of all together.
  std::vector<LogEntry> Lines() {
    Collect();
    std::vector<LogEntry> lines;
    for (const AttemptEvent& event : events_) {
      const auto* output = std::get_if<AttemptOutput>(&event);
      if (output == nullptr) continue;
      const auto entries = DecodeEntries(output->chunk.entries, output->chunk.count);
      EXPECT_TRUE(entries.ok());
      if (entries.ok()) lines.insert(lines.end(), entries->begin(), entries->end());
    }
    return lines;
  }
  std::vector<AttemptEnded> Ends() {
    Collect();
    std::vector<AttemptEnded> ends;
    for (AttemptEvent& event : events_) {
      if (auto* ended = std::get_if<AttemptEnded>(&event)) ends.push_back(std::move(*ended));
    }
    events_.clear();
    return ends;
  }
  // The attempts, by their numbers, of which it was said since the last call that they are silent,
  // or are not.
  std::map<uint64_t, bool> Silences() {
    Collect();
    std::map<uint64_t, bool> silences;
    std::erase_if(events_, [&](const AttemptEvent& event) {
      const auto* word = std::get_if<AttemptSilent>(&event);
      if (word != nullptr) silences[word->attempt.key.schedule_id.value()] = word->silent;
      return word != nullptr;
    });
    return silences;
  }
  static FromWorkerMessage DoneOf(uint64_t number, RunState state = RunState::kCompleted) {
    FromWorkerMessage message;
    message.done.push_back({.ticket = TicketOf(Held(number)), .state = state});
    return message;
  }

  WorkerTable book_;
  Duration at_{};
  std::map<Session, WorkerTable::Outgoing> sent_;
  std::vector<AttemptEvent> events_;
  std::vector<StartRecord> records_;
};

}  // namespace carillon::executor::worker_table_test
