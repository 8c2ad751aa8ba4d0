// The people at the API: creates, edits, pauses, resumes, deletes, runs, cancels and retries at
// random, and remembers what was acknowledged.
//
// Errors   Some of its calls fail or have an unknown outcome; then it reads again before it
//          believes anything, as the API does.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/adapters/memory/memory_store.h"
#include "common/base/rng.h"
#include "tests/sim/checker.h"
#include "tests/sim/history.h"

namespace carillon::sim {

struct ActorProfile {
  int jobs_max = 8;
  double failing_calls = 0.05;
  bool long_runs = true;      // some beyond a lease
  bool about_leases = false;  // slow schedules of processes that all outlive a lease
  bool failing_runs = true;   // exits, time-outs, retries
  bool edits = true;
  bool strict_misfire = false;  // every fire must run: policy all, without bounds that matter
};

class Actor {
 public:
  struct Ports {
    memory::MemoryStore& store;
    Checker& checker;
    std::function<WallTime()> now;
    std::function<void(const ChangedWork&)> nudge;  // what the member that took the call does
    std::vector<ExecutorId> executors;
    Rng rng;
  };
  Actor(Ports ports, ActorProfile profile) : p_(std::move(ports)), profile_(profile) {}

  // Makes the first jobs.
  void Begin();
  // One random deed.
  void Act();
  // Nobody touches anything any more: all jobs resumed, all executors enabled.
  void Calm();
  // Removes every schedule, so that what is due can come to its end.
  void EndSchedules();

  const History& history() const { return history_; }
  size_t deeds() const { return deeds_; }

 private:
  // What a failing call does: nothing, or everything but the answer.
  enum class CallOutcome { kAnswered, kNothingDone, kAnswerLost };
  CallOutcome NextOutcome();
  // Writes, and believes the outcome only when it can know it.
  void WriteJob(const JobId& id, const std::function<Result<StoredJob>(WallTime)>& write);
  void Believe(const StoredJob& job, WallTime now);

  JobDefinition NewDefinition();
  ScheduleSpec NewSchedule();
  std::string NewCommand();
  void Create();
  void Edit(const StoredJob& job);
  void Delete(const StoredJob& job);
  void Execute(const StoredJob& job);
  void CancelSomething(const StoredJob& job);
  void RetrySomething();
  void ToggleExecutor();
  std::vector<StoredJob> Jobs();
  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[p_.rng.Below(from.size())];
  }

  Ports p_;
  const ActorProfile profile_;
  History history_;
  int made_ = 0;
  size_t deeds_ = 0;
};

}  // namespace carillon::sim
