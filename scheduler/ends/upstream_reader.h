// Reads what the questions of a look ask for, so that one that cannot be read holds up no other,
// and that the answer to each is one of a single moment.
//
// Threads  One loop calls it.
// Errors   Counts those of the store. If a read of many targets fails, each is tried alone. Those
//          that fail are set aside; if none does, fewer are read at once from then on.
// Always   Sources are read before runs (upstream_store.h). After a read of very many runs, fewer
//          targets are read and kept at once for a while.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "common/ports/store/upstream_store.h"
#include "scheduler/ends/owner_scan.h"
#include "scheduler/ends/wait_questions.h"

namespace carillon::scheduler {

class UpstreamReader {
 public:
  static constexpr size_t kTargetsPerRead = 100;
  static constexpr size_t kReadsAtOnce = 5;
  static constexpr size_t kRunsPerRead = 100'000;  // above it, fewer targets are read at once
  static constexpr Duration kMoreAfter = 10min;    // more are tried again
  static constexpr size_t kAlonePerLook = 20;
  static constexpr size_t kFailuresPerLook = 3;  // each may take as long as a statement may
  static constexpr Duration kAsideFor = 5s;      // doubled after each further failure
  static constexpr Duration kAsideMax = 60s;

  UpstreamReader(UpstreamStore& store, OwnerScan& scan) : store_(store), scan_(scan) {}

  // The targets that one Read should have at most. All that it reads is kept in memory.
  size_t targets_max() const { return kReadsAtOnce * targets_per_read_; }
  // Returns false if nothing can be judged in this look.
  bool Read(WaitQuestions& questions, SteadyTime now);
  // True if nothing can be said about the target in this look.
  bool IsLeftOut(const UpstreamTarget& target) const { return left_out_.contains(target); }
  // Reads the sources once more. Leaves out those that were edited, paused or deleted meanwhile:
  // nobody knows whether their runs were read before that or after it. Returns false if the store
  // did not answer.
  bool Confirm(const std::set<UpstreamTarget>& targets);

 private:
  struct Aside {
    SteadyTime until;
    Duration wait;
  };

  struct Turns {
    std::vector<UpstreamTarget> usual = {};
    std::vector<UpstreamTarget> again = {};  // of those set aside
  };

  Turns TurnsOf(const WaitQuestions& questions, SteadyTime now);
  Status ReadBatch(WaitQuestions& questions, const std::vector<UpstreamTarget>& targets,
                   SteadyTime now);
  void ReadFewer(size_t targets, SteadyTime now);
  void FindBad(WaitQuestions& questions, const std::vector<UpstreamTarget>& targets,
               const Error& error, SteadyTime now);
  void TryAside(WaitQuestions& questions, const std::vector<UpstreamTarget>& targets,
                SteadyTime now);
  void ReadAlone(WaitQuestions& questions);
  void SetAside(const UpstreamTarget& target, const Error& error, SteadyTime now);

  UpstreamStore& store_;
  OwnerScan& scan_;
  // Of this look.
  std::map<UpstreamTarget, UpstreamSources> sources_;
  std::set<UpstreamTarget> left_out_;
  bool answered_ = false;  // a read has succeeded

  std::map<UpstreamTarget, Aside> aside_;
  size_t targets_per_read_ = kTargetsPerRead;
  SteadyTime more_at_{};
  // These rotate.
  size_t read_from_ = 0;
  size_t try_from_ = 0;
  size_t alone_from_ = 0;
};

}  // namespace carillon::scheduler
