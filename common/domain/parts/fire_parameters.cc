#include "common/domain/parts/fire_parameters.h"

#include <algorithm>

#include "common/domain/job/parameter_rules.h"

namespace carillon {
namespace {

Parameters WithThoseOf(const JobDefinition& job, const ScheduleSpec* schedule) {
  if (schedule == nullptr) return job.parameters;
  return MergeParameters(job.parameters, FixedParametersOf(*schedule));
}

}  // namespace

FireParameters::FireParameters(const JobDefinition& before, const Specs& had,
                               const JobDefinition& after, const Specs& has)
    : of_others_(Changed(before, nullptr, after, nullptr)) {
  for (const auto& [id, spec] : had) {
    const auto next = has.find(id);
    by_schedule_[id] = Changed(before, spec, after, next == has.end() ? nullptr : next->second);
  }
}

FireParameters::Kept FireParameters::Changed(const JobDefinition& before, const ScheduleSpec* had,
                                             const JobDefinition& after, const ScheduleSpec* has) {
  Kept kept;
  const Parameters now = WithThoseOf(after, has);
  JobDefinition named;
  named.parameters = now;
  named.parameter_rules = after.parameter_rules;
  for (const auto& one : WithThoseOf(before, had)) {
    const auto& [name, value] = one;
    const auto same = now.find(name);
    if (same != now.end() && same->second == value) continue;
    // No run would start with a name that differs only by case from one that it has now.
    if (!CheckParameterCase(named, {one}).ok()) continue;
    const bool of_schedule = had != nullptr && FixedParametersOf(*had).contains(name);
    (of_schedule ? kept.of_schedule : kept.of_job)[name] = value;
  }
  return kept;
}

std::optional<Parameters> FireParameters::ToKeep(ScheduleId id,
                                                 const std::optional<RunTrigger>& trigger) const {
  const Kept& kept = Of(id);
  if (kept.empty()) return std::nullopt;
  const Parameters& own = kept.of_schedule;
  return MergeParameters(kept.of_job, trigger ? FillTrigger(own, *trigger) : own);
}

bool FireParameters::empty() const {
  return of_others_.empty() &&
         std::ranges::all_of(by_schedule_, [](const auto& one) { return one.second.empty(); });
}

const FireParameters::Kept& FireParameters::Of(ScheduleId id) const {
  const auto found = by_schedule_.find(id);
  return found == by_schedule_.end() ? of_others_ : found->second;
}

}  // namespace carillon
