// The memory store's firing port with injected errors, before or after the call takes effect.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>

#include "tests/twins/memory_stores.h"

namespace carillon::test {

class FaultyFiringStore final : public FiringStore {
 public:
  explicit FaultyFiringStore(FiringStore& store) : store_(store) {}

  // The next call of `op` ("plan", "claim", "skip", "result", "lost", "scan") fails without effect.
  void FailNext(const std::string& op, ErrorCode code) { before_[op].push_back(code); }
  void Clear(const std::string& op) { before_[op].clear(); }
  // Every call of the operation fails with this code, without effect.
  std::map<std::string, ErrorCode> failing;
  // The next call of `op` takes effect, but its reply is lost.
  void LoseReply(const std::string& op) { ++after_[op]; }
  // The store refuses every batch that contains such a plan or result.
  std::function<bool(const ScheduleAdvance&)> refuses_schedule;
  std::function<bool(const ResultReport&)> refuses_result;
  std::function<bool(const ClaimRequest&)> refuses_claim;
  std::function<bool(const SkipItem&)> refuses_skip;
  ErrorCode result_refusal = ErrorCode::kInvalid;
  ErrorCode skip_refusal = ErrorCode::kInvalid;
  std::function<bool(const LostReport&)> refuses_loss;
  std::map<std::string, int> calls;
  size_t pending_rows_read = 0;

  Result<std::vector<DueSchedule>> ScanDue(const std::vector<SegmentId>& segments, WallTime until,
                                           size_t limit) override {
    if (auto error = Before("scan")) return *error;
    return store_.ScanDue(segments, until, limit);
  }
  Result<std::vector<DueSchedule>> ScanOutdated(const std::vector<SegmentId>& segments,
                                                const std::vector<CalendarAt>& calendars,
                                                size_t limit) override {
    if (auto error = Before("scan")) return *error;
    return store_.ScanOutdated(segments, calendars, limit);
  }
  Status Plan(const PlanBatch& batch, const Fence& fence, WallTime now) override {
    if (auto error = Before("plan")) return *error;
    for (const ScheduleAdvance& advance : batch.advances) {
      if (refuses_schedule && refuses_schedule(advance)) return {ErrorCode::kInvalid, "refused"};
    }
    return After("plan", store_.Plan(batch, fence, now));
  }
  Result<PendingPage> ScanPending(const std::vector<SegmentId>& segments, WallTime until,
                                  std::optional<std::pair<WallTime, RunKey>> after,
                                  size_t limit) override {
    if (auto error = Before("scan")) return *error;
    return Counted(store_.ScanPending(segments, until, after, limit));
  }
  Result<JobPendingPage> ScanPendingOfJob(const JobWindow& window, std::optional<RunKey> after,
                                          size_t limit) override {
    if (auto error = Before("scan")) return *error;
    return Counted(store_.ScanPendingOfJob(window, after, limit));
  }
  Result<RunningPage> ScanRunning(const std::vector<SegmentId>& segments,
                                  std::optional<RunCursor> after, size_t limit) override {
    if (auto error = Before("scan")) return *error;
    return store_.ScanRunning(segments, after, limit);
  }
  Result<RunningPage> ScanCancelRequests(const std::vector<SegmentId>& segments,
                                         std::optional<RunCursor> after, size_t limit) override {
    return store_.ScanCancelRequests(segments, after, limit);
  }
  Result<std::vector<JobVersionRecord>> LoadDefinitions(
      const std::vector<JobVersionKey>& keys) override {
    if (auto error = Before("load")) return *error;
    return store_.LoadDefinitions(keys);
  }
  Result<RunRequest> LoadRunRequest(const RunKey& key) override {
    return store_.LoadRunRequest(key);
  }
  Result<std::vector<ClaimReply>> Claim(const std::vector<ClaimRequest>& requests,
                                        const Fence& fence, WallTime now) override {
    if (auto error = Before("claim")) return *error;
    for (const ClaimRequest& request : requests) {
      if (refuses_claim && refuses_claim(request)) return Error{ErrorCode::kInvalid, "refused"};
    }
    return After("claim", store_.Claim(requests, fence, now));
  }
  Result<size_t> Skip(const std::vector<SkipItem>& items, const Fence& fence,
                      WallTime now) override {
    if (auto error = Before("skip")) return *error;
    for (const SkipItem& item : items) {
      if (refuses_skip && refuses_skip(item)) return Error{skip_refusal, "refused"};
    }
    return After("skip", store_.Skip(items, fence, now));
  }
  Result<std::vector<RunEffect>> ApplyResults(const std::vector<ResultReport>& reports,
                                              const Fence& fence, WallTime now) override {
    if (auto error = Before("result")) return *error;
    for (const ResultReport& report : reports) {
      if (refuses_result && refuses_result(report)) return Error{result_refusal, "refused"};
    }
    return After("result", store_.ApplyResults(reports, fence, now));
  }
  Result<std::vector<RunEffect>> MarkLost(const std::vector<LostReport>& reports,
                                          const Fence& fence, WallTime now) override {
    if (auto error = Before("lost")) return *error;
    for (const LostReport& report : reports) {
      if (refuses_loss && refuses_loss(report)) return Error{ErrorCode::kInvalid, "refused"};
    }
    return After("lost", store_.MarkLost(reports, fence, now));
  }
  Result<OverdueReport> ReadOverdue(WallTime now) override {
    if (auto error = Before("overdue")) return *error;
    return store_.ReadOverdue(now);
  }

 private:
  std::optional<Error> Before(const std::string& op) {
    ++calls[op];
    if (const auto always = failing.find(op); always != failing.end()) {
      return Error{always->second, op + ": failed by the test"};
    }
    auto& codes = before_[op];
    if (codes.empty()) return std::nullopt;
    const ErrorCode code = codes.front();
    codes.pop_front();
    return Error{code, op + ": failed by the test"};
  }
  template <typename T>
  Result<T> After(const std::string& op, Result<T> outcome) {
    if (after_[op] == 0) return outcome;
    --after_[op];
    return Error{ErrorCode::kTimeout, op + ": reply lost by the test"};
  }

  template <typename Page>
  Result<Page> Counted(Result<Page> page) {
    if (page.ok()) pending_rows_read += page->runs.size();
    return page;
  }

  FiringStore& store_;
  std::map<std::string, std::deque<ErrorCode>> before_;
  std::map<std::string, int> after_;
};

}  // namespace carillon::test
