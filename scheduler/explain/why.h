// Decides from stored data why a job did or did not fire at a time. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/domain/job.h"
#include "common/domain/run.h"
#include "common/ports/job_store.h"
#include "common/ports/run_store.h"

namespace carillon::scheduler {

// Users ask by minute.
inline constexpr Duration kWhyWindow = 60s;

// A pause of the whole cluster that has ended.
struct PastPause {
  WallTime since;
  WallTime until;
  std::string by;
  std::string reason;
};

struct FireEvidence {
  WallTime at;   // the time asked about; fires within kWhyWindow from then count
  WallTime now;  // cluster time
  WallTime created;
  // The definition in effect at `at`; nullopt: no longer kept, or unreadable.
  std::optional<JobDefinition> definition = {};
  std::optional<WallTime> due = {};  // the first fire of that definition in the window
  // The most telling run of the window: one that ran goes before one that was skipped.
  std::optional<RunDetail> run = {};
  std::string run_waits_for = {};  // a sentence, when that run is PENDING
  std::optional<GapRecord> gap = {};
  std::optional<PastPause> past_pause = {};   // in which `due` was
  std::optional<WallTime> paused_since = {};  // of the whole cluster, now
};

struct FireAnswer {
  std::string_view outcome;  // stable
  std::string explanation;   // a sentence
};

FireAnswer ExplainFire(const FireEvidence& evidence);

}  // namespace carillon::scheduler
