// Steps 7, 9 and 10: claims, skips, results, losses. run_state.h decides what is written.
#include <algorithm>

#include "common/domain/run/plain.h"
#include "tests/twins/memory_store.h"

namespace carillon::memory {
namespace {

template <typename Item>
Status CheckBatch(const std::vector<Item>& items, const Fence& fence, std::string_view what) {
  if (items.size() > kBatchRowsMax) {
    return {ErrorCode::kExhausted, std::string(what) + ": more than kBatchRowsMax items"};
  }
  for (const Item& item : items) {
    const bool covered =
        std::any_of(fence.begin(), fence.end(),
                    [&item](const FencedSegment& held) { return held.segment == item.segment; });
    if (!covered) {
      return {ErrorCode::kInvalid,
              std::string(what) + ": run " + EncodeRunId(item.key) + " is outside the fence"};
    }
  }
  return {};
}

// The result of an attempt that was lost: only its start time is known.
AttemptResult LossOf(const RunEntry& entry, WallTime now) {
  return {.state = RunState::kLost,
          .reason = std::string(reason::kExecutorLost),
          .started = entry.result.started,
          .ended = now};
}

// True if a report that does not change the run still says something new about its attempt.
bool IsNews(const RunEntry& entry, const ResultReport& report) {
  if (report.attempt < entry.row.attempt) return true;
  // The run ended as lost; this report is how the attempt really ended.
  return report.attempt == entry.row.attempt && IsFinal(entry.row.state) &&
         entry.row.claim_token == report.token && entry.result.state == RunState::kLost;
}

// Splits a batch as the MariaDB adapter does: if all items that may be plain are plain, they are
// written without a decision for each row; otherwise every item is decided by itself.
template <typename Item, typename MayBe, typename Is>
PlainSplit Split(const std::vector<Item>& items, MayBe may_be, Is is_plain) {
  PlainSplit split = SplitPlain(items, may_be);
  const bool all = std::all_of(split.plain.begin(), split.plain.end(),
                               [&](size_t place) { return is_plain(items[place]); });
  return all ? split : SplitPlain(items, [](const Item&) { return false; });
}

bool TakesRuns(const Tables& tables, const ExecutorId& executor) {
  const auto found = tables.executors.find(executor);
  return found == tables.executors.end() || (found->second.enabled && !found->second.draining);
}

// Writes a claim. Returns the notice of a late start, if it is one.
std::optional<Notice> WriteClaim(Tables& tables, RunEntry entry, const ClaimRequest& request,
                                 WallTime now) {
  entry.row.state = RunState::kRunning;
  entry.row.claim_token = request.token;
  entry.row.executor = request.executor;
  entry.row.incarnation = request.incarnation;
  entry.row.claimed = now;
  entry.result = {};
  const RunRow row = entry.row;
  tables.PutRun(std::move(entry));
  if (!StartsLate(row, request, now)) return std::nullopt;
  return Notice{.kind = NoticeKind::kLate,
                .segment = row.segment,
                .job_no = row.job_no,
                .key = row.key,
                .attempt = row.attempt,
                .state = row.state,
                .created = now};
}

// Writes only the run's own columns, as the statement of the MariaDB adapter does.
RunEffect WritePlain(Tables& tables, RunEntry entry, const ResultReport& report) {
  entry.row.state = RunState::kCompleted;
  entry.result = report.result;
  tables.PutRun(std::move(entry));
  return {.key = report.key, .state = RunState::kCompleted};
}

}  // namespace

JobRow ToJobRow(const JobEntry& job) {
  return {.job_no = job.job_no,
          .version = job.version,
          .paused = !job.definition.enabled,
          .deleted = job.deleted,
          .priority = job.definition.priority,
          .overlap = job.definition.overlap_policy,
          .retry = RetryRulesOf(job.definition)};
}

Result<std::vector<ClaimReply>> MemoryStore::Claim(const std::vector<ClaimRequest>& requests,
                                                   const Fence& fence, WallTime now) {
  CARILLON_TRY(CheckBatch(requests, fence, "claim"));
  MutexLock lock(mu_);
  CARILLON_TRY(CheckFence(fence));
  const PlainSplit split = Split(
      requests,
      [&](const ClaimRequest& request)
          REQUIRES(mu_) { return MayBePlain(request) && TakesRuns(tables_, request.executor); },
      [&](const ClaimRequest& request) REQUIRES(mu_) {
        const RunEntry* found = tables_.FindRun(request.key);
        return found != nullptr && IsPlain(PlainRow{found->row}, request, now);
      });
  std::vector<ClaimReply> replies(requests.size());
  for (const size_t place : split.plain) {
    const ClaimRequest& request = requests[place];
    auto late = WriteClaim(tables_, *tables_.FindRun(request.key), request, now);
    if (late) AddNotice(*std::move(late));
    replies[place] = {.verdict = ClaimVerdict::kAccepted,
                      .job_no = request.job_no,
                      .def_version = request.def_version};
  }
  for (const size_t place : split.others) replies[place] = ClaimOne(requests[place], now);
  return replies;
}

ClaimReply MemoryStore::ClaimOne(const ClaimRequest& request, WallTime now) {
  const RunEntry* found = tables_.FindRun(request.key);
  // A request that names another segment was checked against the wrong fence.
  if (found != nullptr && found->row.segment != request.segment) found = nullptr;
  ClaimFacts facts{.now = now, .executor_enabled = TakesRuns(tables_, request.executor)};
  if (found != nullptr) {
    const std::set<RunKey>& active = tables_.FindJob(found->row.job_no)->active;
    facts.overlap_slot_free = std::all_of(active.begin(), active.end(),
                                          [&](const RunKey& key) { return key == request.key; });
  }
  const ClaimDecision decision =
      DecideClaim(found == nullptr ? nullptr : &found->row, request, facts);
  if (decision.verdict == ClaimVerdict::kAccepted) {
    auto late = WriteClaim(tables_, *found, request, now);
    if (late) AddNotice(*std::move(late));
  } else if (decision.verdict == ClaimVerdict::kSkipped) {
    WriteSkip(*found, reason::kOverlap, now);
  }
  ClaimReply reply{.verdict = decision.verdict, .reason = decision.reason};
  if (found != nullptr) {
    reply.job_no = found->row.job_no;
    reply.def_version = found->row.def_version;
  }
  return reply;
}

Result<size_t> MemoryStore::Skip(const std::vector<SkipItem>& items, const Fence& fence,
                                 WallTime now) {
  CARILLON_TRY(CheckBatch(items, fence, "skip"));
  MutexLock lock(mu_);
  CARILLON_TRY(CheckFence(fence));
  size_t written = 0;
  for (const SkipItem& item : items) {
    const RunEntry* found = tables_.FindRun(item.key);
    if (found == nullptr || !DecideSkip(found->row, item)) continue;
    WriteSkip(*found, item.reason, now);
    ++written;
  }
  return written;
}

void MemoryStore::AddDeadLetter(const RunEntry& entry, int attempts, WallTime now) {
  const uint64_t id = ++tables_.last_dead_letter_id;
  tables_.dead_letters[id] = {.id = id,
                              .key = entry.row.key,
                              .job_id = tables_.FindJob(entry.row.job_no)->id,
                              .state = entry.row.state,
                              .attempts = attempts,
                              .reason = entry.result.reason,
                              .created = now};
  AddNotice({.kind = NoticeKind::kFailed,
             .segment = entry.row.segment,
             .job_no = entry.row.job_no,
             .key = entry.row.key,
             .attempt = entry.row.attempt,
             .state = entry.row.state,
             .reason = entry.result.reason,
             .created = now});
}

void MemoryStore::WriteSkip(RunEntry entry, std::string_view why, WallTime now) {
  entry.row.state = RunState::kSkipped;
  entry.result.reason = std::string(why);
  entry.result.ended = now;
  if (SkipLeavesDeadLetter(entry.row)) AddDeadLetter(entry, entry.row.attempt - 1, now);
  tables_.PutRun(std::move(entry));
}

void MemoryStore::WriteChange(RunEntry entry, const RunChange& change, const AttemptResult& result,
                              WallTime now) {
  const int attempts = entry.row.attempt;
  // The run was final and is reopened or ends otherwise: a dead letter of the old end is wrong.
  if (IsFinal(entry.row.state)) {
    std::erase_if(tables_.dead_letters,
                  [&](const auto& letter) { return letter.second.key == entry.row.key; });
  }
  ApplyChange(entry, change, result);
  if (change.dead_letter) AddDeadLetter(entry, attempts, now);
  tables_.PutRun(std::move(entry));
}

Result<std::vector<RunEffect>> MemoryStore::ApplyResults(const std::vector<ResultReport>& reports,
                                                         const Fence& fence, WallTime now) {
  CARILLON_TRY(CheckBatch(reports, fence, "results"));
  MutexLock lock(mu_);
  CARILLON_TRY(CheckFence(fence));
  const PlainSplit split = Split(
      reports, [](const ResultReport& report) { return MayBePlain(report); },
      [&](const ResultReport& report) REQUIRES(mu_) {
        const RunEntry* found = tables_.FindRun(report.key);
        return found != nullptr && IsPlain(PlainRow{found->row}, report);
      });
  std::vector<RunEffect> effects(reports.size());
  for (const size_t place : split.plain) {
    effects[place] = WritePlain(tables_, *tables_.FindRun(reports[place].key), reports[place]);
  }
  for (const size_t place : split.others) effects[place] = ApplyOne(reports[place], now);
  return effects;
}

RunEffect MemoryStore::ApplyOne(const ResultReport& report, WallTime now) {
  const RunEntry* found = tables_.FindRun(report.key);
  // A report that names another segment was checked against the wrong fence; one that names another
  // job would be decided by that job's rules.
  const bool astray = found != nullptr &&
                      (found->row.segment != report.segment || found->row.job_no != report.job_no);
  if (astray) found = nullptr;
  const JobEntry* job = found == nullptr ? nullptr : tables_.FindJob(found->row.job_no);
  const JobRow job_row = job == nullptr ? JobRow{} : ToJobRow(*job);
  const ResultDecision decision = DecideResult(found == nullptr ? nullptr : &found->row,
                                               job == nullptr ? nullptr : &job_row, report, now);
  RunEffect effect{.key = report.key, .verdict = decision.verdict};
  if (decision.verdict == ResultVerdict::kApplied) {
    WriteChange(*found, decision.change, report.result, now);
    NoteWritten(tables_.FindRun(report.key)->row, &effect);
    effect.dead_letter = decision.change.dead_letter;
  } else if (decision.verdict == ResultVerdict::kRecordedOnly && IsNews(*found, report)) {
    RunEntry entry = *found;
    RecordAttempt(entry, {.attempt = report.attempt,
                          .state = report.result.state,
                          .executor = report.executor,
                          .claimed = entry.row.claimed,
                          .result = report.result});
    tables_.PutRun(std::move(entry));
  }
  return effect;
}

Result<std::vector<RunEffect>> MemoryStore::MarkLost(const std::vector<LostReport>& reports,
                                                     const Fence& fence, WallTime now) {
  CARILLON_TRY(CheckBatch(reports, fence, "lost"));
  MutexLock lock(mu_);
  CARILLON_TRY(CheckFence(fence));
  std::vector<RunEffect> effects;
  for (const LostReport& report : reports) {
    const RunEntry* found = tables_.FindRun(report.key);
    if (found == nullptr) continue;
    const JobEntry& entry = *tables_.FindJob(found->row.job_no);
    JobRow job = ToJobRow(entry);
    if (found->row.def_version != entry.version) {
      // An unreadable version may have said that the attempt must not be killed.
      const auto started_under = entry.versions.find(found->row.def_version);
      const bool known = started_under != entry.versions.end() &&
                         !entry.unreadable.contains(found->row.def_version);
      job.attempt_on_lost = known ? started_under->second.on_lost : OnLost::kHold;
    }
    const std::optional<RunChange> change = DecideLost(&found->row, job, report, now);
    if (!change) continue;
    WriteChange(*found, *change, LossOf(*found, now), now);
    RunEffect& effect = effects.emplace_back();
    effect.key = report.key;
    NoteWritten(tables_.FindRun(report.key)->row, &effect);
    effect.dead_letter = change->dead_letter;
  }
  return effects;
}

Result<std::vector<JobVersionRecord>> MemoryStore::LoadDefinitions(
    const std::vector<JobVersionKey>& keys) {
  MutexLock lock(mu_);
  std::vector<JobVersionRecord> found;
  for (const JobVersionKey& key : keys) {
    const JobEntry* job = tables_.FindJob(key.job_no);
    if (job == nullptr) continue;
    const auto version = job->versions.find(key.version);
    if (version == job->versions.end()) continue;
    JobVersionRecord record{
        .job_no = key.job_no, .version = key.version, .job_id = job->id, .definition = {}};
    record.readable = !job->unreadable.contains(key.version);
    if (record.readable) record.definition = version->second;
    found.push_back(std::move(record));
  }
  return found;
}

Result<RunRequest> MemoryStore::LoadRunRequest(const RunKey& key) {
  MutexLock lock(mu_);
  const RunEntry* found = tables_.FindRun(key);
  if (found == nullptr) return {ErrorCode::kNotFound, "no run " + EncodeRunId(key)};
  return RunRequest{.parameters_json = found->parameters_json, .trace_id = found->trace_id};
}

}  // namespace carillon::memory
