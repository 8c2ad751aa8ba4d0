// The memory store behind a switch: an operation can fail before it, or lose its reply after it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/adapters/memory/memory_store.h"

namespace carillon::test {

enum class Fault {
  kUnavailable,    // not done, kUnavailable
  kTimeoutBefore,  // not done, kTimeout
  kTimeoutAfter,   // done, kTimeout
};

// Which operation fails next, and how often.
class FaultPlan {
 public:
  void Arm(const std::string& operation, Fault fault, int times = 1) {
    const std::lock_guard lock(mu_);
    armed_[operation] = {fault, times};
  }
  // Called before each operation while nothing is armed for it; may block.
  void OnCall(std::function<void(const std::string&)> hook) {
    const std::lock_guard lock(mu_);
    hook_ = std::move(hook);
  }

  template <typename Operation>
  auto Run(const std::string& name, Operation operation) -> decltype(operation()) {
    std::function<void(const std::string&)> hook;
    Fault fault = Fault::kUnavailable;
    bool failing = false;
    {
      const std::lock_guard lock(mu_);
      hook = hook_;
      const auto it = armed_.find(name);
      if (it != armed_.end() && it->second.second > 0) {
        --it->second.second;
        fault = it->second.first;
        failing = true;
      }
    }
    if (!failing) {
      if (hook) hook(name);
      return operation();
    }
    if (fault == Fault::kUnavailable) return Error{ErrorCode::kUnavailable, "password=secret"};
    if (fault == Fault::kTimeoutAfter) static_cast<void>(operation());
    return Error{ErrorCode::kTimeout, "password=secret"};
  }

 private:
  std::mutex mu_;
  std::map<std::string, std::pair<Fault, int>> armed_;
  std::function<void(const std::string&)> hook_;
};

// While it lives, calls of one operation do not come back.
class Hang {
 public:
  Hang(FaultPlan& plan, const std::string& operation) {
    plan.OnCall([state = state_, operation](const std::string& name) {
      if (name != operation) return;
      std::unique_lock lock(state->mu);
      ++state->inside;
      state->changed.notify_all();
      state->changed.wait(lock, [&] { return state->released; });
    });
  }
  ~Hang() { Release(); }
  Hang(const Hang&) = delete;
  Hang& operator=(const Hang&) = delete;

  // True when `count` calls hang.
  bool Await(int count) {
    std::unique_lock lock(state_->mu);
    return state_->changed.wait_for(lock, std::chrono::seconds(30),
                                    [&] { return state_->inside >= count; });
  }
  void Release() {
    const std::lock_guard lock(state_->mu);
    state_->released = true;
    state_->changed.notify_all();
  }

 private:
  struct State {
    std::mutex mu;
    std::condition_variable changed;
    int inside = 0;
    bool released = false;
  };
  // Shared: a call may still be on its way out when the test is over.
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

class FaultyJobs : public JobStore {
 public:
  FaultyJobs(JobStore& store, FaultPlan& plan) : store_(store), plan_(plan) {}
  Result<StoredJob> CreateJob(const JobId& id, const JobDefinition& definition,
                              const WriteContext& context) override {
    return plan_.Run("CreateJob", [&] { return store_.CreateJob(id, definition, context); });
  }
  Result<StoredJob> GetJob(const JobId& id) override {
    return plan_.Run("GetJob", [&] { return store_.GetJob(id); });
  }
  Result<std::vector<JobVersion>> ListVersions(const JobId& id, int64_t before,
                                               size_t limit) override {
    return plan_.Run("ListVersions", [&] { return store_.ListVersions(id, before, limit); });
  }
  Result<JobHead> GetJobHead(const JobId& id) override {
    return plan_.Run("GetJobHead", [&] { return store_.GetJobHead(id); });
  }
  Result<std::vector<StoredJob>> ListJobs(const JobFilter& filter) override {
    return plan_.Run("ListJobs", [&] { return store_.ListJobs(filter); });
  }
  Result<StoredJob> ReplaceJob(const JobId& id, int64_t version, const JobDefinition& definition,
                               const WriteContext& context) override {
    return plan_.Run("ReplaceJob",
                     [&] { return store_.ReplaceJob(id, version, definition, context); });
  }
  Result<StoredJob> PauseJob(const JobId& id, const std::string& why,
                             const WriteContext& context) override {
    return plan_.Run("PauseJob", [&] { return store_.PauseJob(id, why, context); });
  }
  Result<StoredJob> ResumeJob(const JobId& id, const std::string& why,
                              const WriteContext& context) override {
    return plan_.Run("ResumeJob", [&] { return store_.ResumeJob(id, why, context); });
  }
  Status DeleteJob(const JobId& id, int64_t version, const WriteContext& context) override {
    return plan_.Run("DeleteJob", [&] { return store_.DeleteJob(id, version, context); });
  }

