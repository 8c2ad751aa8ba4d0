// Rules of fires that are done in parts, judged at each write of a run by the rows as they then
// are. The end of an own run is compared with a second implementation of the rules.
//
// - A begin makes all parts of a fire, with one total, or none. The total is that of the
//   definition, the number of hosts that are alive, or, for a broadcast, that of all hosts in the
//   list, of which each has one part. So it is with a fire that begins once more.
// - No part is made, or made to wait or run again, outside of a fire that runs; none is removed
//   except by a begin.
// - No part waits for a slot of its job, or runs on another host than the one that it is bound to.
// - No part is claimed while its fire is being cancelled.
// - An own run ends after its parts, and as they did. Later only a late result changes it, from
//   LOST.
// - At rest, no own run is open or LOST against its parts, and nobody was told of a part.
// - Once faults are over, an own run ends soon after its last part; world.cc does that.
// - No fire begins beside more active fires than max_running, and none ends while a process of its
//   parts acts; checker.cc does that.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/twins/memory_tables.h"

namespace carillon::sim {

class PartsCheck {
 public:
  // A member begins fires. A person who retries parts of a fire that has ended makes its own run
  // RUNNING, too.
  enum class Writer { kMember, kPerson };

  PartsCheck(memory::MemoryTables& tables, std::function<WallTime()> now)
      : tables_(tables), now_(std::move(now)) {}

  // Returns what is wrong with the write of a run, inside the write; nullopt: nothing.
  std::optional<std::string> RunWritten(const RunRow* before, const RunRow* after, Writer writer)
      REQUIRES(tables_.mu);
  // True inside the begin of this fire.
  bool Begins(const RunKey& own) const { return begins_ == own; }
  std::vector<RunKey> PartsOf(const RunKey& own) const REQUIRES(tables_.mu);
  // True for an attempt of a part that a begin has removed since, and of which no run tells.
  bool HasRemoved(const RunKey& part, int attempt) const;
  // An own run that is still RUNNING although its last part has ended before `limit`.
  std::optional<std::string> EndedBefore(WallTime limit) const;
  std::optional<std::string> AtRest() const;

  size_t begun() const { return begun_; }
  size_t broadcasts() const { return broadcasts_; }  // of them, on more than one host

 private:
  const JobDefinition* DefinitionOf(const RunRow& row) const REQUIRES(tables_.mu);
  std::set<ExecutorId> HostsFor(const JobDefinition& job, WallTime now) const REQUIRES(tables_.mu);
  std::optional<std::string> PartWritten(const RunRow* before, const RunRow* after)
      REQUIRES(tables_.mu);
  std::optional<std::string> Claimed(const RunRow& part, const RunRow& own) const;
  std::optional<std::string> Begun(const RunRow& own) REQUIRES(tables_.mu);
  std::optional<std::string> Ended(const RunRow& before, const RunRow& after) REQUIRES(tables_.mu);
  std::vector<const memory::RunEntry*> EntriesOf(const RunKey& own) const REQUIRES(tables_.mu);

  memory::MemoryTables& tables_;
  const std::function<WallTime()> now_;
  std::optional<RunKey> begins_;
  std::map<RunKey, WallTime> closed_;  // RUNNING own runs: when their last part ended
  std::map<RunKey, int> removed_;      // parts that begins have removed: their last attempts
  size_t begun_ = 0;
  size_t broadcasts_ = 0;
};

}  // namespace carillon::sim
