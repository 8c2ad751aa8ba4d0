#include "scheduler/ends/owner_scan.h"

#include <algorithm>

#include "common/base/log.h"

namespace carillon::scheduler {

SteadyTime OwnerScan::Next() const {
  if (last_ == SteadyTime::min()) return last_;
  const SteadyTime earliest = last_ + kGap;
  if (nudged_ || continues_) return earliest;
  return std::max(earliest, busy_ ? std::min(regular_, last_ + kEveryIfBusy) : regular_);
}

std::optional<OwnerScan::Look> OwnerScan::Begin(SteadyTime now) {
  // Cleared before anything is read: what happens from here on asks for another look.
  if (!std::exchange(continues_, false)) nudged_ = false;
  const bool regular = now >= regular_;
  if (regular) regular_ = now + kEvery;
  last_ = now;
  std::erase_if(aside_, [now](const auto& entry) { return entry.second <= now; });
  auto view = ports_.segments.View();
  std::vector<SegmentId> segments = view->ActiveSegments();
  const auto cluster_now = ports_.cluster.SettledNow();
  busy_ = !segments.empty() && !cluster_now;
  if (segments.empty() || !cluster_now) return std::nullopt;
  return Look{.view = std::move(view),
              .segments = std::move(segments),
              .cluster_now = *cluster_now,
              .now = now,
              .regular = regular};
}

void OwnerScan::SetAside(uint64_t id, std::string_view what, const Error& error, SteadyTime now) {
  log::Error(name_, "{} set aside for {} s: {}", what, kAsideFor / 1s, error.message);
  if (aside_.size() < kAsideMax) aside_[id] = now + kAsideFor;
}

Error OwnerScan::About(const std::string& subject, Error error) {
  error.message = subject + ": " + error.message;
  return error;
}

void OwnerScan::ReportConflict(std::string_view op, const Error& error) {
  if (error.code != ErrorCode::kConflict) return;  // FencedWriter has reported it
  Count(error.code);
  log::Warn(name_, "{}: conflict: {}", op, error.message);
}

void OwnerScan::Count(ErrorCode code) {
  ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(code)).Add();
}

}  // namespace carillon::scheduler