 private:
  JobStore& store_;
  FaultPlan& plan_;
};

class FaultyRuns : public RunStore {
 public:
  FaultyRuns(RunStore& store, FaultPlan& plan) : store_(store), plan_(plan) {}
  Result<CreatedRun> ExecuteJob(const ExecuteRequest& request,
                                const WriteContext& context) override {
    return plan_.Run("ExecuteJob", [&] { return store_.ExecuteJob(request, context); });
  }
  Result<bool> CancelRun(const RunKey& key, const WriteContext& context) override {
    return plan_.Run("CancelRun", [&] { return store_.CancelRun(key, context); });
  }
  Result<int64_t> CancelJobRuns(const JobId& id, const WriteContext& context) override {
    return plan_.Run("CancelJobRuns", [&] { return store_.CancelJobRuns(id, context); });
  }
  Result<RunDetail> RetryRun(const RunKey& key, const WriteContext& context) override {
    return plan_.Run("RetryRun", [&] { return store_.RetryRun(key, context); });
  }
  Result<RunDetail> GetRun(const RunKey& key) override {
    return plan_.Run("GetRun", [&] { return store_.GetRun(key); });
  }
  Result<std::vector<RunDetail>> ListRuns(const RunFilter& filter, WallTime now) override {
    return plan_.Run("ListRuns", [&] { return store_.ListRuns(filter, now); });
  }
  Result<GapPage> ListGaps(const GapFilter& filter) override {
    return plan_.Run("ListGaps", [&] { return store_.ListGaps(filter); });
  }
  Result<RunCounts> CountOpenRuns() override {
    return plan_.Run("CountOpenRuns", [&] { return store_.CountOpenRuns(); });
  }
  Result<std::vector<DeadLetter>> ListDeadLetters(uint64_t before_id, size_t limit) override {
    return plan_.Run("ListDeadLetters", [&] { return store_.ListDeadLetters(before_id, limit); });
  }

 private:
  RunStore& store_;
  FaultPlan& plan_;
};

class FaultyAdmin : public AdminStore {
 public:
  FaultyAdmin(AdminStore& store, FaultPlan& plan) : store_(store), plan_(plan) {}
  Result<RequestLookup> BeginRequest(const std::string& scope, const std::string& key,
                                     const std::string& fingerprint, WallTime now) override {
    return plan_.Run("BeginRequest",
                     [&] { return store_.BeginRequest(scope, key, fingerprint, now); });
  }
  Status FinishRequest(const std::string& scope, const std::string& key,
                       const StoredAnswer& answer) override {
    return plan_.Run("FinishRequest", [&] { return store_.FinishRequest(scope, key, answer); });
  }
  Status AbandonRequest(const std::string& scope, const std::string& key) override {
    return plan_.Run("AbandonRequest", [&] { return store_.AbandonRequest(scope, key); });
  }
  Status CreateFirstToken(const TokenRecord& token) override {
    return plan_.Run("CreateFirstToken", [&] { return store_.CreateFirstToken(token); });
  }
  Result<std::optional<TokenRecord>> FindToken(const std::string& token_hash) override {
    return plan_.Run("FindToken", [&] { return store_.FindToken(token_hash); });
  }
  Result<ClusterSettings> ReadSettings() override {
    return plan_.Run("ReadSettings", [&] { return store_.ReadSettings(); });
  }
  Result<ClusterSettings> WriteSettings(int64_t expected,
                                        const std::map<std::string, std::string>& values) override {
    return plan_.Run("WriteSettings", [&] { return store_.WriteSettings(expected, values); });
  }
  Status RecordAudit(const AuditRecord& record) override {
    return plan_.Run("RecordAudit", [&] { return store_.RecordAudit(record); });
  }
  Result<std::vector<AuditRecord>> ListAudit(const AuditFilter& filter) override {
    return plan_.Run("ListAudit", [&] { return store_.ListAudit(filter); });
  }
  Result<Upkeep> Maintain(WallTime now, Duration retention) override {
    return plan_.Run("Maintain", [&] { return store_.Maintain(now, retention); });
  }

 private:
  AdminStore& store_;
  FaultPlan& plan_;
};

struct FaultyStores {
  explicit FaultyStores(memory::MemoryStore& store)
      : jobs(store, plan), runs(store, plan), admin(store, plan) {}
  FaultPlan plan;
  FaultyJobs jobs;
  FaultyRuns runs;
  FaultyAdmin admin;
};

}  // namespace carillon::test
