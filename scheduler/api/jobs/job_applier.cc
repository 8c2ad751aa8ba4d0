#include "scheduler/api/jobs/job_applier.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/domain/job/spread.h"
#include "common/wire/json/document_order.h"
#include "common/wire/json/job/job_changes.h"
#include "common/wire/json/job/job_json.h"
#include "common/wire/json/json_text.h"
#include "scheduler/api/call/audit.h"
#include "scheduler/api/edits/dependency_check.h"
#include "scheduler/api/edits/event_check.h"
#include "scheduler/api/jobs/apply_order.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr int kUnnamedAttempts = 5;  // generated ids to try

Problem Item(int status, std::string code, std::string pointer, std::string detail) {
  Problem problem{.status = status, .code = code, .detail = detail};
  problem.errors.push_back({std::move(pointer), std::move(code), std::move(detail)});
  return problem;
}

std::string TextOf(const json& document, const char* name) {
  if (!document.is_object()) return {};
  const auto found = document.find(name);
  return found != document.end() && found->is_string() ? found->get<std::string>() : "";
}

// A text member of the document; null if it is absent.
json TextOrNull(const json& document, const char* name) {
  const std::string text = TextOf(document, name);
  return text.empty() ? json(nullptr) : json(text);
}

bool IsStoreDown(const Problem& problem) { return problem.status >= 503; }

Problem NotTried() {
  return {.status = 503,
          .code = "not_tried",
          .detail =
              "Not tried: the store was unavailable at an earlier job. Apply again; that is safe."};
}

}  // namespace

Outcome<json> JobApplier::Apply(const json& documents) {
  Index(documents);
  const std::vector<size_t> order = UpstreamFirst(documents);
  for (size_t first = 0; first < order.size(); first += kJobsCreatedMax) {
    const size_t end = std::min(first + kJobsCreatedMax, order.size());
    const std::vector<size_t> piece(order.begin() + static_cast<long>(first),
                                    order.begin() + static_cast<long>(end));
    LookUp(documents, piece);
    for (const size_t i : piece) {
      call_.note.changes_json.clear();
      Settle(i, store_down_ ? Outcome<Applied>(NotTried()) : ApplyOne(i, documents[i]));
    }
    StoreQueued();
  }
  for (const auto& [i, fate] : std::exchange(fates_, {})) {
    Add(i, TextOrNull(documents[i], "job_id"), TextOrNull(documents[i], "name"), fate);
  }
  if (options_.prune) Prune();
  const bool nothing_done = counts_["error"] == items_.size();
  if (store_down_ && nothing_done) return *store_down_;
  return json{{"dry_run", options_.dry_run},
              {"items", std::move(items_)},
              {"counts", std::move(counts_)},
              {"prune_complete", prune_complete_}};
}

// Finds documents without a job_id that have the same name and namespace as another document. Which
// job each of them describes would depend on the jobs that already exist.
void JobApplier::Index(const json& documents) {
  listed_ = &documents;
  std::map<std::pair<std::string, std::string>, std::vector<size_t>> by_name;
  for (size_t i = 0; i < documents.size(); ++i) {
    index_.AddId(TextOf(documents[i], "job_id"), i);
    const std::string name = TextOf(documents[i], "name");
    if (!name.empty()) by_name[{NamespaceOf(documents[i]), name}].push_back(i);
  }
  for (const auto& [name, indices] : by_name) {
    for (const size_t i : indices) {
      if (documents[i].contains("job_id")) continue;
      if (indices.size() > 1) ambiguous_.insert(i);
      if (indices.size() == 1) index_.AddName(name, i);
    }
  }
}

void JobApplier::Settle(size_t index, Outcome<Applied> fate) {
  if (!fate.ok() && !store_down_ && IsStoreDown(fate.error())) store_down_ = fate.error();
  fates_.insert_or_assign(index, std::move(fate));
}

// Looks up the jobs of a piece of the list together. If the piece is a single document, its job is
// looked up when the document is applied.
void JobApplier::LookUp(const json& documents, const std::vector<size_t>& piece) {
  known_ = {};
  if (piece.size() < 2 || store_down_) return;
  JobKeys keys;
  for (const size_t i : piece) {
    const json& document = documents[i];
    if (!document.is_object() || ambiguous_.contains(i)) continue;
    if (document.contains("job_id")) {
      const std::string id = TextOf(document, "job_id");
      if (ValidateJobId(id).ok()) keys.ids.emplace_back(id);
      continue;
    }
    const std::string name = TextOf(document, "name");
    const std::string name_space = NamespaceOf(document);
    if (name.empty() || !IsNamespace(name_space)) continue;
    keys.names.emplace_back(name_space, name);
    keys.ids.push_back(FirstIdOf(name_space, name));
  }
  known_.LookUp(call_.stores.jobs, keys);
}

