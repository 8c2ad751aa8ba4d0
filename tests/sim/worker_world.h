// A world of workers: one daemon's WorkerBook, worker processes that behave as the SDKs do, streams that break, and
// crashes of both. Judges from outside that a function is called at most once, and is over when its attempt is.
//
// Broken rules: worker.record of the book, and worker.session of the workers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace carillon::sim {

struct WorkerOutcome {
  std::optional<std::string> violation = {};
  int calls = 0;
  int breaks = 0;
  int crashes = 0;
};

WorkerOutcome SimulateWorkers(uint64_t seed);

}  // namespace carillon::sim
