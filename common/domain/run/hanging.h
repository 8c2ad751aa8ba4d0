// Ends of an attempt that nobody can end, because its function does not return or its host is
// silent: a person gives it up, or the job's presume_dead_s takes it for dead. Pure.
//
// Place    Beside steps 8 and 10 of docs/life-of-a-run.md; table in docs/run-states.md.
// Always   Its function may go on. Later results of the attempt are decided by DecideResult.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/domain/run/run_state.h"

namespace carillon {

// True if a person may give up the run's attempt, and confirms that its function may go on: it is
// RUNNING, of a handler (JobRow::cooperative), and its cancel was requested before. Of the own run
// of a fire in parts: those of its parts for which this is true.
bool MayGiveUp(const RunRow& row, bool cooperative);
// kConflict: MayGiveUp is false, or the overlap is not confirmed.
Status CheckGiveUp(const RunRow& row, bool cooperative, Overlap overlap);
// The sentence for the run's `error`: "given up by anna: …". Empty if the user gave no reason.
std::string GiveUpSentence(std::string_view actor, std::string_view reason);

// Decides about an attempt that a person has given up: CANCELLED, outcome unknown; also if it was
// lost meanwhile. nullopt if the row changed otherwise.
std::optional<RunChange> DecideGivenUp(const RunRow* row, const LostReport& report);

// When the HELD run is taken for dead; nullopt: a person decides, or its host.
std::optional<WallTime> PresumedDeadAt(const RunRow& row);

// Decides about a lost attempt at PresumedDeadAt: CANCELLED, outcome unknown, if a cancel was
// requested; otherwise as DecideLost of a dead process under on_lost `retry`. If the job has no
// presume_dead_s any more, or another on_lost, the run stays HELD until a person or its host ends
// it. nullopt if the row changed meanwhile, or `now` is too early.
std::optional<RunChange> DecidePresumed(const RunRow* row, const JobRow& job,
                                        const LostReport& report, WallTime now);

}  // namespace carillon