Outcome<JobApplier::Applied> JobApplier::ApplyOne(size_t index, const json& document) {
  if (!document.is_object()) {
    return Item(400, "invalid", "", "A job must be an object of names and values.");
  }
  if (ambiguous_.contains(index)) {
    return Item(400, "duplicate", "/name",
                "Another job in the list has the same name. Set the job_id of each.");
  }
  CARILLON_TRY(VersionOf(document));
  CARILLON_ASSIGN_OR_RETURN(const auto base, FindBase(document));
  if (base && !MayChange(*base)) return NotOwner(Permission::kWriteJobs);
  if (base && !documented_.insert(base->job.job_id.value()).second) {
    return Item(400, "duplicate", "/job_id", "This job appears more than once in the list.");
  }
  if (base && options_.only_new) {
    return Applied{.result = "unchanged", .id = base->job.job_id, .version = base->job.version};
  }
  Outcome<Applied> fate = ApplyTo(base, index, document);
  const bool stale = !fate.ok() && fate.error().code == "stale_version";
  if (!stale || !base || known_.Find(base->job.job_id) == nullptr) return fate;
  // The job was changed since the look-up: apply the document to its present version.
  known_.Forget(base->job.job_id, base->job.definition);
  CARILLON_ASSIGN_OR_RETURN(const JobBase now, ReadBase(call_, base->job.job_id));
  if (!MayChange(now)) return NotOwner(Permission::kWriteJobs);
  return ApplyTo(now, index, document);
}

Outcome<JobApplier::Applied> JobApplier::ApplyTo(const std::optional<JobBase>& base, size_t index,
                                                 const json& document) {
  CARILLON_ASSIGN_OR_RETURN(const auto version, VersionOf(document));
  CARILLON_ASSIGN_OR_RETURN(const JobDefinition definition,
                            Read(document, base ? &*base : nullptr));
  for (const JobId& id : JobsBefore(definition)) named_.insert(id);
  if (version && (!base || base->job.version != *version)) {
    return Item(
        412, "stale_version", "/version",
        base ? fmt::format(
                   "The job is now at version {}, not {}. Omit version to apply to any version.",
                   base->job.version, *version)
             : "No such job. Omit version to create it.");
  }
  return base ? Change(*base, definition) : Create(index, document, definition);
}

Outcome<std::optional<JobBase>> JobApplier::FindBase(const json& document) {
  const std::string id = TextOf(document, "job_id");
  if (!document.contains("job_id")) return FindByName(document);
  if (!ValidateJobId(id).ok()) return std::optional<JobBase>();  // Read reports the error
  if (const StoredJob* job = known_.Find(JobId(id))) return std::optional(JobBase{.job = *job});
  if (!known_.IsFree(JobId(id))) {
    auto base = ReadBase(call_, JobId(id));
    if (base.ok()) return std::optional(std::move(base).value());
    if (base.error().status != 404) return base.error();
  }
  // An earlier document has the same id, and its job has not been created yet.
  if (documented_.contains(id))
    return Item(400, "duplicate", "/job_id", "This job appears more than once in the list.");
  documented_.insert(id);
  return std::optional<JobBase>();
}

Outcome<std::optional<JobBase>> JobApplier::FindByName(const json& document) {
  const std::string name = TextOf(document, "name");
  const std::string name_space = NamespaceOf(document);
  // Read reports the error of such a document.
  if (name.empty() || !IsNamespace(name_space)) return std::optional<JobBase>();
  std::vector<StoredJob> found;
  if (auto known = known_.OfName({name_space, name})) {
    found = std::move(*known);
  } else {
    CARILLON_ASSIGN_OR_RETURN(
        JobPage named,
        call_.stores.jobs.ListJobs({.namespaces = {name_space}, .name = name, .limit = 2}));
    found = std::move(named.jobs);
  }
  if (found.empty()) return std::optional<JobBase>();
  if (found.size() == 1) return std::optional(JobBase{.job = std::move(found[0])});
  return Item(
      409, "ambiguous_name", "/name",
      fmt::format(
          "Several jobs in namespace {} have this name, among them {} and {}. Set the job_id.",
          name_space, found[0].job_id.value(), found[1].job_id.value()));
}

