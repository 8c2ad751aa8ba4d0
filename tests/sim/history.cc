#include "tests/sim/history.h"

#include <algorithm>
#include <set>

namespace carillon::sim {
namespace {

// The time between two fires; zero for a single one.
Duration StepOf(const ScheduleSpec& spec) {
  if (spec.kind == ScheduleKind::kRate) return spec.every;
  if (spec.kind == ScheduleKind::kCron) return std::stoi(spec.cron_expression.substr(2)) * 1s;
  return Duration::zero();
}

}  // namespace

void History::Seen(const StoredJob& job, WallTime now) {
  std::set<ScheduleId> present;
  for (const StoredSchedule& schedule : job.schedules) {
    present.insert(schedule.schedule_id);
    lives_.try_emplace(schedule.schedule_id, ScheduleLife{.id = schedule.schedule_id,
                                                          .job_no = job.job_no,
                                                          .job_id = job.job_id,
                                                          .spec = schedule.spec,
                                                          .from = now});
  }
  for (auto& [id, life] : lives_) {
    if (life.job_no == job.job_no && life.until == kNever && !present.contains(id)) {
      life.until = now;
    }
  }
}

void History::Deleted(JobNo job_no, WallTime now) {
  for (auto& [id, life] : lives_) {
    if (life.job_no == job_no && life.until == kNever) life.until = now;
  }
}

std::vector<WallTime> History::Fires(const ScheduleLife& life, WallTime first, WallTime last) {
  first = std::max(first, life.from + 1us);
  last = std::min(last, life.until);
  std::vector<WallTime> fires;
  const Duration step = StepOf(life.spec);
  if (step == Duration::zero()) {
    if (life.spec.kind == ScheduleKind::kOnce && life.spec.at >= first && life.spec.at <= last) {
      fires.push_back(life.spec.at);
    }
    return fires;
  }
  first = std::max(first, life.spec.start);
  last = std::min(last, life.spec.end - 1us);
  const WallTime start = life.spec.kind == ScheduleKind::kRate ? life.spec.start : WallTime{};
  WallTime fire = start;
  if (fire < first) fire += ((first - start + step - 1us) / step) * step;
  for (; fire <= last; fire += step) fires.push_back(fire);
  return fires;
}

std::string EverySecondsCron(int seconds) { return "*/" + std::to_string(seconds) + " * * * * *"; }

}  // namespace carillon::sim
