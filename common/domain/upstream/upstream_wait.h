// Judges whether the runs of another job for which a run waits have come. Pure.
//
// The answer follows from fires, never from the times at which runs ended. Only dated runs count
// (IsDated): those of a fire, passed on or backfilled, not those that a person started. The fire
// that counts is the newest one of the window, of the other job or of a job before it. The other
// job must have a run of exactly that fire: as long as it has none, its earlier run does not pass
// for it. It is met if it is COMPLETED, or a person skipped it; for `done`, if it is final. If the
// job has several runs of that fire, all of them count, also those that are still to come because a
// run of a job before it has not ended.
//
// Never met while a schedule that makes these fires has its next unplanned one in the window: the
// planner may be behind, and the newest fire is not known. Nor while an open backfill of these jobs
// may still run a fire that would count.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/run/reasons.h"
#include "common/domain/run/run.h"
#include "common/domain/upstream/fire_window.h"
#include "common/domain/upstream/upstream_sources.h"
#include "common/domain/upstream/waits_for.h"

namespace carillon {

// A dated run that is no part, did not end for a reason of NeverRan, and is no node of a workflow
// run that has begun anew, nor of one within it: these are history (workflow_begin.h).
struct UpstreamRun {
  RunKey key;
  JobNo job_no;
  RunState state = RunState::kPending;
  std::string reason = {};
  JobNo workflow = {};       // of whose run it is a node; 0 = none
  bool end_pending = false;  // of UpstreamSources::by_end: nobody has acted upon its end yet
  bool background = false;   // of a backfill, so that its end starts no other jobs

  bool operator==(const UpstreamRun&) const = default;
};

struct UpstreamRuns {
  std::vector<UpstreamRun> runs = {};  // by key
  WallTime known_from = {};            // earlier ones were not read

  bool operator==(const UpstreamRuns&) const = default;
};
inline constexpr int64_t kUpstreamRunsMax = 5'000;  // of one job that are read at once

// Reasons of SKIPPED runs that stand for no run of their fire: another run took their place, or the
// fire was let go. One that a pause skipped stands for it: what its job makes is missing.
inline constexpr std::array kReasonsOfNoRun = {
    reason::kOverlap, reason::kMisfire, reason::kQueueFull, reason::kReplaced, reason::kShed};
bool NeverRan(RunState state, std::string_view reason);

enum class WaitVerdict { kMet, kNotMet, kUnknown };
enum class WaitCause {
  kNone,
  kNoJob,
  kNotANode,
  kTooMany,  // jobs before it
  kPaused,   // a job whose fires are not planned for that
  kUnplanned,
  kBackfill,        // an open one may still run a fire that counts
  kNoFire,          // in the window
  kNotRun,          // it has no run of the fire that counts
  kNoneToCome,      // nor will it get one: a backfill has run the jobs before it
  kOpen,            // that run has not ended
  kMoreToCome,      // a run of a job before it will lead to another run of that fire
  kTooManyRuns,     // in the window: more than are read
  kEndedOtherwise,  // than the entry asks
};
struct WaitAnswer {
  WaitVerdict verdict = WaitVerdict::kNotMet;
  WaitCause cause = WaitCause::kNone;
  WallTime fire = {};  // that counts, is not planned or may be backfilled; zero = none
  // Of kOpen, kEndedOtherwise, kMoreToCome and kNoneToCome; of kMet the last one.
  std::optional<UpstreamRun> run = {};

  bool operator==(const WaitAnswer&) const = default;
};

// kUnknown: the runs of the window were not all read. Of several causes, that of the earliest fire.
WaitAnswer JudgeWait(const UpstreamWait& wait, const FireWindow& window,
                     const UpstreamSources& sources, const UpstreamRuns& runs);

// No wait comes to nothing so soon after a pause of the cluster, an outage or a takeover: the other
// jobs need time to catch up, too.
inline constexpr Duration kNoExpiryFor = 15min;

// The time from which the run waits no longer. A run that was written late has its time, too.
WallTime WaitLimit(WallTime fire, WallTime planned, int64_t wait_limit_s);

// The end of a wait, as far as it is known.
struct WaitUntil {
  WallTime limit;
  bool at_earliest = false;  // it may be later
};
// `now`: of the answer. Which member judges the run, and since when, is not known here.
WaitUntil UntilSeenFrom(WallTime now, WallTime limit, bool cluster_paused);

// One sentence for people: "Waits for load-orders of 2026-11-28 02:00 (run …, FAILED), until
// 2026-11-28 06:00." Times are of the zone.
std::string WaitSentence(const UpstreamWait& wait, const WaitAnswer& answer, WaitUntil until,
                         std::string_view zone);

}  // namespace carillon