// If a document does not name the pause, the owner or the namespace, they do not change.
Outcome<JobDefinition> JobApplier::Read(const json& document, const JobBase* base) const {
  CARILLON_ASSIGN_OR_RETURN(ParsedJob parsed, ReadParsed(document, [&](Mistakes* further) {
                              return base == nullptr
                                         ? ParseJob(document, further)
                                         : ParseReplacement(base->job, document, further);
                            }));
  JobDefinition& definition = parsed.definition;
  if (definition.user_id.empty()) {
    definition.user_id = base == nullptr ? call_.caller.OwnerId() : base->job.definition.user_id;
  }
  if (!document.contains("namespace")) {
    const bool stays = base != nullptr && !options_.name_space;
    definition.name_space = stays ? base->job.definition.name_space : NamespaceOf(document);
  }
  return std::move(definition);
}

Outcome<JobApplier::Applied> JobApplier::Create(size_t index, const json& document,
                                                const JobDefinition& definition) {
  const std::string given = TextOf(document, "job_id");
  Applied fate{.result = "created", .changes = JobChanges(definition)};
  if (!given.empty()) fate.id = JobId(given);
  if (given.empty()) CARILLON_TRY(CheckNotMoved(definition));
  const JobId id = given.empty() ? FirstIdOf(definition.name_space, definition.name) : JobId(given);
  fate.warnings = WarningsAbout(call_, id, definition, now_);
  if (options_.dry_run) {
    CARILLON_TRY(CheckEdit(call_, id, nullptr, definition, Coming()));
    CARILLON_TRY(links_.Accept(id, nullptr, definition));
    coming_triggers_[definition.name_space] += AddedTriggers(nullptr, definition);
    return fate;
  }
  StoreUpstream(definition);
  CARILLON_TRY(CheckNew(call_, id, definition, {.triggers = coming_triggers_}));
  coming_triggers_[definition.name_space] += AddedTriggers(nullptr, definition);
  documented_.insert(id.value());
  queued_.push_back(
      {.index = index, .unnamed = given.empty(), .job = {id, WithSpread(definition, id)}});
  return fate;
}

// A job that others start after, wait for, or run as a node must exist before them.
void JobApplier::StoreUpstream(const JobDefinition& definition) {
  const std::vector<JobId> upstream = JobsBefore(definition);
  const bool queued = std::any_of(queued_.begin(), queued_.end(), [&](const Queued& one) {
    return (MayCloseCircle(definition) && MayCloseCircle(one.job.definition)) ||
           std::find(upstream.begin(), upstream.end(), one.job.job_id) != upstream.end();
  });
  if (queued) StoreQueued();
}

void JobApplier::StoreQueued() {
  const std::vector<Queued> queued = std::exchange(queued_, {});
  if (!queued.empty()) coming_triggers_.clear();
  Status together = Error{ErrorCode::kConflict, "alone"};
  if (queued.size() > 1) together = StoreTogether(queued);
  if (together.ok()) return;
  for (const Queued& one : queued) {
    call_.note.changes_json.clear();
    if (together.code() == ErrorCode::kTimeout) {
      Settle(one.index,
             OutcomeUnknown("It is unknown whether the job was created. Apply again; that is safe.",
                            together.error()));
    } else {
      Settle(one.index, store_down_ ? Outcome<Applied>(NotTried()) : StoreAlone(one));
    }
  }
}

Status JobApplier::StoreTogether(const std::vector<Queued>& queued) {
  std::vector<NewJob> jobs;
  for (const Queued& one : queued) jobs.push_back(one.job);
  const auto made = StoreAllNew(call_, jobs, now_);
  if (!made.ok()) return made.error();
  std::vector<AuditRecord> records;
  for (size_t i = 0; i < queued.size(); ++i) {
    Applied& fate = fates_.at(queued[i].index).value();
    fate.id = made->at(i).job_id;
    fate.version = made->at(i).version;
    records.push_back(RecordOf("job.apply", *fate.id, JsonToText(AuditedChanges(fate.changes))));
  }
  RecordAudits(call_, std::move(records));
  return {};
}

