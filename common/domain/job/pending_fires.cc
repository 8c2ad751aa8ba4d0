#include "common/domain/job/pending_fires.h"

#include <algorithm>
#include <functional>

namespace carillon {
namespace {

std::optional<Schedule> Compiled(const JobDefinition& definition, const ScheduleSpec& spec,
                                 const ScheduleCalendars& calendars) {
  Result<Schedule> compiled =
      Schedule::Compile(spec, definition.dst_gap, definition.dst_repeat, calendars);
  if (!compiled.ok()) return std::nullopt;
  return std::move(compiled).value();
}

// True if both are delay schedules that differ at most in `every` and the parameters.
bool IsSameDelay(const ScheduleSpec& a, const ScheduleSpec& b) {
  ScheduleSpec as_b = a;
  as_b.every = b.every;
  return a.kind == ScheduleKind::kDelay && FireAlike(as_b, b);
}

}  // namespace

bool FiresAlike(const JobDefinition& a, const JobDefinition& b, const ScheduleSpec& spec) {
  return spec.kind != ScheduleKind::kCron ||
         (a.dst_gap == b.dst_gap && a.dst_repeat == b.dst_repeat);
}

std::vector<std::optional<size_t>> ContinuedSchedules(
    const std::vector<const ScheduleSpec*>& before, const std::vector<ScheduleSpec>& after) {
  std::vector<std::optional<size_t>> continued(after.size());
  std::vector<const ScheduleSpec*> left = before;
  const auto match = [&](auto same) {
    for (size_t i = 0; i < after.size(); ++i) {
      if (continued[i]) continue;
      const auto found = std::find_if(left.begin(), left.end(), [&](const ScheduleSpec* spec) {
        return spec != nullptr && same(*spec, after[i]);
      });
      if (found == left.end()) continue;
      continued[i] = static_cast<size_t>(found - left.begin());
      *found = nullptr;
    }
  };
  match(std::equal_to<ScheduleSpec>());
  match(&FireAlike);
  match(&IsSameDelay);
  return continued;
}

WallTime FirstFireAfter(const JobDefinition& definition, const ScheduleSpec& spec, WallTime after,
                        const ScheduleCalendars& calendars) {
  const std::optional<Schedule> schedule = Compiled(definition, spec, calendars);
  if (!schedule) return kNever;
  if (spec.kind == ScheduleKind::kDelay) return std::max(spec.start, after + 1us);
  const std::optional<Fire> fire = schedule->Next(after);
  return fire ? fire->time : kNever;
}

GapRange PassOver(const JobDefinition& definition, const ScheduleSpec& spec, GapReason reason,
                  WallTime now, WallTime* next_fire, const ScheduleCalendars& calendars) {
  GapRange missed{.from = *next_fire, .to = *next_fire, .count = 0, .reason = reason};
  const std::optional<Schedule> schedule = Compiled(definition, spec, calendars);
  if (!schedule) return missed;
  if (spec.kind == ScheduleKind::kDelay) {
    *next_fire = std::max(*next_fire, now);
    return missed;
  }
  const MisfireRules skip_all{.policy = MisfirePolicy::kSkip, .grace = Duration{0}};
  while (*next_fire <= now) {
    // PlanFires counts a fire as a misfire only if it is later than the grace (0 here). With `now`
    // one microsecond later, the fire at `now` is a misfire too. No fire becomes a run, so
    // fires_max has no effect.
    const FirePlan plan = PlanFires(*schedule, *next_fire, now + 1us, now, skip_all, 1);
    for (const GapRange& gap : plan.gaps) {
      missed.count += gap.count;
      missed.to = gap.to;
    }
    *next_fire = plan.next.value_or(kNever);
  }
  return missed;
}

WallTime FireUnderNewCalendars(const JobDefinition& definition, const ScheduleSpec& spec,
                               WallTime next_fire, WallTime changed,
                               const ScheduleCalendars& calendars) {
  const WallTime start = std::min(next_fire, changed);
  if (start == kNever) return kNever;
  return FirstFireAfter(definition, spec, start - Duration(1), calendars);
}

}  // namespace carillon
