// Computes when a schedule fires: the same code for planning, preview and explanation.
//
// Always   Next(after) is the least fire strictly after `after`; never "now"-dependent.
//          No fire lies before 1970 or, of cron, after 2299; of the others, after what a RunKey
//          holds.
// Errors   Compile: kInvalid with the reason and, for cron text, the position; its pointer is the
//          field of the spec ("/cron_expression", "/time_zone", "/every_ms").
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/domain/job.h"

namespace carillon {

// What a preview says about a fire beside its time.
enum class DstNote { kNone, kMovedByGap, kRepeated };

struct Fire {
  WallTime time;
  DstNote note = DstNote::kNone;
};

// A schedule ready to be asked. Immutable and cheap to copy; safe to share between threads.
class Schedule {
 public:
  static Result<Schedule> Compile(const ScheduleSpec& spec, DstGap gap, DstRepeat repeat);

  // The least fire strictly after `after`, or nullopt when there is none (once, manual, a date
  // that never comes). Bounded work: cron gives up 100 years after `after`.
  std::optional<Fire> Next(WallTime after) const;

  // The number of fires in [from, until). Exact and quick however many they are: arithmetic by
  // months (cron) or by division (rate).
  int64_t Count(WallTime from, WallTime until) const;

  // The fire at or after `from` that has `skipped` >= 0 fires between `from` and itself; nullopt
  // where there are not so many before the end of time that a schedule knows.
  std::optional<WallTime> Nth(WallTime from, int64_t skipped) const;

  ScheduleKind kind() const;

  // One English sentence, e.g. "At 02:30 on Monday to Friday, Europe/Paris time".
  std::string Explain() const;

 private:
  class Impl;
  explicit Schedule(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;  // shared: immutable, copied into every planner's cache
};

}  // namespace carillon