Outcome<JobApplier::Applied> JobApplier::StoreAlone(const Queued& queued) {
  const auto& [id, definition] = queued.job;
  CARILLON_ASSIGN_OR_RETURN(const StoredJob made, queued.unnamed
                                                      ? StoreUnnamed(definition)
                                                      : StoreNew(call_, id, definition, now_));
  RecordAudit(call_, RecordOf("job.apply", made.job_id, call_.note.changes_json));
  documented_.insert(made.job_id.value());
  Applied fate = fates_.at(queued.index).value();
  fate.id = made.job_id;
  fate.version = made.version;
  return fate;
}

// Refuses to create a job if the same document was applied before and its job was then moved to
// another namespace: otherwise two jobs would fire.
Outcome<bool> JobApplier::CheckNotMoved(const JobDefinition& definition) const {
  const JobId id = FirstIdOf(definition.name_space, definition.name);
  if (known_.IsFree(id)) return true;
  const auto made = call_.stores.jobs.GetJob(id);
  if (!made.ok()) {
    const bool none = made.code() == ErrorCode::kNotFound || made.code() == ErrorCode::kCorrupt;
    if (none) return true;
    return made.error();
  }
  const JobDefinition& now = made->definition;
  if (now.name != definition.name || now.name_space == definition.name_space) return true;
  return Item(
      409, "conflict", "/name",
      fmt::format(
          "Job {} with this name is now in namespace {}. Set that namespace, or the job_id.",
          id.value(), now.name_space));
}

Outcome<StoredJob> JobApplier::StoreUnnamed(const JobDefinition& definition) {
  JobId id = FirstIdOf(definition.name_space, definition.name);
  for (int attempt = 0;; ++attempt) {
    auto made = StoreNew(call_, id, definition, now_);
    if (made.ok() || made.error().code != "exists") return made;
    const auto found = call_.stores.jobs.ListJobs(
        {.namespaces = {definition.name_space}, .name = definition.name, .limit = 1});
    if (found.ok() && !found->jobs.empty()) {
      return Item(409, "conflict", "/name",
                  "Another request has just created a job with this name. Apply again.");
    }
    if (attempt + 1 == kUnnamedAttempts) return made;
    id = call_.services.identifiers.NewJobId(definition.name);
  }
}

Outcome<JobApplier::Applied> JobApplier::Change(const JobBase& base,
                                                const JobDefinition& definition) {
  const StoredJob& job = base.job;
  Applied fate{.result = "updated", .id = job.job_id, .version = job.version};
  fate.warnings = WarningsAbout(call_, job.job_id, definition, now_);
  if (base.readable && definition == job.definition) {
    fate.result = "unchanged";
    return fate;
  }
  fate.changes = base.readable ? JobChanges(job.definition, definition) : JobChanges(definition);
  if (options_.dry_run) {
    CARILLON_TRY(CheckEdit(call_, job.job_id, &base, definition, Coming()));
    CARILLON_TRY(links_.Accept(job.job_id, DefinitionOf(&base), definition));
    coming_triggers_[definition.name_space] += AddedTriggers(&job.definition, definition);
    return fate;
  }
  // Jobs of earlier documents are stored first, so that the order of the list is kept.
  StoreQueued();
  if (store_down_) return NotTried();
  call_.note.changes_json.clear();
  CARILLON_ASSIGN_OR_RETURN(const StoredJob written,
                            StoreDefinition(call_, base, definition, now_, Coming()));
  known_.Forget(job.job_id, job.definition);
  known_.Forget(job.job_id, definition);
  RecordAudit(call_, RecordOf("job.apply", job.job_id, call_.note.changes_json));
  fate.version = written.version;
  return fate;
}

// Deletes nothing if a document has an error, because the document may describe a job that would
// then be deleted. Jobs that start after each other are deleted from the end of their chain on.
void JobApplier::Prune() {
  prune_complete_ = false;
  if (counts_["error"] != 0) return;
  const auto unlisted = FindUnlisted(call_, options_, documented_);
  if (!unlisted.ok()) {
    if (!store_down_) store_down_ = ToProblem(unlisted.error());
    return Add(nullptr, nullptr, nullptr, ToProblem(unlisted.error()));
  }
  prune_complete_ = unlisted->complete;
  size_t tried = 0;
  for (const StoredJob& job : DependentsFirst(unlisted->jobs)) {
    if (tried++ == kPrunedMax) {
      prune_complete_ = false;
      return;
    }
    const Outcome<Applied> fate = PruneOne(job);
    Add(nullptr, job.job_id.value(), job.definition.name, fate);
    if (fate.ok()) continue;
    prune_complete_ = false;
    if (IsStoreDown(fate.error())) return;
  }
}

