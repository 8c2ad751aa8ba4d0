#include "scheduler/fire/load_shedding.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"

namespace carillon::scheduler {
namespace {

// The class of ten to which the priority belongs: "0-9", …, "90-99", "100".
std::string PriorityClass(int priority) {
  const int from = priority / 10 * 10;
  return from == 100 ? "100" : std::to_string(from) + "-" + std::to_string(from + 9);
}

}  // namespace

void OverloadMeter::SetLevels(std::vector<OverloadLevel> levels) {
  *this = {};
  levels_ = std::move(levels);
}

void OverloadMeter::Observe(Duration wait, SteadyTime now) {
  for (size_t i = 0; i < levels_.size(); ++i) {
    std::optional<SteadyTime>& since = above_since_[i];
    if (wait <= levels_[i].late) {
      since.reset();
    } else if (!since) {
      since = now;
    }
    if (since && now - *since >= kEnterAfter) in_force_ = std::max(in_force_, i + 1);
  }
  if (wait >= kCalm) {
    calm_since_.reset();
  } else if (!calm_since_) {
    calm_since_ = now;
  }
  if (calm_since_ && now - *calm_since_ >= kLeaveAfter) in_force_ = 0;
}

LoadShedding::LoadShedding(Metrics& metrics, std::vector<OverloadLevel> levels)
    : metrics_(metrics), level_gauge_(metrics.gauge("carillon_overload_level")) {
  SetLevels(std::move(levels));
}

void LoadShedding::SetLevels(std::vector<OverloadLevel> levels) {
  MutexLock lock(mu_);
  if (levels == levels_) return;
  levels_ = std::move(levels);
  changed_.store(true, std::memory_order_release);
}

Storm LoadShedding::State() const {
  MutexLock lock(mu_);
  return storm_;
}

bool LoadShedding::Follow() {
  if (!changed_.load(std::memory_order_acquire)) return !in_use_.empty();
  MutexLock lock(mu_);
  changed_.store(false, std::memory_order_relaxed);
  in_use_ = levels_;
  meters_.clear();
  told_ = 0;
  storm_.over = true;
  level_gauge_.Set(0);
  return !in_use_.empty();
}

int LoadShedding::BelowOf(const ReadyLanes::Key& lane) const {
  const auto found = meters_.find(lane);
  const OverloadLevel* level = found == meters_.end() ? nullptr : found->second.meter.level();
  return level == nullptr ? 0 : level->below;
}

void LoadShedding::Observe(const ReadyLanes::Key& lane, Duration wait, SteadyTime now) {
  auto found = meters_.find(lane);
  if (found == meters_.end()) {
    if (wait <= in_use_.front().late) return;
    found = meters_.try_emplace(lane).first;
    found->second.meter.SetLevels(in_use_);
  }
  found->second.meter.Observe(wait, now);
  found->second.observed = now;
}

void LoadShedding::EndLook(WallTime cluster_now, SteadyTime now) {
  size_t highest = 0;
  for (auto& [lane, metered] : meters_) {
    if (metered.observed != now) metered.meter.Observe(Duration{}, now);
    highest = std::max(highest, metered.meter.number());
  }
  std::erase_if(meters_, [](const auto& entry) { return entry.second.meter.rests(); });
  if (highest != told_) Tell(highest, cluster_now);
}

void LoadShedding::Tell(size_t number, WallTime cluster_now) {
  told_ = number;
  level_gauge_.Set(static_cast<double>(told_));
  MutexLock lock(mu_);
  if (told_ == 0) {
    storm_.over = true;
    log::Info("fire", "the overload is over; runs shed: {}", storm_.what.shed);
    return;
  }
  if (storm_.over) {
    storm_ = {.number = storm_.number + 1, .over = false, .what = {.since = cluster_now}};
  }
  storm_.what.level = in_use_[told_ - 1];
  log::Warn("fire", "due runs wait longer than {} s: those of a priority under {} are shed",
            storm_.what.level.late / 1s, storm_.what.level.below);
}

void LoadShedding::Count(const SkipRequest& shed) {
  metrics_.counter("carillon_runs_shed_total", PriorityClass(shed.priority)).Add();
  MutexLock lock(mu_);
  ++storm_.what.shed;
  storm_.newest = {shed.key, shed.segment, shed.job_no};
}

}  // namespace carillon::scheduler
