// Judges what events start, by an implementation of its own: another matcher, for the filters that
// the actor writes, and another way to fill in parameters. It sees every answer, also those that
// are lost on the way to the actor.
//
// Promises, each with the beginning of its text
//
//   events once        Of each event and trigger there is at most one run or gap, ever.
//   events all         There is exactly one if they match: a gap if the job is paused or the
//                      parameters cannot be made, and otherwise a run.
//   events parameters  Those of a run are made by the definition whose version it has, and stay.
//   events strangers   No run is of a trigger that was not there, or of another event.
//   events duplicates  The answer to a known event is the first one.
//   events topics      Each record of a topic is accepted or refused (event_topics.h).
//   events untrusted   Stored parameters contain no placeholder that a definition has, and texts
//                      of an event are marked, also in the nodes of its workflow.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "common/ports/events/event_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::sim {

// The parameter that workflows give to their nodes, and the one that a node has from it.
inline constexpr const char* kToNodes = "who";
inline constexpr const char* kOfWorkflow = "of_workflow";

struct EventPost {
  std::string name_space;
  std::vector<std::string> bodies;  // each the JSON of an event
};

class EventsCheck {
 public:
  using Fail = std::function<void(const std::string& promise, const std::string& text)>;

  EventsCheck(EventStore& store, memory::MemoryTables& tables, Fail fail)
      : store_(store), tables_(tables), fail_(std::move(fail)) {}

  // Observes a write of a run; the tables are locked.
  void RunWritten(const RunRow* before, const RunRow* after);
  // Sends the events and judges what that has done.
  Result<std::vector<EventEffect>> Send(const EventPost& post, WallTime now);
  // Judges what is stored when the world rests.
  void AtRest();
  // True if a call with such an event has been answered.
  bool HasAccepted(const std::string& name_space, const std::string& source,
                   const std::string& id) const {
    return accepted_.contains({name_space, source, id});
  }
  size_t started() const { return runs_.size(); }

 private:
  using EventName = std::tuple<std::string, std::string, std::string>;  // namespace, source, id
  using Fate = std::pair<EventName, ScheduleId>;

  struct Trigger {
    ScheduleId id;
    JobNo job_no;
    int64_t version = 0;
    bool paused = false;
    ScheduleSpec spec;
    std::map<std::string, ParameterRule> rules;
  };

  std::vector<Trigger> TriggersIn(const std::string& name_space);
  void JudgeRun(const RunKey& key, const EventPost& post, const std::vector<Trigger>& triggers);
  void JudgeParameters(const RunKey& key, const Trigger& trigger, const std::string& body);
  void JudgeEffect(const EventName& name, const std::string& body,
                   const std::vector<Trigger>& triggers, const EventEffect& effect);
  void JudgeStart(const EventName& name, const std::string& body, const Trigger& trigger,
                  const EventStart& start);
  void JudgeGaps() REQUIRES(tables_.mu);
  void JudgeNodes() REQUIRES(tables_.mu);

  EventStore& store_;
  memory::MemoryTables& tables_;
  const Fail fail_;
  std::vector<RunKey> fresh_;           // written by the call in progress
  std::map<Fate, int> fates_;           // runs and gaps
  std::map<RunKey, std::string> runs_;  // with the parameters that they had first
  std::map<EventName, std::vector<EventStart>> known_;
  std::map<std::pair<ScheduleId, GapReason>, int64_t> gaps_;
  std::set<EventName> accepted_;  // known or without a match
};

}  // namespace carillon::sim
