// Plays users who ask for whatever the API offers, in any order: more kinds of requests than the
// simulator's own users know, sensible or not. Its jobs are short and often fail.
//
// Always   Draws from a random stream of its own, so that the world around it stays as it is.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/rng.h"
#include "common/ports/store/stores.h"

namespace carillon::test {

class Explorer {
 public:
  using Nudge = std::function<void(const ChangedWork&)>;
  Explorer(const Stores& stores, uint64_t seed);

  // Makes one random request.
  void Act(WallTime now, const Nudge& nudge);

 private:
  struct Deed {
    int weight = 0;
    void (Explorer::*act)() = nullptr;
  };
  static const std::vector<Deed>& Deeds();

  // explorer_jobs.cc
  JobDefinition NewDefinition();
  ScheduleSpec NewSchedule();
  UpstreamWait NewWait(const std::vector<StoredJob>& jobs);
  void Create();
  void Import();
  void Edit();
  void PauseOrResume();
  void Delete();
  void ReadJobs();
  void ChangeGroup();
  void ChangeCalendar();

  // explorer_nodes.cc
  WorkflowDefinition NewWorkflow(const std::vector<StoredJob>& jobs);
  WorkflowNode NewNode(const std::vector<StoredJob>& jobs);
  RunRules NewRules();
  void DecideNode();

  // explorer_runs.cc
  void Execute();
  void Cancel();
  void CancelJob();
  void Retry();
  void RetryWorkflow();
  void SkipNode();
  void Release();
  void DeadLetters();
  void ReadRuns();
  void ReadMoreRuns();
  void StartBackfill();
  void ControlBackfill();
  void Save();
  std::vector<RunDetail> Runs();

  // explorer_events.cc
  ScheduleSpec NewTrigger();
  Event NewEvent();
  void SendEvents();
  void ReadEvents();

  // explorer_records.cc
  void BeginBulk();
  void WorkOnBulk();
  void ReadBulk();
  void ChangeExecutor();
  void Logs();
  void Audits();
  void Secrets();
  void Users();
  void Notices();

  std::vector<StoredJob> Jobs();
  std::optional<StoredJob> AnyJob();
  WriteContext Context();
  void Changed(const StoredJob& job);

  bool Chance(double chance) { return rng_.Chance(chance); }
  uint64_t Below(uint64_t limit) { return rng_.Below(limit); }
  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[rng_.Below(from.size())];
  }
  template <typename T>
  std::vector<T> Some(const std::vector<T>& from, double chance) {
    std::vector<T> some;
    for (const T& one : from) {
      if (Chance(chance)) some.push_back(one);
    }
    return some;
  }

  Stores s_;
  Rng rng_;
  WallTime now_{};
  const Nudge* nudge_ = nullptr;
  int made_ = 0;  // names of jobs, keys and tokens
};

}  // namespace carillon::test
