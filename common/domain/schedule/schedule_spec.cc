#include "common/domain/schedule/schedule_spec.h"

#include <array>

#include "common/domain/enum_names.h"

namespace carillon {
namespace {

constexpr std::array<NameOf<MisfirePolicy>, 3> kMisfirePolicies{{{MisfirePolicy::kSkip, "skip"},
                                                                 {MisfirePolicy::kLatest, "latest"},
                                                                 {MisfirePolicy::kAll, "all"}}};
constexpr std::array<NameOf<DstGap>, 2> kDstGaps{
    {{DstGap::kFire, "fire"}, {DstGap::kSkip, "skip"}}};
constexpr std::array<NameOf<DstRepeat>, 4> kDstRepeats{{{DstRepeat::kAuto, "auto"},
                                                        {DstRepeat::kBoth, "both"},
                                                        {DstRepeat::kEarly, "early"},
                                                        {DstRepeat::kLate, "late"}}};
constexpr std::array<NameOf<ScheduleKind>, 7> kScheduleKinds{{{ScheduleKind::kCron, "cron"},
                                                              {ScheduleKind::kRate, "rate"},
                                                              {ScheduleKind::kOnce, "once"},
                                                              {ScheduleKind::kManual, "manual"},
                                                              {ScheduleKind::kDelay, "delay"},
                                                              {ScheduleKind::kAfter, "after"},
                                                              {ScheduleKind::kEvent, "event"}}};
constexpr std::array<NameOf<AfterOutcome>, 3> kAfterOutcomes{{{AfterOutcome::kSuccess, "success"},
                                                              {AfterOutcome::kFailure, "failure"},
                                                              {AfterOutcome::kDone, "done"}}};

}  // namespace

bool HasTimes(ScheduleKind kind) {
  return kind == ScheduleKind::kCron || kind == ScheduleKind::kRate || kind == ScheduleKind::kOnce;
}

const std::map<std::string, ParameterValue>& FixedParametersOf(const ScheduleSpec& spec) {
  static const std::map<std::string, ParameterValue> kNone;
  return spec.kind == ScheduleKind::kEvent ? kNone : spec.parameters;
}

bool FireAlike(const ScheduleSpec& a, const ScheduleSpec& b) {
  if (a.parameters == b.parameters) return a == b;
  ScheduleSpec fires = a;
  fires.parameters = b.parameters;
  return fires == b;
}

std::string_view Name(MisfirePolicy value) { return NameIn(kMisfirePolicies, value); }
std::string_view Name(DstGap value) { return NameIn(kDstGaps, value); }
std::string_view Name(DstRepeat value) { return NameIn(kDstRepeats, value); }
std::string_view Name(ScheduleKind value) { return NameIn(kScheduleKinds, value); }
std::string_view Name(AfterOutcome value) { return NameIn(kAfterOutcomes, value); }

template <>
Result<MisfirePolicy> ParseName(std::string_view text) {
  return ValueIn(kMisfirePolicies, text);
}
template <>
Result<DstGap> ParseName(std::string_view text) {
  return ValueIn(kDstGaps, text);
}
template <>
Result<DstRepeat> ParseName(std::string_view text) {
  return ValueIn(kDstRepeats, text);
}
template <>
Result<ScheduleKind> ParseName(std::string_view text) {
  return ValueIn(kScheduleKinds, text);
}
template <>
Result<AfterOutcome> ParseName(std::string_view text) {
  return ValueIn(kAfterOutcomes, text);
}

}  // namespace carillon
