#include "scheduler/events/event_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "common/base/failpoint.h"
#include "common/base/log.h"
#include "common/ports/store/firing_store.h"
#include "common/wire/json/event_json.h"
#include "scheduler/assign/bisect.h"
#include "scheduler/events/event_counts.h"
#include "scheduler/settings/new_fields.h"

namespace carillon::scheduler {
namespace {

// For a log and a row: senders choose the names that a message quotes.
std::string Shown(std::string message) {
  if (message.size() > EventReader::kProblemBytesMax) {
    size_t end = EventReader::kProblemBytesMax;
    while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xc0) == 0x80) --end;
    message.resize(end);
  }
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  return message;
}

Error TimeUnknown() { return {ErrorCode::kUnavailable, "cluster time is unknown"}; }

}  // namespace

EventReader::EventReader(Ports ports, const std::vector<EventTopic>& topics, uint64_t seed)
    : ports_(std::move(ports)),
      rng_(seed),
      open_runs_(ports_.store, ports_.clock),
      store_backoff_(kRetry) {
  for (const EventTopic& topic : topics) sources_.emplace_back(topic);
}

SteadyTime EventReader::Step(SteadyTime now) {
  if (!MayRead()) {
    Close();
    return now + kLookEvery;
  }
  SteadyTime next = now + kLookEvery;
  for (Source& source : sources_) {
    if (now < store_next_) return store_next_;
    if (now < source.not_before) continue;
    const Result<bool> more = ReadSome(source, now);
    if (!more.ok()) TopicFailed(source, now, more.error());
    if (more.ok() && *more) next = now;
  }
  return std::max(next, store_next_);
}

bool EventReader::MayRead() const {
  return ports_.may_read() && ports_.upgrade.FeatureOn(kFanOutMigration);
}

Result<bool> EventReader::ReadSome(Source& source, SteadyTime now) {
  if (source.batch.empty()) {
    CARILLON_TRY(CloseIfGrown(source, now));
    if (!source.consumer) CARILLON_TRY(Open(source, now));
    if (!source.consumer) return false;
    if (open_runs_.TooMany()) {
      source.not_before = now + kFullWait;
      ShowBehind(source);
      return false;
    }
    CARILLON_TRY(Poll(source));
    if (source.batch.empty()) return false;
  }
  if (const Status handled = HandleBatch(source, now); !handled.ok()) {
    StoreFailed(now, handled.error());
    return false;
  }
  CARILLON_TRY(Finish(source));
  return true;
}

// ---- the topic ---------------------------------------------------------------------------------

// Without cluster time or the store, it stays closed.
Status EventReader::Open(Source& source, SteadyTime now) {
  const std::optional<WallTime> time = ports_.cluster.SettledNow();
  if (!time) return {};
  const auto since = ports_.store.BeginTopic(source.topic.topic, *time - kBeforeBegin);
  if (!since.ok()) {
    StoreFailed(now, since.error());
    return {};
  }
  BusBegin begin{.at = std::max(*since, *time - kReadAgainMax), .of = BusBegin::Of::kNewGroup};
  if (failpoint::Broken("event.topic_begin")) begin.at = *time;
  CARILLON_ASSIGN_OR_RETURN(source.consumer, ports_.topics.Open(source.topic.topic, begin));
  source.consumer->OnReadable(ports_.wake);
  source.next_growth = now + kGrownEvery;
  return {};
}

// While the bus does not say, reading goes on.
Status EventReader::CloseIfGrown(Source& source, SteadyTime now) {
  if (!source.consumer || now < source.next_growth) return {};
  source.next_growth = now + kGrownEvery;
  const auto grown = ports_.topics.HasGrown(source.topic.topic);
  if (!grown.ok()) return grown.code() == ErrorCode::kNotFound ? Status(grown.error()) : Status();
  if (!*grown) return {};
  log::Info("events", "topic {} has more partitions: it is opened again", source.topic.topic);
  source.consumer.reset();
  return {};
}

Status EventReader::Poll(Source& source) {
  CARILLON_ASSIGN_OR_RETURN(source.batch, source.consumer->Poll(kRecordsPerPoll));
  if (!std::exchange(source.told, "").empty()) {
    log::Info("events", "topic {} is read again", source.topic.topic);
  }
  source.backoff.Reset();
  if (failpoint::Broken("event.commit_first")) {
    static_cast<void>(source.consumer->Commit(source.batch).ok());
  }
  ShowBehind(source);
  return {};
}

Status EventReader::Finish(Source& source) {
  if (!std::exchange(store_told_, "").empty()) log::Info("events", "events are accepted again");
  store_backoff_.Reset();
  const auto handled = std::exchange(source.batch, {});
  CARILLON_TRY(source.consumer->Commit(handled));
  ShowBehind(source);
  return {};
}

