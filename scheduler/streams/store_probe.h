// Reads the part of the cluster's state that only the store has. A separate thread reads the store,
// so that callers wait for a bounded time.
//
// Threads  Thread-safe.
#pragma once

#include <optional>
#include <vector>

#include "common/base/loops/bounded_call.h"
#include "common/base/mutex.h"
#include "common/ports/store/executor_store.h"
#include "common/ports/store/letter_store.h"
#include "common/ports/store/run_store.h"
#include "common/ports/store/segment_store.h"

namespace carillon::scheduler {

struct StoreView {
  std::vector<SegmentRecord> segments;
  std::vector<ExecutorRecord> executors;
  RunCounts counts;
  // nullopt: none are published, or it could not be read. The rest of the view holds without it.
  std::optional<LetterBacklog> letters = {};
};

struct StoreSnapshot {
  std::optional<StoreView> view = {};  // nullopt: the store did not answer
  // When the store last answered, by the wall clock of this host. If the store has not answered
  // yet, the time when the probe was created.
  WallTime known_at = {};
};

class StoreProbe {
 public:
  struct Ports {
    SegmentStore& segments;
    ExecutorStore& executors;
    RunStore& runs;
    LetterStore* letters = nullptr;  // null: dead letters are not published
    const Clock& clock;
  };
  // Look blocks for at most `patience`.
  StoreProbe(const Ports& ports, Duration patience);

  StoreSnapshot Look();
  void Stop() { aside_.Stop(); }

 private:
  const Ports ports_;
  const Duration patience_;
  BoundedCall aside_;
  Mutex mu_;
  WallTime known_at_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
