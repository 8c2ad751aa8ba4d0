// Rules of nodes without a process, and of finally nodes, judged at each write of a run.
//
// - An approval or a wait that has opened ends once: by the decision of a person, at its end, by a
//   cancel of its workflow run or of itself, or because a person skips it. It is never claimed.
// - Only those whom an approval names decide, skip it, or skip a node behind it.
// - It ends by itself neither before its end nor long after it. A pause of the cluster stops the
//   time of an approval, but not that of a wait; meanwhile no approval ends by itself.
// - Only a kill of their workflow run, a person who cancels them, the end of their time, and a new
//   run of their job that ends its previous one stop finally nodes. They run once more after any
//   other node has run.
// - They have ended when their workflow run ends.
//
// workflows_check.h judges when a node may open, start or be skipped.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "common/domain/nodes/approval.h"
#include "tests/twins/memory_tables.h"

namespace carillon::sim {

// Encloses a call by which a person changes nodes.
struct NodeDeed {
  RunKey key = {};           // of the run that the call names
  std::string node = {};     // of this own run; "" = none
  std::string user_id = {};  // "" = nobody's token
  std::optional<Decision> decision = {};
  bool kills = false;
};

class NodesCheck {
 public:
  NodesCheck(memory::MemoryTables& tables, std::function<WallTime()> now)
      : tables_(tables), now_(std::move(now)) {}

  void Begin(NodeDeed deed) { deed_ = std::move(deed); }
  void End() { deed_.reset(); }
  // The settings with this change have just been written.
  void ClusterPaused(bool paused);

  // Returns what is wrong with the write of a run, inside the write; nullopt: nothing.
  std::optional<std::string> RunWritten(const RunRow* before, const RunRow& after)
      REQUIRES(tables_.mu);
  // True for a finally node whose workflow run was not killed.
  bool RunsAfterCancel(const RunKey& node) const REQUIRES(tables_.mu);
  // An opened node that is late, although nothing has been in its way since `calm`.
  std::optional<std::string> Look(WallTime calm) const;

  size_t opened() const { return opened_count_; }
  size_t decided() const { return decided_; }  // by a person
  size_t expired() const { return expired_; }  // and by themselves
  size_t finally() const { return finally_; }  // finally nodes that were released

 private:
  struct Place {
    const memory::WorkflowEntry& entry;
    const WorkflowDefinition& definition;
    const WorkflowNode& node;
  };
  struct Opened {
    WallTime at;
    WallTime earliest = kNever;  // of its end by itself; kNever: it has none
    WallTime latest = kNever;    // a pause is counted as a whole
  };

  std::optional<Place> PlaceOf(const RunKey& key) const REQUIRES(tables_.mu);
  const memory::RunEntry* NodeRun(const Place& place, size_t position) const REQUIRES(tables_.mu);
  void NodeOpened(const Place& place, const RunRow& row) REQUIRES(tables_.mu);
  std::optional<std::string> OpenedWritten(const Place& place, const RunRow& after)
      REQUIRES(tables_.mu);
  std::optional<std::string> EndedByItself(const Place& place, const RunRow& after)
      REQUIRES(tables_.mu);
  std::optional<std::string> Decided(const Place& place, const RunRow& after) REQUIRES(tables_.mu);
  std::optional<std::string> Skipped(const Place& place, const RunRow& after) const
      REQUIRES(tables_.mu);
  std::optional<std::string> FinallyWritten(const Place& place, const RunRow& before,
                                            const RunRow& after) const REQUIRES(tables_.mu);
  std::optional<std::string> OwnEnded(const RunRow& after) const REQUIRES(tables_.mu);
  bool MayDecide(const WorkflowNode& node) const;
  bool IsNamed(const Place& place) const;

  memory::MemoryTables& tables_;
  const std::function<WallTime()> now_;
  std::optional<NodeDeed> deed_;
  std::optional<WallTime> paused_at_;
  uint64_t writes_ = 0;
  std::map<RunKey, Opened> opened_;                        // those that are open
  std::map<RunKey, uint64_t> released_;                    // the write that did it last
  std::map<RunKey, std::pair<uint64_t, WallTime>> ended_;  // likewise
  size_t opened_count_ = 0;
  size_t decided_ = 0;
  size_t expired_ = 0;
  size_t finally_ = 0;
};

}  // namespace carillon::sim
