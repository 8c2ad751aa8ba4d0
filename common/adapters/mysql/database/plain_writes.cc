#include "common/adapters/mysql/database/plain_writes.h"

#include <algorithm>
#include <string>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/result_columns.h"
#include "common/adapters/mysql/run_rows/keyed_runs.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/base/failpoint.h"

namespace carillon::mysql {
namespace {

// True if this version knows the kind of the run. ReadRun treats a run of an unknown kind as final,
// so that no decision changes it. The statements of this file must not change it either.
std::string_view Readable() {
  static const std::string known = KnownKinds();
  return known;
}

std::string_view ConditionOf(ClaimFact fact) {
  switch (fact) {
    case ClaimFact::kReadable: return Readable();
    case ClaimFact::kState: return "r.state = 'PENDING'";
    case ClaimFact::kAttempt: return "r.attempt = k.a";
    case ClaimFact::kCancel: return "r.cancel_requested = 0";
    case ClaimFact::kJob: return "r.job_no = k.j";
    case ClaimFact::kVersion: return "r.def_version = k.v";
    case ClaimFact::kSegment: return "r.segment = k.g";
    case ClaimFact::kDue: return "r.due_us <= k.c";
    case ClaimFact::kPin: return "r.pinned_executor = ''";
    case ClaimFact::kGroup: return "r.group_no = 0";
    // 64 is run_flag::kOnBehalf.
    case ClaimFact::kOnBehalf: return "(r.flags & 64) = 0";
  }
  return "FALSE";
}

std::string_view ConditionOf(ResultFact fact) {
  switch (fact) {
    case ResultFact::kReadable: return Readable();
    case ResultFact::kState: return "r.state = 'RUNNING'";
    case ResultFact::kAttempt: return "r.attempt = k.a";
    case ResultFact::kToken: return "r.token_low = k.y AND r.token_high = k.x";
    case ResultFact::kCancel: return "r.cancel_requested = 0";
    case ResultFact::kJob: return "r.job_no = k.j";
    case ResultFact::kSegment: return "r.segment = k.g";
    // 1 is kSlotTaken.
    case ResultFact::kSlot: return "r.slot_taken <> 1";
    case ResultFact::kGroup: return "r.group_no = 0";
    // 8199 is run_flag::kAwaited.
    case ResultFact::kAwaited: return "(r.flags & 8199) = 0";
  }
  return "FALSE";
}

// Joins the conditions of all facts. If a failpoint breaks a fact, its condition is left out. This
// changes the text, so no session uses a statement that was prepared with the condition.
template <typename AllFacts>
std::string Where(const AllFacts& facts) {
  std::string where;
  for (const auto fact : facts) {
    if (failpoint::Broken(RuleOf(fact))) continue;
    if (!where.empty()) where += " AND ";
    where += ConditionOf(fact);
  }
  return where;
}

Result<Facts> Write(Session& session, const std::string& statement, JsonRows& rows) {
  const auto expected = static_cast<int64_t>(rows.size());
  CARILLON_ASSIGN_OR_RETURN(const int64_t matched, session.Execute(statement, {rows.Take()}));
  return matched == expected ? Facts::kHeld : Facts::kMissed;
}

}  // namespace

Result<Facts> WritePlainClaims(Session& session, const std::vector<ClaimRequest>& requests,
                               const std::vector<uint32_t>& incarnations,
                               const std::vector<size_t>& places, WallTime now) {
  // 1 is kSlotTaken, 2 is kActiveNoSlot. While a run waits for a retry, it keeps its row of
  // run_slots, so 1 stays 1.
  const std::string statement = UpdateRuns(
      "a INT PATH '$[3]', n INT UNSIGNED PATH '$[4]', x BIGINT UNSIGNED PATH '$[5]', "
      "y BIGINT UNSIGNED PATH '$[6]', c BIGINT PATH '$[7]', j BIGINT UNSIGNED PATH '$[8]', "
      "v BIGINT PATH '$[9]', g INT UNSIGNED PATH '$[10]'",
      "r.state = 2, r.incarnation_no = k.n, r.token_high = k.x, r.token_low = k.y, "
      "r.claimed_us = k.c, r.slot_taken = IF(r.slot_taken = 1, 1, 2)",
      Where(kClaimFacts));
  JsonRows rows;
  for (const size_t place : places) {
    const ClaimRequest& request = requests[place];
    rows.Begin()
        .Add(request.key)
        .Add(request.attempt)
        .Add(incarnations[place])
        .Add(request.token.high)
        .Add(request.token.low)
        .Add(now)
        .Add(request.job_no.value())
        .Add(request.def_version)
        .Add(request.segment.value());
  }
  return Write(session, statement, rows);
}

Result<Facts> WritePlainResults(Session& session, const std::vector<ResultReport>& reports,
                                const std::vector<size_t>& places) {
  // 4 is COMPLETED, for which `ended_as` is NULL. `error` is NULL already (see kFinal
  // in run_writer.cc).
  const std::string statement = UpdateRuns(
      "a INT PATH '$[3]', b BIGINT PATH '$[4]', e BIGINT PATH '$[5]', q INT PATH '$[6]', "
      "d INT PATH '$[7]', x BIGINT UNSIGNED PATH '$[8]', y BIGINT UNSIGNED PATH '$[9]', "
      "j BIGINT UNSIGNED PATH '$[10]', g INT UNSIGNED PATH '$[11]', u VARCHAR(400) PATH '$[12]'",
      "r.state = 4, r.detail = k.u, r.started_us = k.b, r.ended_us = k.e, r.exit_code = k.q, "
      "r.output_truncated = k.d, r.reason = '', r.open_segment = NULL, r.slot_taken = 0, "
      "r.ended_as = NULL",
      Where(kResultFacts));
  JsonRows rows;
  for (const size_t place : places) {
    const ResultReport& report = reports[place];
    rows.Begin()
        .Add(report.key)
        .Add(report.attempt)
        .Add(report.result.started)
        .Add(report.result.ended);
    AddOptional(rows, report.result.exit_code);
    rows.Add(report.result.output_truncated)
        .Add(report.token.high)
        .Add(report.token.low)
        .Add(report.job_no.value())
        .Add(report.segment.value());
    AddDetail(rows, report.result);
  }
  return Write(session, statement, rows);
}

bool PlainPath::Try() {
  if (failpoint::Broken("fast.never")) return false;  // for tests that compare the two paths
  MutexLock lock(mu_);
  if (left_out_ == 0 || failpoint::Broken("fast.memory")) return true;
  --left_out_;
  return false;
}

void PlainPath::Note(Facts facts) {
  failpoint::Hit(facts == Facts::kHeld ? "plain.held" : "plain.missed");  // counted by tests
  MutexLock lock(mu_);
  pause_ = facts == Facts::kHeld ? 0 : std::clamp(2 * pause_, 1, kPlainPauseMax);
  left_out_ = pause_;
}

void SeenJobs::Note(JobNo job_no, bool seen) {
  MutexLock lock(mu_);
  if (!seen) {
    jobs_.erase(job_no);
    return;
  }
  if (jobs_.size() >= kSeenJobsMax) jobs_.clear();
  jobs_.insert(job_no);
}

bool SeenJobs::Forgets() { return failpoint::Broken("fast.memory"); }

}  // namespace carillon::mysql
