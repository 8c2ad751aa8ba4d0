// Explains why a job did or did not fire at a time, from records of the store. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/domain/event/event.h"
#include "common/domain/job/job.h"
#include "common/domain/run/run.h"
#include "common/ports/store/job_store.h"
#include "common/ports/store/run_store.h"
#include "scheduler/explain/excluded_fire.h"

namespace carillon::scheduler {

// People give a time to the minute, so all fires in the minute that begins at this time count.
inline constexpr Duration kWhyWindow = 60s;

// A pause of the whole cluster that has ended.
struct PastPause {
  WallTime since;
  WallTime until;
  std::string by;
  std::string reason;
};

struct FireEvidence {
  WallTime at;       // the time in question: the beginning of the window of kWhyWindow
  WallTime now;      // cluster time
  WallTime created;  // when the job was created
  // The definition in force at `at`; nullopt: no longer stored, or it cannot be decoded.
  std::optional<JobDefinition> definition = {};
  bool paused_by_failures = false;   // that definition is of a pause by pause_after_failures
  std::optional<WallTime> due = {};  // the first fire of that definition in the window
  std::string problem = {};          // why one of its schedules cannot be planned; "" = all can
  std::optional<ExcludedFire> excluded = {};  // in the window; used if nothing is due
  // A run in the window; a run that was started is preferred to one that was skipped.
  std::optional<RunDetail> run = {};
  std::string run_waits_for = {};         // a sentence, if that run is PENDING
  std::optional<EventOrigin> event = {};  // that started that run
  std::optional<GapRecord> gap = {};
  std::optional<PastPause> past_pause = {};   // the pause that contains `due`
  std::optional<WallTime> paused_since = {};  // set while the whole cluster is paused
};

struct FireAnswer {
  std::string_view outcome;  // a stable code for programs
  std::string explanation;   // a sentence
};

FireAnswer ExplainFire(const FireEvidence& evidence);

}  // namespace carillon::scheduler
