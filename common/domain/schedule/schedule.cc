#include "common/domain/schedule/schedule.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/domain/schedule/explain.h"
#include "common/domain/schedule/schedule_cron.h"

namespace carillon {
namespace {

// The last instant that a run id can represent (run_id.h): 56 bits of microseconds.
constexpr WallTime kLastFire = FromUnixMicros((int64_t{1} << 56) - 1);
constexpr Duration kRateEveryMin = 1ms;
constexpr Duration kRateEveryMax = 87'600h;  // ten years of 365 days

// start, start + every, … up to kLastFire.
class RateSchedule {
 public:
  RateSchedule(WallTime start, Duration every) : start_(start), every_(every) {}

  std::optional<Fire> Next(WallTime after) const {
    if (after >= kLastFire) return std::nullopt;
    return Limited(Index(after + Duration(1)));
  }
  int64_t Count(WallTime from, WallTime until) const {
    const WallTime end = std::min(until, kLastFire + Duration(1));
    return from < end ? Index(end) - Index(from) : 0;
  }
  std::optional<WallTime> Nth(WallTime from, int64_t skipped) const {
    if (from > kLastFire || skipped > kLastFire.time_since_epoch() / every_) return std::nullopt;
    const auto fire = Limited(Index(from) + skipped);
    return fire ? std::optional<WallTime>(fire->time) : std::nullopt;
  }
  std::string Explain() const { return ExplainRate(every_, start_); }

 private:
  // The index of the first fire at or after `t`.
  int64_t Index(WallTime t) const {
    if (t <= start_) return 0;
    return (t - start_ + every_ - Duration(1)) / every_;
  }
  std::optional<Fire> Limited(int64_t index) const {
    if (index > (kLastFire - start_) / every_) return std::nullopt;
    return Fire{start_ + index * every_};
  }

  const WallTime start_;
  const Duration every_;
};

class OnceSchedule {
 public:
  explicit OnceSchedule(WallTime at) : at_(at) {}

  std::optional<Fire> Next(WallTime after) const {
    return after < at_ ? std::optional<Fire>(Fire{at_}) : std::nullopt;
  }
  int64_t Count(WallTime from, WallTime until) const { return from <= at_ && at_ < until ? 1 : 0; }
  std::string Explain() const { return ExplainOnce(at_); }

 private:
  const WallTime at_;
};

class ManualSchedule {
 public:
  std::optional<Fire> Next(WallTime) const { return std::nullopt; }
  int64_t Count(WallTime, WallTime) const { return 0; }
  std::string Explain() const { return "Only when started manually"; }
};

Error At(std::string_view pointer, Error error) {
  error.pointer = pointer;
  return error;
}

}  // namespace

class Schedule::Impl {
 public:
  using Any = std::variant<ManualSchedule, CronSchedule, RateSchedule, OnceSchedule>;

  template <typename T>
  explicit Impl(ScheduleKind kind, T schedule) : kind_(kind), any_(std::move(schedule)) {}

  ScheduleKind kind() const { return kind_; }
  const Any& any() const { return any_; }

  // Finds, by binary search, the first instant t with more than `skipped` fires in [from, t].
  std::optional<WallTime> SearchNth(WallTime from, int64_t skipped) const {
    const auto enough = [&](WallTime last) {
      return std::visit([&](const auto& s) { return s.Count(from, last + Duration(1)); }, any_) >
             skipped;
    };
    if (from > kLastFire || !enough(kLastFire)) return std::nullopt;
    Duration span = 1h;
    while (kLastFire - from > span && !enough(from + span)) span *= 2;
    WallTime low = from;
    WallTime high = std::min(kLastFire, from + span);
    while (low < high) {
      const WallTime middle = low + (high - low) / 2;
      if (enough(middle)) {
        high = middle;
      } else {
        low = middle + Duration(1);
      }
    }
    return low;
  }

 private:
  const ScheduleKind kind_;
  const Any any_;
};

Result<Schedule> Schedule::Compile(const ScheduleSpec& spec, DstGap gap, DstRepeat repeat) {
  const auto made = [&](auto schedule) {
    return Schedule(std::make_shared<const Impl>(spec.kind, std::move(schedule)));
  };
  switch (spec.kind) {
    case ScheduleKind::kManual: return made(ManualSchedule());
    case ScheduleKind::kOnce:
      if (spec.at < WallTime{} || spec.at > kLastFire) {
        return Error{ErrorCode::kInvalid, "is outside the years 1970 to 4253", "/at"};
      }
      return made(OnceSchedule(spec.at));
    case ScheduleKind::kRate:
      if (spec.every < kRateEveryMin || spec.every > kRateEveryMax || spec.every % 1ms != 0us) {
        return Error{ErrorCode::kInvalid,
                     "must be a whole number of milliseconds from 1 to " +
                         std::to_string(kRateEveryMax / 1ms),
                     "/every_ms"};
      }
      if (spec.start < WallTime{} || spec.start > kLastFire) {
        return Error{ErrorCode::kInvalid, "is outside the years 1970 to 4253", "/start_time"};
      }
      return made(RateSchedule(spec.start, spec.every));
    case ScheduleKind::kCron: break;
  }
  auto expression = ParseCron(spec.cron_expression);
  if (!expression.ok()) return At("/cron_expression", expression.error());
  auto zone = Zone::Load(spec.time_zone);
  if (!zone.ok()) return At("/time_zone", zone.error());
  return made(CronSchedule(*expression, **zone, gap, repeat));
}

std::optional<Fire> Schedule::Next(WallTime after) const {
  return std::visit([&](const auto& schedule) { return schedule.Next(after); }, impl_->any());
}

int64_t Schedule::Count(WallTime from, WallTime until) const {
  return std::visit([&](const auto& schedule) { return schedule.Count(from, until); },
                    impl_->any());
}

std::optional<WallTime> Schedule::Nth(WallTime from, int64_t skipped) const {
  if (skipped == 0) {
    const auto fire = Next(std::max(from, WallTime{}) - Duration(1));
    return fire ? std::optional<WallTime>(fire->time) : std::nullopt;
  }
  if (const auto* rate = std::get_if<RateSchedule>(&impl_->any())) return rate->Nth(from, skipped);
  return impl_->SearchNth(std::max(from, WallTime{}), skipped);
}

ScheduleKind Schedule::kind() const { return impl_->kind(); }

std::string Schedule::Explain() const {
  return std::visit([](const auto& schedule) { return schedule.Explain(); }, impl_->any());
}

}  // namespace carillon
