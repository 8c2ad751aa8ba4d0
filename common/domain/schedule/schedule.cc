#include "common/domain/schedule/schedule.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/domain/schedule/calendar_days.h"
#include "common/domain/schedule/event_pattern.h"
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

// Its fires are those of another job's runs, known only when these end.
class AfterSchedule {
 public:
  AfterSchedule(std::string upstream, AfterOutcome on) : upstream_(std::move(upstream)), on_(on) {}

  std::optional<Fire> Next(WallTime) const { return std::nullopt; }
  int64_t Count(WallTime, WallTime) const { return 0; }
  std::string Explain() const { return ExplainAfter(upstream_, on_); }

 private:
  const std::string upstream_;
  const AfterOutcome on_;
};

// Its fires are the moments at which events are accepted.
class EventSchedule {
 public:
  EventSchedule(std::string type, std::string source, bool has_filter)
      : type_(std::move(type)), source_(std::move(source)), has_filter_(has_filter) {}

  std::optional<Fire> Next(WallTime) const { return std::nullopt; }
  int64_t Count(WallTime, WallTime) const { return 0; }
  std::string Explain() const { return ExplainEvent(type_, source_, has_filter_); }

 private:
  const std::string type_;
  const std::string source_;
  const bool has_filter_;
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
  for (const auto& [pointer, name] :
       {std::pair("/calendar", &spec.calendar), std::pair("/blackout", &spec.blackout)}) {
    if (name->empty() || IsCalendarName(*name)) continue;
    return At(pointer, {ErrorCode::kInvalid,
                        "is not a name of a calendar: 1 to 63 of a-z, 0-9, "
                        "'-' and '_', the first a letter or a digit"});
  }
  return {};
}

bool IsJobIdText(std::string_view text) {
  constexpr size_t kJobIdMax = 63;
  const auto is_first = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= kJobIdMax && is_first(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_first(c) || c == '-' || c == '_'; });
}

}  // namespace

class Schedule::Impl {
 public:
  using Any = std::variant<ManualSchedule, CronSchedule, RateSchedule, OnceSchedule, DelaySchedule,
                           AfterSchedule, EventSchedule>;

  template <typename T>
  Impl(const ScheduleSpec& spec, T schedule, ScheduleCalendars calendars)
      : kind_(spec.kind), any_(std::move(schedule)) {
    if (kind_ != ScheduleKind::kCron && kind_ != ScheduleKind::kRate) return;
    start_ = spec.start;
    end_ = spec.end;
    jitter_ = spec.jitter;
    if (UsesSpread(spec.cron_expression)) spread_ = spec.spread;
    calendars_ = std::move(calendars);
    limits_ = ExplainCalendars(spec.calendar, spec.blackout);
  }

  ScheduleKind kind() const { return kind_; }
  Duration jitter() const { return jitter_; }

  std::optional<Fire> Next(WallTime after) const {
    const WallTime from = std::max(after, start_ - Duration(1));
    if (calendars_.any()) return NextAllowed(from, EndOfLook(from));
    return NextOfAny(from);
  }
  int64_t Count(WallTime from, WallTime until) const {
    const WallTime first = std::max(from, start_);
    if (!calendars_.any()) return CountAny(first, until);
    const WallTime end = std::min(until, EndOfLook(first));
    int64_t count = 0;
    WalkStretches(first, end, [&](WallTime fire, WallTime stop) {
      count += CountAny(fire, stop);
      return true;
    });
    return count;
  }
  std::optional<WallTime> Nth(WallTime from, int64_t skipped) const {
    const WallTime first = std::max(from, start_);
    if (!calendars_.any()) return NthOfAny(first, skipped);
    std::optional<WallTime> found;
    int64_t left = skipped;
    WalkStretches(first, EndOfLook(first), [&](WallTime fire, WallTime stop) {
      const int64_t count = CountAny(fire, stop);
      if (left < count) {
        found = NthOfAny(fire, left);
        return false;
      }
      left -= count;
      return true;
    });
    return found;
  }
  std::string Explain() const {
    std::string text = std::visit([](const auto& schedule) { return schedule.Explain(); }, any_);
    // The sentence about a rate names its start already.
    const bool names_start = kind_ != ScheduleKind::kCron;
    if (spread_) text += ExplainSpread(*spread_);
    text += ExplainWindow(names_start ? WallTime{} : start_, end_);
    return text + ExplainJitter(jitter_) + limits_;
  }

 private:
  static WallTime EndOfLook(WallTime from) { return std::min(from, kLastFire) + kCalendarLook; }

