// The fires of schedules, as planning reads and writes them (FiringStore::ScanDue, Plan).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/domain/calendar/calendar_set.h"
#include "common/domain/job/misfire.h"
#include "common/domain/run/run.h"

namespace carillon {

// A schedule with unplanned fires at or before the horizon of the scan.
struct DueSchedule {
  ScheduleId schedule_id;
  JobNo job_no;
  SegmentId segment;
  int64_t version = 0;      // of the schedule; increases with any edit of its job
  int64_t job_version = 0;  // written to the runs
  WallTime next_fire;       // the first unplanned fire
  ScheduleSpec spec;
  DstGap dst_gap = DstGap::kFire;
  DstRepeat dst_repeat = DstRepeat::kAuto;
  MisfireRules misfire;
  int priority = 0;
  CalendarNumbers calendars = {};
  int64_t calendar_version = 0;  // by which `next_fire` was computed; 0 without calendars
  uint32_t run_flags = 0;        // run_flag of each of its runs, because others wait for its job
  bool readable = true;          // false: this version cannot read the row
};

// A run to insert.
struct PlannedRun {
  RunKey key;
  JobNo job_no;
  SegmentId segment;
  RunKind kind = RunKind::kCron;
  WallTime due;
  int priority = 0;
  int64_t def_version = 0;
  uint32_t flags = 0;  // run_flag
  uint32_t shard_total = 1;
};

// Moves a schedule to its next unplanned fire.
struct ScheduleAdvance {
  ScheduleId schedule_id;
  SegmentId segment;
  int64_t version = 0;     // must match
  WallTime expected_next;  // must match
  WallTime next_fire;      // kNever = no more fires
  // The fire whose run a delay schedule awaits from now on; zero = none.
  WallTime awaited = WallTime{};
  int64_t calendar_version = 0;  // of the calendars by which it was computed: must match
  // Set: the fire was computed anew, and this becomes the version.
  std::optional<int64_t> new_calendar_version = {};
};

struct PlannedGap {
  ScheduleId schedule_id;
  JobNo job_no;
  GapRange range;
};

// The result of planning some schedules, written in one transaction.
struct PlanBatch {
  std::vector<PlannedRun> runs;
  std::vector<ScheduleAdvance> advances;
  std::vector<PlannedGap> gaps;
};

}  // namespace carillon
