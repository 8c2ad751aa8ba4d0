// Rules of workflow runs, judged at each write of a run by a second implementation of the rules of
// a graph.
//
// - A node is released only while its workflow run is RUNNING, if its upstream nodes let it start,
//   and if fewer than max_parallel nodes are active.
// - A node's run remains a part of its workflow run.
// - A node is skipped as not_selected, upstream_failed or too_few if its upstream nodes say so.
// - Nodes without a process open without regard to max_parallel. nodes_check.h judges their ends.
// - Finally nodes are decided about when all others have ended, also after a cancel.
// - A workflow run ends when all its nodes have ended, with the result that follows from them.
// - No node is claimed after the acknowledged cancel of its workflow run; checker.cc does that.
// - A run that a person retried continues the workflow run that it had; one that a backfill runs
//   again has a new one.
// - A nested workflow run is a new one if a node before it has run again since it began, by a
//   person's wish.
// - The nodes of a backfilled run are backfilled, and only they.
// - No node is claimed while a process of the same workflow's run from before a new begin acts;
//   checker.cc does that.
// - At rest, no workflow run is open.
// - Once faults are over, a node that may start does so soon.
//
// The graphs of these worlds have conditions on exit codes only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/workflow/workflow_begin.h"
#include "tests/twins/memory_tables.h"

namespace carillon::sim {

class WorkflowsCheck {
 public:
  explicit WorkflowsCheck(memory::MemoryTables& tables) : tables_(tables) {}

  // Returns what is wrong with the write of a run, inside the write; nullopt: nothing.
  std::optional<std::string> RunWritten(const RunRow* before, const RunRow& after)
      REQUIRES(tables_.mu);
  // An own run that had ended was made PENDING again.
  void Reopened(const RunKey& own, BeginKind next) REQUIRES(tables_.mu);
  // The nodes' runs of the workflow runs that the own run of this node has had before.
  std::vector<RunKey> RunsFromBefore(const RunKey& node) const REQUIRES(tables_.mu);
  // The outermost one around a run.
  RunKey OutermostOf(const RunKey& key) const REQUIRES(tables_.mu);
  // The own run of the workflow run that the node's run is a part of; nullopt: it is no node's run.
  std::optional<RunKey> OwnOf(const RunKey& key) const REQUIRES(tables_.mu);
  // True if both runs belong to one workflow run.
  bool AreOfOne(const RunKey& a, const RunKey& b) const REQUIRES(tables_.mu);
  std::optional<std::string> AtRest() const;
  // A node that may start, and has been so since an earlier look that is too long ago.
  std::optional<std::string> Look(WallTime now);

  size_t released() const { return released_; }

 private:
  enum class End { kOpen, kSuccess, kFailure, kNotSelected, kUpstreamFailed, kTooFew };
  enum class Answer { kOpen, kMet, kFailed, kIgnored };
  enum class Fate { kWait, kStart, kNotSelected, kUpstreamFailed, kTooFew };
  struct View {
    const memory::WorkflowEntry& entry;
    const WorkflowDefinition& definition;
    std::vector<const memory::RunEntry*> nodes;  // by position
  };

  std::optional<View> ViewOf(uint64_t no) const REQUIRES(tables_.mu);
  static End EndOf(const memory::RunEntry& run);
  static size_t PositionOf(const View& view, const WorkflowEdge& edge);
  static Answer AnswerOf(const View& view, const WorkflowEdge& edge);
  static Fate FateOf(const View& view, const WorkflowNode& node);
  static bool HasMainEnded(const View& view);
  static int64_t ActiveOf(const View& view);
  static bool Fails(const View& view);
  // Returns what is wrong with the workflow run that the own run has now.
  std::optional<std::string> CheckBegin(const RunKey& own, uint64_t no) const REQUIRES(tables_.mu);
  std::optional<std::string> CheckInput(const RunKey& own, uint64_t no) const REQUIRES(tables_.mu);
  std::optional<std::string> NodeMade(const RunRow& node) const REQUIRES(tables_.mu);
  std::optional<std::string> NodeWritten(const RunRow& before, const RunRow& after)
      REQUIRES(tables_.mu);
  std::optional<std::string> Released(const View& view, const WorkflowNode& node,
                                      const RunRow& after) REQUIRES(tables_.mu);
  std::optional<std::string> OwnWritten(const View& view, const RunRow& after) const
      REQUIRES(tables_.mu);

  memory::MemoryTables& tables_;
  // By own run: what its next begin has to do, and the number of the workflow run that it had
  // until then.
  std::map<RunKey, std::pair<BeginKind, uint64_t>> reopened_;
  uint64_t writes_ = 0;
  std::map<uint64_t, uint64_t> begun_;    // by workflow run: the write of its first node
  std::map<RunKey, uint64_t> run_again_;  // the write that made a tried and ended run PENDING
  std::map<RunKey, WallTime> ready_;      // nodes that may start: since when
  size_t released_ = 0;
};

}  // namespace carillon::sim