  // The fires without regard to the calendars.
  std::optional<Fire> NextOfAny(WallTime after) const {
    auto fire = std::visit([&](const auto& schedule) { return schedule.Next(after); }, any_);
    if (fire && fire->time >= end_) return std::nullopt;
    return fire;
  }
  int64_t CountAny(WallTime from, WallTime until) const {
    return std::visit(
        [&, end = std::min(until, end_)](const auto& schedule) {
          return from < end ? schedule.Count(from, end) : 0;
        },
        any_);
  }
  std::optional<WallTime> NthOfAny(WallTime from, int64_t skipped) const {
    std::optional<WallTime> fire;
    if (const auto* rate = std::get_if<RateSchedule>(&any_)) {
      fire = rate->Nth(from, skipped);
    } else {
      fire = SearchNth(from, skipped);
    }
    if (fire && *fire >= end_) return std::nullopt;
    return fire;
  }

  // The first allowed fire in (after, until).
  std::optional<Fire> NextAllowed(WallTime after, WallTime until) const {
    WallTime at = after;
    for (;;) {
      const auto fire = NextOfAny(at);
      if (!fire || fire->time >= until) return std::nullopt;
      const WallTime allowed = calendars_.NextAllowed(fire->time, until);
      if (allowed == fire->time) return fire;
      at = allowed - Duration(1);
    }
  }
  // Calls `visit` with the first fire and the end of each stretch of [from, until) in which fires
  // are allowed, if it has a fire. Ends early if `visit` returns false.
  template <typename Visit>
  void WalkStretches(WallTime from, WallTime until, const Visit& visit) const {
    WallTime at = from;
    while (at < until) {
      const auto fire = NextAllowed(at - Duration(1), until);
      if (!fire) return;
      at = calendars_.NextExcluded(fire->time, until);
      if (!visit(fire->time, at)) return;
    }
  }

  // Finds, by binary search, the first instant t with more than `skipped` fires in [from, t].
  std::optional<WallTime> SearchNth(WallTime from, int64_t skipped) const {
    const auto enough = [&](WallTime last) { return CountAny(from, last + Duration(1)) > skipped; };
    if (from > kLastFire) return std::nullopt;
    Duration span = 1h;
    while (kLastFire - from > span && !enough(from + span)) span *= 2;
    if (kLastFire - from <= span && !enough(kLastFire)) return std::nullopt;
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
  ScheduleCalendars calendars_;
  std::string limits_;  // the end of the sentence of Explain: the names of the calendars
};

Result<Schedule> Schedule::Compile(const ScheduleSpec& spec, DstGap gap, DstRepeat repeat,
                                   ScheduleCalendars calendars) {
  const auto made = [&](auto schedule) {
    return Schedule(std::make_shared<const Impl>(spec, std::move(schedule), std::move(calendars)));
  };
  switch (spec.kind) {
    case ScheduleKind::kManual: return made(ManualSchedule());
    case ScheduleKind::kOnce:
      CARILLON_TRY(CheckTime("/at", spec.at));
      if (!spec.calendar.empty() || !spec.blackout.empty()) {
        return Error{ErrorCode::kInvalid, "only cron and rate schedules have calendars",
                     spec.calendar.empty() ? "/blackout" : "/calendar"};
      }
      return made(OnceSchedule(spec.at));
    case ScheduleKind::kRate:
      CARILLON_TRY(CheckEvery(spec));
      CARILLON_TRY(CheckRepeated(spec));
      return made(RateSchedule(spec.start, spec.every));
    case ScheduleKind::kDelay:
      CARILLON_TRY(CheckEvery(spec));
      CARILLON_TRY(CheckTime("/start_time", spec.start));
      return made(DelaySchedule(spec.start, spec.every));
    case ScheduleKind::kAfter:
      if (!IsJobIdText(spec.upstream)) {
        return At("/job",
                  {ErrorCode::kInvalid,
                   "must be the job_id of another job: 1 to 63 of a-z, 0-9, '-' and '_', the "
                   "first a letter or a digit"});
      }
      return made(AfterSchedule(spec.upstream, spec.on));
    case ScheduleKind::kEvent:
      CARILLON_TRY(CheckEventPattern(spec));
      return made(EventSchedule(spec.event_type, spec.event_source, !spec.filter.empty()));
    case ScheduleKind::kCron: break;
  }
  auto expression = ParseCron(spec.cron_expression, spec.spread);
  if (!expression.ok()) return At("/cron_expression", expression.error());
  auto zone = Zone::Load(spec.time_zone);
  if (!zone.ok()) return At("/time_zone", zone.error());
  CARILLON_TRY(CheckRepeated(spec));
  std::shared_ptr<const CronDays> days;
  if (UsesCalendarDays(*expression)) {
    if (!calendars.any() && spec.calendar.empty() && spec.blackout.empty()) {
      return At("/cron_expression",
                {ErrorCode::kInvalid, "'<', '>' and 'C' need a calendar or a blackout"});
    }
    if (calendars.any()) {
      days = std::make_shared<const CalendarDays>(*expression, **zone, gap, repeat, calendars);
    }
  }
  return made(CronSchedule(*expression, **zone, gap, repeat, std::move(days)));
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
