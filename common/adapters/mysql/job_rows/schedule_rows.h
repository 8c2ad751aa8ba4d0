// Rows of job_schedules: read for planning, written with their job.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/ports/store/firing_store.h"
#include "common/ports/store/job_store.h"

namespace carillon::mysql {

// The number in id_blocks that each write of a schedule of kind event raises, in its transaction.
// Its lock is held until the commit. So a caller that reads the same number twice has seen, in
// between, every trigger that was committed before the first look.
inline constexpr std::string_view kEventTriggerSequence = "event_trigger";

// A schedule as stored. If its job is paused, `due.next_fire` is kNever and `resume_from` holds the
// first fire that is not planned; otherwise resume_from is unused.
struct StoredScheduleRow {
  DueSchedule due;
  WallTime resume_from = WallTime{};
  // A delay schedule: the fire whose run it waits for; zero = none. `due.next_fire` is kNever then.
  WallTime awaited = WallTime{};
  uint32_t position = 0;

  // The first fire that is neither planned nor in a gap; kNever = none.
  WallTime place(bool enabled) const { return enabled ? due.next_fire : resume_from; }
  void set_place(WallTime place, bool enabled) {
    due.next_fire = enabled ? place : kNever;
    resume_from = enabled ? WallTime{} : place;
  }
};

// The columns that ReadSchedule reads. The names of the calendars are not among them, only their
// numbers. The query must give their table the alias s.
extern const std::string kScheduleColumns;
// `due.readable` is false if a column holds a value that this version does not know.
StoredScheduleRow ReadSchedule(const Session& session, const Rows& rows);

Result<std::vector<StoredScheduleRow>> LockSchedules(Session& session, JobNo job_no);
// As LockSchedules, in share mode: nobody moves or removes them meanwhile.
Result<std::vector<StoredScheduleRow>> ShareSchedules(Session& session, JobNo job_no);
Status InsertSchedules(Session& session, const std::vector<StoredScheduleRow>& rows);
// Writes every column except the spec and the numbers of the calendars, which never change.
Status UpdateSchedules(Session& session, const std::vector<StoredScheduleRow>& rows);
Status DeleteSchedules(Session& session, const std::vector<ScheduleId>& ids);

// Defined in plan_rows.cc.
Status InsertGaps(Session& session, const std::vector<PlannedGap>& gaps);

}  // namespace carillon::mysql
