// A list of job documents made so: each job created, changed or left as it is, and with `prune`
// what a selector matches and the list has not is deleted.
//
// Place    Behind POST /api/apply. A piece of the list is looked up at once, and what it adds is
//          stored at once; where that fails, each job is stored alone and has its own answer.
// Threads  One request owns it.
// Errors   Of one document: in its item, and the others go on. Once the store is away nothing more
//          is tried.
// Always   Doing it again changes nothing.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/domain/selector.h"
#include "scheduler/api/jobs/job_edit.h"
#include "scheduler/api/jobs/known_jobs.h"

namespace carillon::scheduler {

inline constexpr size_t kApplyItemsMax = 500;
// Of one request.
inline constexpr size_t kPrunedMax = 500;
inline constexpr size_t kPruneScanMax = 100'000;  // jobs looked through
// Of all changes that are shown together; later items have none.
inline constexpr size_t kChangesBytesMax = 4u << 20;

struct ApplyOptions {
  bool dry_run = false;
  std::optional<Selector> prune = {};  // nullopt: nothing is deleted
  // Of documents that name none, and where prune looks; nullopt: `default`, and everywhere.
  std::optional<std::string> name_space = {};
};

class JobApplier {
 public:
  JobApplier(const Call& call, ApplyOptions options, WallTime now)
      : call_(call), options_(std::move(options)), now_(now) {}

  // {dry_run, items, counts, prune_complete} of docs/api.md. When the store was away before
  // anything was done: that problem.
  Outcome<nlohmann::json> Apply(const nlohmann::json& documents);

 private:
  // What an item became.
  struct Fate {
    std::string result;
    std::optional<JobId> id = {};
    int64_t version = 0;  // 0 = none yet
    nlohmann::json changes = nlohmann::json::array();
  };

  // A job that is to be made with the others of its piece.
  struct Queued {
    size_t index;
    bool unnamed;  // no document gave it its id
    NewJob job;
  };

  void FindTwins(const nlohmann::json& documents);
  void LookUp(const nlohmann::json& documents, size_t first, size_t end);
  // Of a job that is to be made: its fate if StoreQueued succeeds.
  Outcome<Fate> ApplyOne(size_t index, const nlohmann::json& document);
  Outcome<Fate> ApplyTo(const std::optional<JobBase>& base, size_t index,
                        const nlohmann::json& document);
  void Settle(size_t index, Outcome<Fate> fate);
  // The job that a document means; nullopt: it is to be made.
  Outcome<std::optional<JobBase>> FindBase(const nlohmann::json& document);
  Outcome<std::optional<JobBase>> FindByName(const nlohmann::json& document);
  std::string NamespaceOf(const nlohmann::json& document) const;
  Outcome<JobDefinition> Read(const nlohmann::json& document, const JobBase* base) const;
  Outcome<Fate> Create(size_t index, const nlohmann::json& document,
                       const JobDefinition& definition);
  void StoreQueued();
  // kTimeout: not known whether they are stored; another error: none is.
  Status StoreTogether(const std::vector<Queued>& queued);
  Outcome<Fate> StoreAlone(const Queued& queued);
  Outcome<bool> CheckNotMoved(const JobDefinition& definition) const;
  Outcome<StoredJob> StoreUnnamed(const JobDefinition& definition);
  Outcome<Fate> Change(const JobBase& base, const JobDefinition& definition);
  void Prune();
  Outcome<Fate> PruneOne(const StoredJob& job);
  bool MayChange(const JobBase& base) const;
  // `index` of the document; null of what is pruned.
  void Add(const nlohmann::json& index, const nlohmann::json& id, const nlohmann::json& name,
           const Outcome<Fate>& fate);
  AuditRecord RecordOf(const std::string& action, const JobId& id, std::string changes_json) const;
  nlohmann::json Bounded(nlohmann::json changes);

  const Call& call_;
  const ApplyOptions options_;
  const WallTime now_;
  std::optional<Problem> store_away_;
  std::set<std::string> meant_;  // jobs that a document stands for
  std::set<size_t> twins_;       // documents that cannot be told from another one
  KnownJobs known_;              // of the piece
  std::vector<Queued> queued_;
  std::map<size_t, Outcome<Fate>> fates_;  // of the piece, by index
  size_t changes_bytes_ = 0;
  nlohmann::json items_ = nlohmann::json::array();
  nlohmann::json counts_ = {
      {"created", 0}, {"updated", 0}, {"unchanged", 0}, {"pruned", 0}, {"error", 0}};
  nlohmann::json prune_complete_ = nullptr;
};

}  // namespace carillon::scheduler
