// The port EventStore in memory.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/ports/events/event_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryEventStore final : public EventStore {
 public:
  explicit MemoryEventStore(MemoryTables& tables) : tables_(tables) {}

  Result<std::vector<EventEffect>> Accept(const NewEvents& batch, WallTime now) override;
  Status Refuse(const RefusedEvent& event, WallTime now) override;
  Result<std::shared_ptr<const TriggerSet>> ReadTriggers(const std::string& name_space) override;
  Result<EventPage> ListEvents(const EventListFilter& filter) override;
  Result<int64_t> CountOpenEventRuns(int64_t limit) override;
  Result<WallTime> BeginTopic(const std::string& topic, WallTime now) override;

 private:
  // The gaps of one transaction, by schedule and reason.
  using Gaps = std::map<std::pair<ScheduleId, GapReason>, std::pair<JobNo, int64_t>>;
  struct Seen {
    std::map<JobNo, bool> paused;
    std::map<ScheduleId, EventTrigger> triggers;
  };
  struct Writing {
    std::map<std::string, EventRecord> events;  // of the call, by key
    Gaps gaps;
    size_t starts = 0;  // of the transaction
  };

  std::vector<EventTrigger> TriggersIn(const std::string& name_space) REQUIRES(tables_.mu);
  EventStart Start(const EventTrigger& trigger, const Event& event, WallTime now, Gaps& gaps)
      REQUIRES(tables_.mu);
  EventEffect AcceptOne(const std::string& name_space, const Event& event,
                        const EventMatches& matches, WallTime now, Writing& writing)
      REQUIRES(tables_.mu);
  void EndTransaction(Writing& writing, WallTime now) REQUIRES(tables_.mu);
  void Look(const std::vector<EventTrigger>& triggers) REQUIRES(tables_.mu);

  MemoryTables& tables_;
  // A store without locks would go by the state at the call before this one. Only a test that
  // breaks a rule uses it.
  Seen before_ GUARDED_BY(tables_.mu);
  Seen latest_ GUARDED_BY(tables_.mu);
  uint64_t calls_ GUARDED_BY(tables_.mu) = 0;
};

}  // namespace carillon::memory
