// A world of workers: one daemon's WorkerTable, processes of two workers each that behave as the
// SDKs do, streams that break, crashes of both, programs that execute others in their place, and
// workers that their programs give up. Judges from outside that a function is called at most once,
// and is over when its attempt is.
//
// Broken rules: worker.record, worker.instance and worker.away of the book, and worker.session of
// the workers.
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
  int silent = 0;  // attempts of which nobody spoke at the end, though their process lived
};

WorkerOutcome SimulateWorkers(uint64_t seed);

}  // namespace carillon::sim