Outcome<JobApplier::Applied> JobApplier::PruneOne(const StoredJob& job) {
  if (options_.dry_run) {
    CARILLON_TRY(CheckNotAwaited(call_, job.job_id, [&](const JobId& waiting) {
      if (pruned_.contains(waiting)) return false;
      return !documented_.contains(waiting.value()) || named_.contains(job.job_id);
    }));
  } else {
    call_.note.changes_json.clear();
    CARILLON_TRY(Remove(call_, {.job = job}, now_));
    RecordAudit(call_, RecordOf("job.prune", job.job_id, call_.note.changes_json));
  }
  pruned_.insert(job.job_id);
  return Applied{.result = "pruned", .id = job.job_id, .version = job.version};
}

ComingJobs JobApplier::Coming() const {
  return {.stored = options_.dry_run ? &documented_ : nullptr,
          .after = [this](const StoredJob& job) { return After(job); },
          .triggers = coming_triggers_};
}

// A document that will be refused, as far as that is known, changes nothing. Nothing is pruned if
// one is refused.
std::optional<JobDefinition> JobApplier::After(const StoredJob& job) const {
  const std::optional<size_t> index = index_.Find(job);
  if (!index) {
    const bool refused = !ambiguous_.empty() || std::ranges::any_of(fates_, [](const auto& fate) {
      return !fate.second.ok();
    });
    if (!refused && IsToPrune(call_, options_, job)) return std::nullopt;
    return job.definition;
  }
  const JobBase base{.job = job};
  if (options_.only_new || !MayChange(base)) return job.definition;
  const auto fate = fates_.find(*index);
  const bool tried = fate != fates_.end() && (!fate->second.ok() || !options_.dry_run);
  if (tried) return job.definition;
  const json& document = (*listed_)[*index];
  const auto version = VersionOf(document);
  if (!version.ok() || (*version && **version != job.version)) return job.definition;
  auto definition = Read(document, &base);
  return definition.ok() ? std::move(definition).value() : job.definition;
}

bool JobApplier::MayChange(const JobBase& base) const {
  return call_.owns_all || MayAct(call_.caller, ScopeOf(base));
}

// The namespace of a document whose job does not exist yet.
std::string JobApplier::NamespaceOf(const json& document) const {
  if (document.is_object() && document.contains("namespace")) return TextOf(document, "namespace");
  return options_.name_space.value_or(std::string(kDefaultNamespace));
}

void JobApplier::Add(const json& index, const json& id, const json& name,
                     const Outcome<Applied>& fate) {
  json item = {{"index", index},    {"job_id", id},       {"name", name},
               {"result", "error"}, {"version", nullptr}, {"changes", json::array()},
               {"error", nullptr}};
  if (fate.ok()) {
    item["result"] = fate->result;
    if (fate->id) item["job_id"] = fate->id->value();
    if (fate->version > 0) item["version"] = fate->version;
    item["changes"] = Bounded(fate->changes);
    if (!fate->warnings.empty()) item["warnings"] = fate->warnings;
  } else {
    Problem problem = fate.error();
    const std::string place = index.is_null() ? "" : "/" + JsonToText(index);
    for (FieldError& error : problem.errors) error.pointer = place + error.pointer;
    problem.members = json::object();  // without the current job, which would make items large
    item["error"] = ProblemBody(problem, "/api/apply#" + place, call_.trace_id);
  }
  const std::string result = item["result"];
  counts_[result] = counts_[result].get<int64_t>() + 1;
  items_.push_back(std::move(item));
}

json JobApplier::Bounded(json changes) {
  changes_bytes_ += JsonToText(changes).size();
  return changes_bytes_ <= kChangesBytesMax ? changes : json(nullptr);
}

AuditRecord JobApplier::RecordOf(const std::string& action, const JobId& id,
                                 std::string changes_json) const {
  return {.at = {},
          .actor = call_.caller.Actor(),
          .action = action,
          .object_id = id.value(),
          .reason = {},
          .trace_id = {},
          .changes_json = std::move(changes_json)};
}

}  // namespace carillon::scheduler
