// One change of a job, inside its transaction: the job's row, its schedules and its unclaimed runs
// change together (P8 of docs/semantics.md). This class orders the steps and writes the rows;
// DecidePendingEffect decides what happens to a run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/adapters/mysql/rows/job_rows.h"
#include "common/adapters/mysql/rows/run_rows.h"
#include "common/adapters/mysql/rows/schedule_rows.h"
#include "common/adapters/mysql/schema/incarnations.h"

namespace carillon::mysql {

class JobEdit {
 public:
  // Locks the job, its schedules and its open runs, in this order (see mysql_firing_store.h).
  static Result<JobEdit> Begin(Session& session, const JobId& id, const WriteContext& context,
                               Incarnations& incarnations);

  const StoredJobRow& job() const { return job_; }
  StoredJob ToStored() const;

  // `ids`: as many unused numbers as there may be new schedules.
  void Replace(const JobDefinition& definition, std::vector<ScheduleId> ids);
  void Pause(const std::string& reason);
  // Changes the reason of a job that is already paused.
  void ExplainPause(const std::string& reason);
  void Resume();
  void Delete();

  Status Write(Session& session);

 private:
  struct Place {
    StoredScheduleRow row;
    WallTime next;  // the first fire that is neither planned nor in a gap
    bool added = false;
  };
  struct Pending {
    StoredRun run;
    bool erased = false;
    bool held_back = false;  // due = kNever
    bool released = false;   // due = now
    std::optional<RunState> ended = {};
    std::string_view reason = {};
  };

  JobEdit(Incarnations& incarnations, WriteContext context)
      : incarnations_(incarnations), context_(std::move(context)) {}
  static JobDefinition RulesOf(const Place& place, const JobDefinition& definition);
  Status LoadOpenRuns(Session& session);
  Status LoadPastRecall(Session& session);
  void NextVersion();
  void ChangePending(JobChange change, std::string_view why);
  bool Unplan(const RunKey& key);
  void PauseRuns(const std::string& reason);
  void ResumeSchedules();
  void Remove(Place& place, const JobDefinition& definition, GapReason reason);
  void Fill(Place& place) const;
  Status WriteSchedules(Session& session);
  Status WriteRuns(Session& session);
  Status TakeSlots(Session& session);

  Incarnations& incarnations_;
  const WriteContext context_;
  StoredJobRow job_;
  OverlapPolicy old_overlap_ = OverlapPolicy::kAllow;
  std::vector<Place> places_;  // in the definition's order
  std::vector<ScheduleId> removed_;
  std::vector<PlannedGap> gaps_;
  std::vector<Pending> pending_;
  std::vector<StoredRun> active_;  // RUNNING, HELD
  // The last fire of each schedule that cannot be unplanned: it is after `now`, but its run is no
  // longer merely planned.
  std::map<ScheduleId, WallTime> past_recall_;
};

}  // namespace carillon::mysql
