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

// Only its first fire is known in advance.
class DelaySchedule {
 public:
  DelaySchedule(WallTime start, Duration every) : start_(start), every_(every) {}

  std::optional<Fire> Next(WallTime after) const {
    const bool known = start_ > std::max(after, WallTime{});
    return known ? std::optional<Fire>(Fire{start_}) : std::nullopt;
  }
  int64_t Count(WallTime from, WallTime until) const {
    return start_ > WallTime{} && from <= start_ && start_ < until ? 1 : 0;
  }
  std::string Explain() const { return ExplainDelay(every_, start_); }

 private:
  const WallTime start_;
  const Duration every_;
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

Status CheckTime(std::string_view pointer, WallTime time) {
  if (time >= WallTime{} && time <= kLastFire) return {};
  return At(pointer, {ErrorCode::kInvalid, "is outside the years 1970 to 4253"});
}

Status CheckEvery(const ScheduleSpec& spec) {
  if (spec.every >= kRateEveryMin && spec.every <= kRateEveryMax && spec.every % 1ms == 0us) {
    return {};
  }
  return At("/every_ms", {ErrorCode::kInvalid, "must be a whole number of milliseconds from 1 to " +
                                                   std::to_string(kRateEveryMax / 1ms)});
}

// Checks the fields that cron and rate schedules share.
Status CheckRepeated(const ScheduleSpec& spec) {
  CARILLON_TRY(CheckTime("/start_time", spec.start));
  if (spec.end != kNever) {
    CARILLON_TRY(CheckTime("/end_time", spec.end));
    if (spec.end < spec.start) {
      return At("/end_time", {ErrorCode::kInvalid, "must not be before start_time"});
    }
  }
  if (spec.jitter < Duration{} || spec.jitter > kJitterMax || spec.jitter % 1s != 0us) {
    return At("/jitter_s", {ErrorCode::kInvalid, "must be a whole number of seconds from 0 to " +
                                                     std::to_string(kJitterMax / 1s)});
  }
  return {};
}

}  // namespace

class Schedule::Impl {
 public:
  using Any = std::variant<ManualSchedule, CronSchedule, RateSchedule, OnceSchedule, DelaySchedule>;

  template <typename T>
  Impl(const ScheduleSpec& spec, T schedule) : kind_(spec.kind), any_(std::move(schedule)) {
    if (kind_ != ScheduleKind::kCron && kind_ != ScheduleKind::kRate) return;
    start_ = spec.start;
    end_ = spec.end;
    jitter_ = spec.jitter;
    if (UsesSpread(spec.cron_expression)) spread_ = spec.spread;
  }

  ScheduleKind kind() const { return kind_; }
  Duration jitter() const { return jitter_; }

  std::optional<Fire> Next(WallTime after) const {
    const WallTime from = std::max(after, start_ - Duration(1));
    auto fire = std::visit([&](const auto& schedule) { return schedule.Next(from); }, any_);
    if (fire && fire->time >= end_) return std::nullopt;
    return fire;
  }
  int64_t Count(WallTime from, WallTime until) const {
    return std::visit(
        [&, first = std::max(from, start_), end = std::min(until, end_)](const auto& schedule) {
          return first < end ? schedule.Count(first, end) : 0;
        },
        any_);
  }
  std::optional<WallTime> Nth(WallTime from, int64_t skipped) const {
    const WallTime first = std::max(from, start_);
    std::optional<WallTime> fire;
    if (const auto* rate = std::get_if<RateSchedule>(&any_)) {
      fire = rate->Nth(first, skipped);
    } else {
      fire = SearchNth(first, skipped);
    }
    if (fire && *fire >= end_) return std::nullopt;
    return fire;
  }
  std::string Explain() const {
    std::string text = std::visit([](const auto& schedule) { return schedule.Explain(); }, any_);
    // The sentence about a rate names its start already.
    const bool names_start = kind_ != ScheduleKind::kCron;
    if (spread_) text += ExplainSpread(*spread_);
    text += ExplainWindow(names_start ? WallTime{} : start_, end_);
    return text + ExplainJitter(jitter_);
  }

 private:
  // Finds, by binary search, the first instant t with more than `skipped` fires in [from, t].
  std::optional<WallTime> SearchNth(WallTime from, int64_t skipped) const {
    const auto enough = [&](WallTime last) { return Count(from, last + Duration(1)) > skipped; };
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

  const ScheduleKind kind_;
  const Any any_;
  WallTime start_ = WallTime{};
  WallTime end_ = kNever;
  Duration jitter_{};
  std::optional<uint64_t> spread_;  // the seed of its fields H, if it has any
};

Result<Schedule> Schedule::Compile(const ScheduleSpec& spec, DstGap gap, DstRepeat repeat) {
  const auto made = [&](auto schedule) {
    return Schedule(std::make_shared<const Impl>(spec, std::move(schedule)));
  };
  switch (spec.kind) {
    case ScheduleKind::kManual: return made(ManualSchedule());
    case ScheduleKind::kOnce:
      CARILLON_TRY(CheckTime("/at", spec.at));
      return made(OnceSchedule(spec.at));
    case ScheduleKind::kRate:
      CARILLON_TRY(CheckEvery(spec));
      CARILLON_TRY(CheckRepeated(spec));
      return made(RateSchedule(spec.start, spec.every));
    case ScheduleKind::kDelay:
      CARILLON_TRY(CheckEvery(spec));
      CARILLON_TRY(CheckTime("/start_time", spec.start));
      return made(DelaySchedule(spec.start, spec.every));
    case ScheduleKind::kCron: break;
  }
  auto expression = ParseCron(spec.cron_expression, spec.spread);
  if (!expression.ok()) return At("/cron_expression", expression.error());
  auto zone = Zone::Load(spec.time_zone);
  if (!zone.ok()) return At("/time_zone", zone.error());
  CARILLON_TRY(CheckRepeated(spec));
  return made(CronSchedule(*expression, **zone, gap, repeat));
}

std::optional<Fire> Schedule::Next(WallTime after) const { return impl_->Next(after); }

int64_t Schedule::Count(WallTime from, WallTime until) const { return impl_->Count(from, until); }

std::optional<WallTime> Schedule::Nth(WallTime from, int64_t skipped) const {
  if (skipped != 0) return impl_->Nth(from, skipped);
  const auto fire = Next(std::max(from, WallTime{}) - Duration(1));
  return fire ? std::optional<WallTime>(fire->time) : std::nullopt;
}

ScheduleKind Schedule::kind() const { return impl_->kind(); }

Duration Schedule::jitter() const { return impl_->jitter(); }

std::string Schedule::Explain() const { return impl_->Explain(); }

}  // namespace carillon
