// Why a job did or did not fire at a time: the decision, from what was found on record. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/domain/job.h"
#include "common/domain/run.h"
#include "common/ports/job_store.h"
#include "common/ports/run_store.h"

namespace carillon::scheduler {

// A person names the minute.
inline constexpr Duration kWhyWindow = 60s;

// Of the whole cluster, and over.
struct PastPause {
  WallTime since;
  WallTime until;
  std::string by;
  std::string reason;
};

struct FireEvidence {
  WallTime at;   // the time asked about; what is due within kWhyWindow from then on counts
  WallTime now;  // cluster time
  WallTime created;
  // The definition in force at `at`; nullopt: not kept any more, or it cannot be read.
  std::optional<JobDefinition> definition = {};
  std::optional<WallTime> due = {};  // the first fire of that definition in the window
  // Of the window: the run that answers best (one that ran before one that was skipped).
  std::optional<RunDetail> run = {};
  std::string run_waits_for = {};  // a sentence, when that run is PENDING
  std::optional<GapRecord> gap = {};
  std::optional<PastPause> past_pause = {};   // in which `due` was
  std::optional<WallTime> paused_since = {};  // the whole cluster is, now
};

struct FireAnswer {
  std::string_view outcome;  // stable
  std::string explanation;   // a sentence
};

FireAnswer ExplainFire(const FireEvidence& evidence);

}  // namespace carillon::scheduler
