// One schedule of a job as its owner wrote it, and the choices that decide its fires.
//
// Place    Part of JobDefinition; Schedule::Compile reads it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon {

// The effect on fires that are overdue by more than the grace.
enum class MisfirePolicy { kSkip, kLatest, kAll };
// The effect on a fire whose local time does not exist, because the clock jumps over it.
enum class DstGap { kFire, kSkip };  // kFire: once, right after the jump
// The effect on a fire whose local time occurs twice. kAuto: it fires once, the first time, if the
// schedule restricts the hour; otherwise both times.
enum class DstRepeat { kAuto, kBoth, kEarly, kLate };

enum class ScheduleKind { kCron, kRate, kOnce, kManual, kDelay, kAfter, kEvent };

// The ends of another job's run that start one of a schedule of kind kAfter (run/dependents.h).
enum class AfterOutcome { kSuccess, kFailure, kDone };

// The longest jitter: no run is due later after its fire.
inline constexpr Duration kJitterMax = 1h;

using ParameterValue = std::variant<std::string, int64_t, double, bool>;

// One schedule of a job. `kind` determines which fields are used.
struct ScheduleSpec {
  ScheduleKind kind = ScheduleKind::kManual;
  std::string cron_expression = {};  // kCron
  std::string time_zone = "UTC";     // kCron: IANA name
  // kRate: between two fires. kDelay: from the end of a run to the next fire. Whole milliseconds.
  Duration every = {};
  // kCron: no fire lies before it. kRate: the first fire; the fires are start + n * every. kDelay:
  // the first fire; a zero or past time: at once.
  WallTime start = WallTime{};
  WallTime end = kNever;     // kCron, kRate: no fire lies at or after it
  Duration jitter = {};      // kCron, kRate: spreads the starts (jitter.h); 0 to 1 h, whole seconds
  WallTime at = WallTime{};  // kOnce
  // kCron: seed of the fields H, derived from the job's id (common/domain/job/spread.h). 0: the
  // expression has none, or the job is not known.
  uint64_t spread = 0;
  std::string calendar = {};  // kCron, kRate: it fires only in this calendar; "" = always
  std::string blackout = {};  // kCron, kRate: it never fires in this calendar; "" = none
  std::string upstream = {};  // kAfter: the job_id of the job whose ends start a run
  AfterOutcome on = AfterOutcome::kSuccess;  // kAfter: which of its ends
  // kEvent: the type of the events that start a run: the whole of it ("order.created"), or its
  // beginning and a star ("order.*", "*").
  std::string event_type = {};
  std::string event_source = {};  // kEvent: the whole source; "" = any
  // kEvent: a condition on the event (workflow/condition.h); "" = none.
  std::string filter = {};
  std::map<std::string, ParameterValue> parameters = {};  // override those of the job

  bool operator==(const ScheduleSpec&) const = default;
};

// True if the schedule says by itself when it fires: cron, rate, once.
bool HasTimes(ScheduleKind kind);

// The parameters that the schedule adds to each of its runs. None for kEvent: its runs keep all of
// theirs, which are made from the event.
const std::map<std::string, ParameterValue>& FixedParametersOf(const ScheduleSpec& spec);

// True if both differ at most in what their runs do, not in when they fire.
bool FireAlike(const ScheduleSpec& a, const ScheduleSpec& b);

// Stable lower-case names as in REST ("latest"); parsing is case-sensitive, kInvalid otherwise.
std::string_view Name(MisfirePolicy value);
std::string_view Name(DstGap value);
std::string_view Name(DstRepeat value);
std::string_view Name(ScheduleKind value);
std::string_view Name(AfterOutcome value);
template <typename Enum>
Result<Enum> ParseName(std::string_view text);  // specialised for each enum
template <>
Result<MisfirePolicy> ParseName(std::string_view text);
template <>
Result<DstGap> ParseName(std::string_view text);
template <>
Result<DstRepeat> ParseName(std::string_view text);
template <>
Result<ScheduleKind> ParseName(std::string_view text);
template <>
Result<AfterOutcome> ParseName(std::string_view text);

}  // namespace carillon
