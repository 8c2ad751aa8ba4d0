// The begin and the end of a fire whose work is done by parts: what its parts begin with, and the
// state of its own run by those of its parts. Pure.
//
// Always   A part that was given up without a kill makes the own run one for which MayStillRun
//          holds, so that nobody repeats the fire without confirming that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/parts/fan_out_places.h"
#include "common/domain/run/run_state.h"

namespace carillon {

// The flags of a new part.
uint32_t FlagsOfPart(const RunRow& own);
// A part of a fire that begins once more, because its own run was opened again.
RunChange BeginPartAgain(const RunRow& part, const RunRow& own, WallTime now);

// The end of an own run that has begun and gets no parts, because these places are refused.
//   SKIPPED     no host was found
//   COMPLETED   the number of its parts is 0: all of nothing is done, so what follows goes on
//   FAILED      otherwise
struct NoParts {
  RunChange change;
  AttemptResult result;
};
NoParts EndOfNoParts(const RunRow& own, const Places& places, WallTime now);

// The last attempt of a part.
struct PartEnd {
  uint32_t shard = 1;  // from 1; users count from 0
  RunState state = RunState::kPending;
  bool first_try = true;  // IsFirstTry
  bool may_still_run = false;
  std::string reason = {};
  WallTime claimed = WallTime{};  // by cluster time
  WallTime started = WallTime{};  // by its host's clock; zero = never
  WallTime ended = WallTime{};
};

struct FireEnd {
  RunState state = RunState::kCompleted;
  std::string_view reason = {};
  std::string error = {};  // names the parts that are the cause; empty = none
  // The first start since the own run began its present attempt; zero = none. Parts that a retry
  // has left alone have ended in an earlier one.
  WallTime started = WallTime{};
  WallTime ended = WallTime{};
};

// nullopt: a part is open.
//   CANCELLED                that was asked for, as with the nodes of a workflow
//   FAILED, else TIMED_OUT   a part is; a part whose host was down at a later attempt counts as
//                            FAILED
//   LOST                     a part is, and no other has failed
//   CANCELLED                a part is, or its job was deleted
//   FAILED                   some parts were skipped otherwise
//   SKIPPED                  all parts were, by queue_timeout before the first attempt; or all
//                            hosts were down, or match the job no more. Those that do not match,
//                            or were down before the first attempt, count as nothing otherwise
//   COMPLETED                otherwise
std::optional<FireEnd> EndOf(const std::vector<PartEnd>& parts, const RunRow& own);

// The result that is stored with the own run. No end is in the future, whatever the hosts say.
AttemptResult ResultOf(const FireEnd& end, WallTime now);

// True for an own run between its begin and its end: RUNNING with parts and without an executor.
// One that runs at an executor, since its job has lost its shards, has not begun.
bool HasBegunParts(const RunRow& own);

// The change of the own run when no part is open; nullopt if it has ended, or waits. An own run
// that is final is changed only from LOST, by a late result of a part.
std::optional<RunChange> DecideFireEnd(const RunRow& own, bool job_deleted, const FireEnd& end);

// Adds the output that a mapped node collects from its parts to the end of its own run; `outputs`:
// those of the parts, by index (mapped_items.h). If it is too long, a run that completes fails
// (bad_outputs); any other end is without it, as that of a run that is skipped.
void AddCollected(const std::string& name, const std::vector<std::optional<std::string>>& outputs,
                  RunChange& change, AttemptResult& result);

}  // namespace carillon
