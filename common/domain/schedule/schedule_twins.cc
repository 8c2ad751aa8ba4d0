#include "common/domain/schedule/schedule_twins.h"

#include <fmt/format.h>

#include "common/domain/cron/cron.h"

namespace carillon {
namespace {

bool AreTwins(const ScheduleSpec& a, const ScheduleSpec& b) {
  if (a.kind != ScheduleKind::kCron) return a == b;
  ScheduleSpec as_b = a;
  as_b.cron_expression = b.cron_expression;
  as_b.spread = b.spread;
  if (as_b != b) return false;
  const auto one = ParseCron(a.cron_expression, a.spread);
  const auto other = ParseCron(b.cron_expression, b.spread);
  if (!one.ok() || !other.ok()) return a == b;
  return CronPattern(*one) == CronPattern(*other);
}

}  // namespace

std::vector<ScheduleTwin> FindTwins(const std::vector<ScheduleSpec>& schedules) {
  std::vector<ScheduleTwin> twins;
  for (size_t second = 1; second < schedules.size(); ++second) {
    for (size_t first = 0; first < second; ++first) {
      if (!AreTwins(schedules[first], schedules[second])) continue;
      twins.push_back({first, second});
      break;
    }
  }
  return twins;
}

std::string TwinText(size_t first) {
  return fmt::format(
      "It is the same as schedule {}, so each of its fires would run twice. Remove one of them, or "
      "give it other parameters.",
      first + 1);
}

}  // namespace carillon
