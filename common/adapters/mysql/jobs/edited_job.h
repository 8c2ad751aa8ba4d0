// The rows that an edit of a job changes together, in one transaction: its own row, its schedules
// and its unclaimed runs (P8 of docs/semantics.md).
//
// Place    mysql_job_store locks the rows with LockEdited, job_edit decides what becomes of them,
//          and WriteEdited writes the result.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/adapters/mysql/dependencies/workflow_groups.h"
#include "common/adapters/mysql/job_rows/calendar_rows.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/job_rows/schedule_rows.h"
#include "common/adapters/mysql/jobs/kept_parameters.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/schema/incarnations.h"

namespace carillon::mysql {

struct EditedSchedule {
  StoredScheduleRow row = {};
  WallTime next = {};  // the first fire that is neither planned nor in a gap
  bool added = false;
  ScheduleCalendars calendars = {};
};

// A PENDING run of the job.
struct EditedRun {
  StoredRun run;
  bool erased = false;
  bool held_back = false;  // due = kNever
  bool released = false;   // due = now
  std::optional<RunState> ended = {};
  std::string_view reason = {};
};

struct EditedJob {
  StoredJobRow job = {};
  std::string old_owner = {};
  OverlapPolicy old_overlap = OverlapPolicy::kAllow;
  int64_t old_queue_timeout_s = 0;
  GroupNo old_group = {};
  GroupNo new_group = {};                      // after a Replace
  GroupNumbers groups = {};                    // those that the new definition names
  std::vector<EditedSchedule> schedules = {};  // in the order of the definition
  std::vector<ScheduleId> removed = {};
  KeptFacts kept = {};  // after a Replace
  std::vector<PlannedGap> gaps = {};
  std::vector<EditedRun> pending = {};
  std::vector<StoredRun> active = {};  // RUNNING, HELD
  // By schedule: the latest fire after `now` that cannot be unplanned, because its run is no longer
  // PENDING in its first attempt, or a backfill runs it.
  std::map<ScheduleId, WallTime> past_recall = {};
  // The calendars that the present and the next definition name, locked.
  std::shared_ptr<const CalendarSet> calendars = {};
};

// Locks the job, its schedules, the groups that the new definition names, the calendars that either
// definition names, and the open runs of the job, in this order (see mysql_firing_store.h).
// `replacement`: null if the definition does not change. kNotFound: the job does not exist or is
// deleted. kInvalid: there is no such group.
Result<EditedJob> LockEdited(Session& session, const JobId& id, const JobDefinition* replacement,
                             WallTime now, Incarnations& incarnations);

// Writes everything that the edit has changed, as a new version of the job. Copies from the job the
// values that schedules and runs repeat.
Status WriteEdited(Session& session, EditedJob& edited, const WriteContext& context);

}  // namespace carillon::mysql