void EventReader::TopicFailed(Source& source, SteadyTime now, const Error& error) {
  if (std::exchange(source.told, error.message) != error.message) {
    log::Warn("events", "topic {} is not read, and is tried again: {}", source.topic.topic,
              error.message);
  }
  // Opened anew, it continues after the last position that was committed.
  source.consumer.reset();
  source.batch.clear();
  ShowBehind(source);
  source.not_before = now + source.backoff.Next(rng_);
}

// ---- the store ---------------------------------------------------------------------------------

Status EventReader::HandleBatch(const Source& source, SteadyTime now) {
  std::vector<ReadEvent> events;
  for (const ReceivedRecord& record : source.batch) {
    auto event = EventFromText(record.record.payload);
    if (event.ok()) {
      events.push_back({&record, *std::move(event)});
    } else {
      CARILLON_TRY(Refuse(source, record, "", event.error(), now));
    }
  }
  std::vector<std::pair<const ReadEvent*, Error>> refused;
  CARILLON_TRY(Bisect(
      std::span(events), [&](std::span<ReadEvent> part) { return Accept(source, part); },
      [&](const ReadEvent& one, const Error& error) { refused.emplace_back(&one, error); }));
  for (const auto& [one, error] : refused) {
    CARILLON_TRY(Refuse(source, *one->record, one->event.origin.type, error, now));
  }
  return {};
}

Status EventReader::Accept(const Source& source, std::span<ReadEvent> events) {
  if (events.empty()) return {};
  const std::optional<WallTime> time = ports_.cluster.SettledNow();
  if (!time) return TimeUnknown();
  NewEvents batch{.name_space = source.topic.name_space, .events = {}};
  for (const ReadEvent& one : events) batch.events.push_back(one.event);
  const SteadyTime begun = ports_.clock.Steady();
  const auto effects = ports_.store.Accept(batch, *time);
  const std::chrono::duration<double> taken = ports_.clock.Steady() - begun;
  ports_.metrics.histogram("carillon_event_accept_seconds").Observe(taken.count());
  if (effects.ok()) {
    CountEffects(ports_.metrics, kTopicDoor, *effects);
    NudgeStarted(*effects);
    return {};
  }
  // Only an event that no repetition would change is refused. Alone, the others of these codes are
  // faults of the store: a statement that takes too long, or a row that cannot be read.
  const bool bad =
      ItemIsBad(effects.code()) && (events.size() > 1 || effects.code() == ErrorCode::kInvalid);
  return Error{bad ? effects.code() : ErrorCode::kUnavailable, effects.error().message};
}

Status EventReader::Refuse(const Source& source, const ReceivedRecord& record,
                           const std::string& type, const Error& error, SteadyTime now) {
  const std::string place =
      fmt::format("{}/{}/{}", source.topic.topic, record.partition, record.offset);
  if (now - refused_since_ >= 1min) {
    refused_since_ = now;
    refused_ = 0;
  }
  if (refused_ < kRefusedPerMinute) {
    const std::optional<WallTime> time = ports_.cluster.SettledNow();
    if (!time) return TimeUnknown();
    const std::string problem = Shown(error.message);
    const Status stored = ports_.store.Refuse(
        {.name_space = source.topic.name_space, .place = place, .type = type, .problem = problem},
        *time);
    if (!stored.ok() && !ItemIsBad(stored.code())) return stored;
    log::Warn("events", "record {} is refused: {}", place, problem);
    ++refused_;
  }
  ports_.metrics.counter("carillon_events_total", LabelValues({kTopicDoor, "refused"})).Add();
  return {};
}

void EventReader::NudgeStarted(const std::vector<EventEffect>& effects) {
  std::map<JobNo, SegmentId> started;
  for (const EventEffect& effect : effects) {
    for (const EventStart& start : effect.starts) {
      if (start.run) started.emplace(start.job_no, start.segment);
    }
  }
  for (const auto& [job_no, segment] : started) ports_.signals.due.Raise({job_no, segment});
  if (!started.empty()) open_runs_.NoteStarted();
}

// The batch stays, and is handled again.
void EventReader::StoreFailed(SteadyTime now, const Error& error) {
  if (std::exchange(store_told_, error.message) != error.message) {
    log::Warn("events", "events of topics are not accepted, and are tried again: {}",
              error.message);
  }
  store_next_ = now + store_backoff_.Next(rng_);
}

// ---- the end -----------------------------------------------------------------------------------

void EventReader::Close() {
  for (Source& source : sources_) {
    if (!source.consumer && source.told.empty()) continue;
    source = Source(source.topic);
    ports_.metrics.gauge("carillon_events_behind", source.topic.topic).Set(0);
  }
  store_next_ = {};
  store_backoff_.Reset();
  store_told_.clear();
}

void EventReader::ShowBehind(const Source& source) {
  const auto behind = source.consumer ? source.consumer->Look().behind : std::nullopt;
  ports_.metrics.gauge("carillon_events_behind", source.topic.topic).Set(GaugeOf(behind));
}

}  // namespace carillon::scheduler
