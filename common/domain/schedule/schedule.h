// Computes when a schedule fires, with the same code for planning, preview and explanation.
//
// Always   Next(after) is the earliest fire strictly after `after`, independent of the current
//          time. No fire lies before 1970, nor after 2299 (cron) or the range of a RunKey (others),
//          nor outside [start, end) of the spec, nor at a time that its calendars exclude: an
//          excluded fire is no fire.
// Errors   Compile: kInvalid with the reason and, for cron text, the position. Its pointer is the
//          field of the spec ("/cron_expression", "/time_zone", "/every_ms", "/end_time").
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/domain/calendar/calendar.h"
#include "common/domain/schedule/schedule_spec.h"

namespace carillon {

// A remark that a preview shows beside the time of a fire.
enum class DstNote { kNone, kMovedByGap, kRepeated };

// One fire of a schedule.
struct Fire {
  WallTime time;
  DstNote note = DstNote::kNone;
};

// A compiled schedule. Immutable, cheap to copy, safe to share between threads.
class Schedule {
 public:
  // `calendars` are those that the spec names. Without them the names have no effect, which is
  // right only where a spec is checked.
  static Result<Schedule> Compile(const ScheduleSpec& spec, DstGap gap, DstRepeat repeat,
                                  ScheduleCalendars calendars = {});

  // The earliest fire strictly after `after`, or nullopt if there is none (once, manual, a date
  // that never occurs). Of a delay schedule only the first fire is known, and only if it has a
  // start in the future: the others follow the ends of its runs (run/completion.h). Bounded work:
  // cron gives up 100 years after `after`, and a schedule with a calendar after kCalendarLook.
  std::optional<Fire> Next(WallTime after) const;

  // The number of fires in [from, until). Exact, and fast for any number: computed by months (cron)
  // or by division (rate).
  int64_t Count(WallTime from, WallTime until) const;

  // The fire at or after `from` with exactly `skipped` >= 0 fires between `from` and itself;
  // nullopt if the schedule ends before it.
  std::optional<WallTime> Nth(WallTime from, int64_t skipped) const;

  ScheduleKind kind() const;
  // The most by which a run may be due after its fire; see jitter.h. Zero: due at its fire.
  Duration jitter() const;

  // One English sentence, e.g. "At 02:30 on Monday to Friday, Europe/Paris time".
  std::string Explain() const;

 private:
  class Impl;
  explicit Schedule(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;  // shared: immutable, copied into every planner's cache
};

}  // namespace carillon
