// Cancels of runs, in the caller's transaction.
//
// Always   Every way that cancels a run calls CancelLocked: it alone knows that the parts of a fire
//          go with its own run, in the same transaction, so that none of them is claimed after it.
#pragma once

#include <string_view>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/ports/store/job_store.h"

namespace carillon::mysql {

struct CancelTerms {
  WallTime now;
  CancelMode mode = CancelMode::kGraceful;
  Overlap overlap = Overlap::kUnconfirmed;
  // Of a person's cancel (CancelSentence):
  std::string_view actor = {};
  std::string_view reason = {};
  std::string_view sentence = {};  // of a cancel by a rule; becomes the error of the run itself
};
// Refers to the context.
CancelTerms TermsOf(const WriteContext& context);

struct CancelTools {
  Session& session;
  Incarnations& incarnations;
  RunWriter& writer;
};

// Applies DecideCancel to a locked run, and then to its open parts, which it locks. A part is
// cancelled alone. The effect is that on the run itself.
Result<CancelEffect> CancelLocked(StoredRun& run, const CancelTools& tools,
                                  const CancelTerms& terms);

// Applies DecideCancel to the open parts of a fire whose own run is locked.
Status CancelParts(const RunRow& own, const CancelTools& tools, const CancelTerms& terms);

// Tells the owner that a person has given up the attempt of a locked run, or those of the open
// parts of its fire. kConflict: CheckGiveUp. `job`: JobOf the run.
Status GiveUpLocked(const RunRow& run, const JobRow& job, const CancelTools& tools,
                    const CancelTerms& terms);

// True if the run was cancelled, or has a request.
constexpr bool IsCancel(CancelEffect effect) { return effect != CancelEffect::kNothing; }

}  // namespace carillon::mysql
