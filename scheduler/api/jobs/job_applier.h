// Applies a list of job documents: creates or changes each job, or leaves it as it is; with `prune`
// also deletes the jobs that a selector matches and the list does not contain.
//
// Place    Behind POST /api/apply. The list is processed in pieces of kJobsCreatedMax documents.
//          The jobs of a piece are looked up together, and new jobs are stored together. If that
//          fails, each is stored alone and has its own result.
// Threads  One request owns it.
// Errors   An error of a document is reported in its item, and the other documents are applied.
//          Once the store is unavailable, the remaining documents are not tried.
// Always   Applying the same list again changes nothing.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/domain/selector.h"
#include "scheduler/api/edits/coming_links.h"
#include "scheduler/api/edits/job_edit.h"
#include "scheduler/api/jobs/apply_effects.h"
#include "scheduler/api/jobs/known_jobs.h"

namespace carillon::scheduler {

inline constexpr size_t kApplyItemsMax = 500;
inline constexpr size_t kPrunedMax = 500;  // jobs that one request tries to delete
// Maximum size of the changes of all items in an answer; items beyond it are shown without changes.
inline constexpr size_t kChangesBytesMax = 4u << 20;

class JobApplier {
 public:
  JobApplier(const Call& call, ApplyOptions options, WallTime now)
      : call_(call), options_(std::move(options)), now_(now), links_(call) {}

  // Returns {dry_run, items, counts, prune_complete} as in docs/api.md, or the problem if the store
  // was unavailable before anything was done.
  Outcome<nlohmann::json> Apply(const nlohmann::json& documents);

 private:
  // The result of an item.
  struct Applied {
    std::string result;
    std::optional<JobId> id = {};
    int64_t version = 0;  // 0 = none yet
    nlohmann::json changes = nlohmann::json::array();
    nlohmann::json warnings = nlohmann::json::array();
  };

  // A job to be created together with the others of its piece.
  struct Queued {
    size_t index;  // of the document
    bool unnamed;  // its id was generated
    NewJob job;
  };

  void Index(const nlohmann::json& documents);
  ComingJobs Coming() const;
  // The definition that a stored job has after the request; nullopt: it will be pruned.
  std::optional<JobDefinition> After(const StoredJob& job) const;
  // `piece` are indexes of documents.
  void LookUp(const nlohmann::json& documents, const std::vector<size_t>& piece);
  // Applies a document. A job that has to be created is only queued; the returned result is then
  // the one that it will have if StoreQueued succeeds.
  Outcome<Applied> ApplyOne(size_t index, const nlohmann::json& document);
  Outcome<Applied> ApplyTo(const std::optional<JobBase>& base, size_t index,
                           const nlohmann::json& document);
  void Settle(size_t index, Outcome<Applied> fate);
  // The job that a document describes; nullopt: the job does not exist yet.
  Outcome<std::optional<JobBase>> FindBase(const nlohmann::json& document);
  Outcome<std::optional<JobBase>> FindByName(const nlohmann::json& document);
  std::string NamespaceOf(const nlohmann::json& document) const;
  Outcome<JobDefinition> Read(const nlohmann::json& document, const JobBase* base) const;
  Outcome<Applied> Create(size_t index, const nlohmann::json& document,
                          const JobDefinition& definition);
  void StoreUpstream(const JobDefinition& definition);
  void StoreQueued();
  // kTimeout: it is unknown whether the jobs are stored. After any other error none is stored.
  Status StoreTogether(const std::vector<Queued>& queued);
  Outcome<Applied> StoreAlone(const Queued& queued);
  Outcome<bool> CheckNotMoved(const JobDefinition& definition) const;
  Outcome<StoredJob> StoreUnnamed(const JobDefinition& definition);
  Outcome<Applied> Change(const JobBase& base, const JobDefinition& definition);
  void Prune();
  Outcome<Applied> PruneOne(const StoredJob& job);
  bool MayChange(const JobBase& base) const;
  // `index` is the position of the document in the list; null for a pruned job.
  void Add(const nlohmann::json& index, const nlohmann::json& id, const nlohmann::json& name,
           const Outcome<Applied>& fate);
  AuditRecord RecordOf(const std::string& action, const JobId& id, std::string changes_json) const;
  nlohmann::json Bounded(nlohmann::json changes);

  const Call& call_;
  const ApplyOptions options_;
  const WallTime now_;
  ComingLinks links_;  // only in a dry run
  std::optional<Problem> store_down_;
  std::set<std::string> documented_;        // ids of jobs with a document; they are not pruned
  std::set<size_t> ambiguous_;              // indexes of documents that are ambiguous (Index)
  const nlohmann::json* listed_ = nullptr;  // the documents
  DocumentIndex index_;
  KnownJobs known_;  // of the current piece
  std::vector<Queued> queued_;
  std::set<JobId>
      named_;  // jobs after which a job with a document starts, or that it runs as nodes
  std::set<JobId> pruned_;
  std::map<std::string, size_t> coming_triggers_;  // by namespace (ComingJobs)
  std::map<size_t, Outcome<Applied>> fates_;       // by index
  size_t changes_bytes_ = 0;
  nlohmann::json items_ = nlohmann::json::array();
  nlohmann::json counts_ = {
      {"created", 0}, {"updated", 0}, {"unchanged", 0}, {"pruned", 0}, {"error", 0}};
  nlohmann::json prune_complete_ = nullptr;
};

}  // namespace carillon::scheduler
