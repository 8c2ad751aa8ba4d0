#include "common/adapters/mysql/run_rows/cancel_rows.h"

#include <string>

#include "common/adapters/mysql/run_rows/part_rows.h"
#include "common/base/failpoint.h"

namespace carillon::mysql {
namespace {

Result<CancelEffect> CancelAlone(StoredRun& run, RunWriter& writer, const CancelTerms& terms) {
  const CancelEffect effect = DecideCancel(run.row, terms.mode, terms.overlap);
  if (effect == CancelEffect::kNothing || effect == CancelEffect::kAskedHarder) return effect;
  if (effect == CancelEffect::kCancelledNow) {
    const std::string_view why = CancelReason(run.row);
    CARILLON_TRY(writer.End(run, RunState::kCancelled, why, terms.now));
  } else {
    CARILLON_TRY(writer.RequestCancel(run, terms.mode));
  }
  if (!terms.sentence.empty()) {
    writer.Explain(run.row.key, terms.sentence);
    return effect;
  }
  writer.Explain(
      run.row.key,
      CancelSentence(
          {.effect = effect, .mode = terms.mode, .actor = terms.actor, .reason = terms.reason}));
  return effect;
}

}  // namespace

CancelTerms TermsOf(const WriteContext& context) {
  return {.now = context.now,
          .mode = context.cancel_mode,
          .overlap = context.overlap(),
          .actor = context.actor,
          .reason = context.reason};
}

Result<CancelEffect> CancelLocked(StoredRun& run, const CancelTools& tools,
                                  const CancelTerms& terms) {
  CARILLON_ASSIGN_OR_RETURN(const CancelEffect effect, CancelAlone(run, tools.writer, terms));
  // Leaves parts alone that were asked as hard before, but for held ones, now confirmed.
  const bool follow = effect == CancelEffect::kRequested || effect == CancelEffect::kAskedHarder;
  if (!follow || failpoint::Broken("parts.cancel_own_only")) return effect;
  CARILLON_TRY(CancelParts(run.row, tools, terms));
  return effect;
}

Status CancelParts(const RunRow& own, const CancelTools& tools, const CancelTerms& terms) {
  if (!MayHaveParts(own)) return {};
  CARILLON_ASSIGN_OR_RETURN(std::vector<StoredRun> parts,
                            LockOpenParts(tools.session, own.key, tools.incarnations));
  for (StoredRun& part : parts) {
    if (!part.readable) continue;
    CARILLON_ASSIGN_OR_RETURN(const CancelEffect unused, CancelAlone(part, tools.writer, terms));
    static_cast<void>(unused);
  }
  return {};
}

Status GiveUpLocked(const RunRow& run, const JobRow& job, const CancelTools& tools,
                    const CancelTerms& terms) {
  CARILLON_TRY(CheckGiveUp(run, job.cooperative, terms.overlap));
  const std::string sentence = GiveUpSentence(terms.actor, terms.reason);
  const auto give_up = [&](const RunRow& row) {
    tools.writer.GiveUp(row);
    tools.writer.Explain(row.key, sentence);
  };
  give_up(run);
  if (!MayHaveParts(run)) return {};
  CARILLON_ASSIGN_OR_RETURN(const std::vector<StoredRun> parts,
                            LockOpenParts(tools.session, run.key, tools.incarnations));
  for (const StoredRun& part : parts) {
    if (part.readable && MayGiveUp(part.row, job.cooperative)) give_up(part.row);
  }
  return {};
}

}  // namespace carillon::mysql
