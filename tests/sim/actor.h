// Plays the users of the API: creates, edits, pauses, resumes and deletes jobs, and runs, cancels
// and retries runs, at random. Remembers the changes that were acknowledged.
//
// Errors   Some of its calls fail or have an unknown outcome. Then the actor reads the object again
//          before it assumes anything, as the API does.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/rng.h"
#include "common/ports/store/stores.h"
#include "tests/sim/calendar_log.h"
#include "tests/sim/checker.h"
#include "tests/sim/events_check.h"
#include "tests/sim/history.h"

namespace carillon::sim {

struct ActorProfile {
  int jobs_max = 8;
  double failing_calls = 0.05;
  bool long_runs = true;      // some runs last longer than a lease
  bool about_leases = false;  // few fires, and every run lasts longer than a lease
  bool failing_runs = true;   // non-zero exits, timeouts, retries
  bool edits = true;
  bool groups = false;       // jobs name concurrency groups, whose limits change
  bool group_times = false;  // with `groups`: so do the times after which slots are given again
  bool delays = false;       // the first schedule of each job is a delay schedule
  bool dependents = false;   // half of the jobs start after an earlier job, some in chains
  bool scripts = false;      // half of the jobs are scripts, and failures are retried selectively
  bool workflows = false;    // a third of the jobs are workflows of earlier ones
  bool nested = false;       // with `workflows`: workflows of workflows
  bool lost_nodes =
      false;          // with `workflows`: small ones, whose nodes' processes outlast their leases
  uint64_t seed = 0;  // of what is not drawn from the actor's generator
  bool approvals = false;       // with `workflows`: nodes wait for a person or a time
  bool finally = false;         // with `workflows`: finally nodes, and rules that count successes
  bool tasks = false;           // with `workflows`: tasks, and nodes with rules of their own
  bool mapped = false;          // with `workflows`: nodes run once for each item of a list
  bool parts = false;           // most jobs have shards or a broadcast
  bool streaks = false;         // jobs are paused after failures, and many runs fail
  bool waits = false;           // most jobs wait for runs of earlier ones
  bool events = false;          // events start most jobs
  bool calendars = false;       // half of the schedules obey a calendar, which is edited
  bool strict_misfire = false;  // every fire must run: policy all, with limits that never apply
};

class Actor {
 public:
  struct Ports {
    Stores stores;
    Checker& checker;
    EventsCheck& events;
    std::function<WallTime()> now;
    std::function<void(const ChangedWork&)> nudge;  // as the API does after a call
    std::vector<ExecutorId> executors;
    Rng rng;
  };
  Actor(Ports ports, ActorProfile profile) : p_(std::move(ports)), profile_(profile) {}

  // Creates the first jobs.
  void Begin();
  // Makes one random change.
  void Act();
  // Ends all changes: resumes all jobs and enables all executors.
  void Calm();
  // Somebody decides about the runs that are HELD, which would hold up their workflows for ever.
  void GiveUpHeld();
  // Releases all runs that wait for runs of other jobs.
  void ReleaseAll();
  // Approves what waits for a person, and skips waits for a time of the day.
  void DecideAll();
  // Removes every schedule, so that due runs can finish and no new ones become due.
  void EndSchedules();
  // Gives each group more slots than runs of it are HELD, at any time, so that all others come to
  // an end.
  void MakeRoomInGroups();

  const History& history() const { return history_; }
  const CalendarLog& calendars() const { return calendars_; }
  size_t deeds() const { return deeds_; }

 private:
  // A failing call either does nothing, or takes effect while its answer is lost.
  enum class CallOutcome { kAnswered, kNothingDone, kAnswerLost };
  CallOutcome NextOutcome();
  // Calls `write` and records its outcome, but only when the outcome is certain.
  void WriteJob(const JobId& id, const std::function<Result<StoredJob>(WallTime)>& write);
  void Believe(const StoredJob& job, WallTime now);

  JobDefinition NewDefinition();
  void ChooseOverlap(JobDefinition& job);
  void ChooseGroup(JobDefinition& job) const;
  void SetLimit(const std::string& group, int64_t limit, Duration per);
  Duration TimeOfGroup() const;
  ScheduleSpec NewSchedule();
  ScheduleSpec NewDelay();
  void BecomeScript(JobDefinition& job) const;
  void StartAfterOthers(JobDefinition& job) const;
  void BecomeWorkflow(JobDefinition& job, const std::vector<StoredJob>& others) const;
  // actor_nodes.cc
  struct OpenNode {
    RunRow own;
    WorkflowNode node;
  };
  void SkipSomeNode();
  void Skip(const RunRow& own, const std::string& node, const std::string& user);
  static void WaitInNodes(WorkflowDefinition& workflow, Rng& rng);
  static void AddFinallyNodes(WorkflowDefinition& workflow, const std::vector<JobId>& jobs,
                              Rng& rng);
  std::vector<OpenNode> OpenNodes();
  void Decide(const OpenNode& open, Decision decision, const std::string& user);
  void DecideSomething();
  void FanOut(JobDefinition& job) const;
  void FailInARow(JobDefinition& job) const;
  void WaitForOthers(JobDefinition& job, const JobId& id);
  void Release(const RunKey& key);
  void ReleaseSomething();
  // actor_events.cc
  ScheduleSpec NewTrigger();
  void ChangeTrigger(ScheduleSpec& spec);
  void ListenToEvents(JobDefinition& job);
  void ChangeListening(JobDefinition& edited, const JobDefinition& before);
  std::string NewEvent(int number);
  void SendEvents();
  void Send(const EventPost& post, CallOutcome outcome);
  void SendUnknownEvents();
  void PreferFires(std::vector<RunRow>& open) const;
  void ChooseParts(const RunRow& row, RetryRequest& request) const;
  ScheduleSpec WithWindowAndJitter(ScheduleSpec spec) const;
  std::string NewCommand();
  void Create();
  void Edit(const StoredJob& job);
  void Delete(const StoredJob& job);
  void Execute(const StoredJob& job);
  void CancelSomething(const StoredJob& job);
  void RetrySomething();
  void ToggleExecutor();
  void PutCalendar();
  std::vector<StoredJob> Jobs();
  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[p_.rng.Below(from.size())];
  }

  Ports p_;
  const ActorProfile profile_;
  History history_;
  CalendarLog calendars_;
  int made_ = 0;
  size_t deeds_ = 0;
  int events_made_ = 0;
  std::vector<EventPost> sent_posts_;     // that were answered
  std::vector<EventPost> unknown_posts_;  // that were not
};

}  // namespace carillon::sim
