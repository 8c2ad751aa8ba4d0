// One change of a job: decides the changes of the job's row, its schedules and its unclaimed runs.
// DecidePendingEffect makes the decision for each run. Pure.
//
// Place    Between LockEdited and WriteEdited, inside a transaction of mysql_job_store.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/adapters/mysql/jobs/edited_job.h"

namespace carillon::mysql {

class JobEdit {
 public:
  // `now` is cluster time.
  JobEdit(EditedJob rows, WallTime now) : rows_(std::move(rows)), now_(now) {}

  const StoredJobRow& job() const { return rows_.job; }
  StoredJob ToStored() const;
  // The changed rows, for WriteEdited.
  EditedJob& rows() { return rows_; }

  // `ids`: unused schedule numbers, one for each schedule of `definition`. kInvalid with a pointer:
  // a schedule names a calendar that does not exist.
  Status Replace(const JobDefinition& definition, std::vector<ScheduleId> ids);
  void Pause(const std::string& reason);
  // The same, because its runs fail (StreakStore).
  void PauseByFailures(const std::string& reason);
  // Changes the reason of a job that is already paused.
  void ExplainPause(const std::string& reason);
  void Resume();
  void Delete();

 private:
  void NextVersion();
  void ChangePending(JobChange change, std::string_view why);
  void ChangeWaits();
  bool Unplan(const RunKey& key);
  void PauseRuns(const std::string& reason);
  void ResumeSchedules();
  void Remove(EditedSchedule& schedule, const JobDefinition& definition, GapReason reason);

  EditedJob rows_;
  WallTime now_;
};

}  // namespace carillon::mysql
