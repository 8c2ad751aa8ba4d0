// Port of events: accepts them, starts the runs of the triggers that they match, and lists them.
//
// Threads  Thread-safe; calls may block for the configured statement timeout. Any member may call.
// Errors   As JobStore. kTimeout of Accept: perhaps a part was stored; repeating the call is safe.
// Always   An event is known by namespace, source and id for kEventKept. Of a known event a call
//          starts nothing. An event that matches no trigger is not stored.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/event/event_trigger.h"
#include "common/domain/job/misfire.h"
#include "common/domain/run_id.h"
#include "common/ports/store/firing_store.h"

namespace carillon {

struct NewEvents {
  std::string name_space;
  std::vector<Event> events;  // at most kEventsPerCall
};

// The effect of an event on a trigger: one of `run` and `gap`.
struct EventStart {
  ScheduleId schedule_id;
  JobId job_id;
  JobNo job_no;
  SegmentId segment;
  std::optional<RunKey> run = {};
  std::optional<GapReason> gap = {};
  std::string problem = {};  // of kBadEvent; quotes nothing of the payload

  bool operator==(const EventStart&) const = default;
};

// Neither duplicate nor with starts: it matched no trigger and was not stored.
struct EventEffect {
  bool duplicate = false;  // `starts` is that of the first acceptance
  std::vector<EventStart> starts = {};
  int64_t not_computable = 0;  // present triggers whose filter has no answer

  bool operator==(const EventEffect&) const = default;
};

enum class EventOutcome { kStarted, kGap, kRefused };  // kStarted: at least one run
std::string_view Name(EventOutcome outcome);           // "started", "gap", "refused"
Result<EventOutcome> ParseEventOutcome(std::string_view text);

// A record of a topic that is no event.
struct RefusedEvent {
  std::string name_space;
  std::string place;  // "topic/partition/offset"
  std::string type = {};
  std::string problem;
};

struct EventRecord {
  std::string name_space;
  EventOrigin origin;
  WallTime accepted;
  EventOutcome outcome = EventOutcome::kStarted;
  std::vector<EventStart> starts = {};
  std::string problem = {};  // of kRefused

  bool operator==(const EventRecord&) const = default;
};

struct EventCursor {
  WallTime accepted;
  // The first 32 digits, in lower case, of the SHA-256 of namespace, source and id, with line feeds
  // between them.
  std::string tie;

  bool operator==(const EventCursor&) const = default;
};

struct EventListFilter {
  std::vector<std::string> namespaces = {};  // empty: all
  std::string type = {};                     // exact, or a beginning and a star
  std::string source = {};
  std::string id = {};
  std::optional<EventOutcome> outcome = {};
  std::optional<WallTime> since = {};
  std::optional<WallTime> until = {};
  std::optional<EventCursor> before = {};
  size_t limit = 50;
};

struct EventPage {
  std::vector<EventRecord> events;  // newest first
  std::optional<EventCursor> next = {};

  bool operator==(const EventPage&) const = default;
};

class EventStore {
 public:
  virtual ~EventStore() = default;

  // Handles each event as a whole, in order, at most kEventRunsPerWrite runs a transaction. A
  // trigger that was written before the call is seen.
  //
  //   A run has as its fire the first microsecond from `now` on at which its schedule has no run.
  //   It is planned `now`, due at its fire (kAwaiting if its job waits for others), and has the
  //   version and the priority of its job at that moment.
  //   A paused job has a gap instead, whatever the event's values are; a deleted one has nothing.
  //   Parameters that cannot be made: kBadEvent. Gaps are at `now`. Those that a transaction adds
  //   for one schedule and reason are one row, which counts them; the rows are added in the order
  //   of schedule and reason.
  //   The starts are by schedule id. A later event of the call with the same key is a duplicate.
  //   A known event that matches no trigger any more is answered as any other without a match.
  //
  // kInvalid with the pointer "/N": event N matches more than kMatchesPerEvent triggers; nothing of
  // the call was stored. kExhausted: more than kEventsPerCall events.
  virtual Result<std::vector<EventEffect>> Accept(const NewEvents& batch, WallTime now) = 0;

  // Stores a record that is no event, once for its place, which is its id. Its source is empty, so
  // that no event has its key.
  virtual Status Refuse(const RefusedEvent& event, WallTime now) = 0;

  // Triggers whose definition cannot be read are left out.
  virtual Result<std::shared_ptr<const TriggerSet>> ReadTriggers(const std::string& name_space) = 0;

  // From `since` on and before `until`. `next` is set if there are more.
  virtual Result<EventPage> ListEvents(const EventListFilter& filter) = 0;

  // The PENDING runs of kind kEvent, counted up to `limit`.
  virtual Result<int64_t> CountOpenEventRuns(int64_t limit) = 0;

  // Returns the time before which records of the topic start nothing. The first call decides it.
  virtual Result<WallTime> BeginTopic(const std::string& topic, WallTime now) = 0;
};

// The triggers of one version of a job: none without schedule ids. A filter that does not compile
// is left out.
std::vector<EventTrigger> TriggersOf(const JobVersionRecord& record);

}  // namespace carillon
