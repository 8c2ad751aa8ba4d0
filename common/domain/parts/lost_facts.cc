#include "common/domain/parts/lost_facts.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/domain/job/fire_zone.h"
#include "common/domain/run_id.h"
#include "common/domain/template/job_templates.h"
#include "common/domain/template/parameter_dates.h"

namespace carillon {
namespace {

// The schedule of that version that made the run is no longer known, so it may have been any.
bool HasLostParameters(const RunOfVersion& run) {
  if (!run.of_schedule || run.schedule != nullptr) return false;
  if (run.given.event) return false;  // its parameters were made of the event, and are all stored
  if (run.then == nullptr) return true;
  return std::ranges::any_of(run.then->schedules, [&](const ScheduleSpec& spec) {
    return std::ranges::any_of(FixedParametersOf(spec), [&](const auto& one) {
      return !run.given.values.contains(one.first);
    });
  });
}

bool HasLostZone(const RunOfVersion& run) {
  if (!run.given.time_zone.empty()) return false;
  if (!UsesFireDate(*run.now) && !HasDates(run.given.values)) return false;
  if (run.then == nullptr) return true;
  const std::string& zone = FireZone(*run.now, run.schedule);
  if (FireZone(*run.then, run.schedule) != zone) return true;
  if (!run.of_schedule || run.schedule != nullptr || run.given.event) return false;
  return std::ranges::any_of(run.then->schedules, [&](const ScheduleSpec& spec) {
    return FireZone(*run.then, &spec) != zone;
  });
}

}  // namespace

Status CheckLostFacts(const RunRow& row, const RunOfVersion& run) {
  const auto lost = [&](std::string_view what) {
    return Error{ErrorCode::kConflict,
                 fmt::format("retry: run {} is {}, and its job has lost {}; run the job instead",
                             EncodeRunId(row.key), Name(row.state), what)};
  };
  if (HasLostParameters(run)) return lost("the schedule and with it the parameters of the run");
  if (HasLostZone(run)) return lost("the time zone in which the run told the date of its fire");
  return {};
}

}  // namespace carillon
