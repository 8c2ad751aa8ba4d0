// The rows of the parts of a fire (domain/parts/run_part.h).
//
// Always   Whoever locks parts, or writes them for another reason than the end of their attempts,
//          has locked the own run before.
#pragma once

#include <map>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/domain/parts/part_retry.h"
#include "common/domain/parts/run_part.h"

namespace carillon::mysql {

// The SQL condition that the run of `r` is the own run of its fire, or has no parts.
inline constexpr std::string_view kIsOwnRun = "r.shard = 0";

// False: the run has never begun by parts, or is one.
constexpr bool MayHaveParts(const RunRow& run) {
  return !IsPart(run.key) && (run.flags & run_flag::kParts) != 0;
}

// By index. `own` is the key of the own run.
Result<std::vector<StoredRun>> LockOpenParts(Session& session, const RunKey& own,
                                             Incarnations& incarnations);

struct LockedPart {
  StoredRun run;
  std::string reason = {};
};
// All parts, by index. The `may_still_run` of those whose process has reported its end is false.
Result<std::vector<LockedPart>> LockParts(Session& session, const RunKey& own,
                                          Incarnations& incarnations);

// Without locks, by index.
Result<std::vector<RunPart>> ReadParts(Session& session, const RunKey& own,
                                       Incarnations& incarnations);
Result<std::map<RunKey, PartCounts>> ReadPartCounts(Session& session,
                                                    const std::vector<RunKey>& owns);

// Copies the ended attempts of runs, which are locked, to their earlier ones. A report that is
// there already stays.
Status RecordEndedAttempts(Session& session, const std::vector<RunKey>& runs);

}  // namespace carillon::mysql
