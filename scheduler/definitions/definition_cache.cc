#include "scheduler/definitions/definition_cache.h"

#include <algorithm>

#include "common/base/log.h"
#include "common/domain/nodes/task_jobs.h"
#include "common/domain/template/template.h"

namespace carillon::scheduler {
namespace {

// Approximate sizes in bytes, not counting texts:
// - of an entry (in list and map) with its definition;
// - of a node of a map;
// - of a schedule, both compiled (sets of minutes, hours, days) and as written.
constexpr size_t kEntryBytes = 1024;
constexpr size_t kNodeBytes = 112;
constexpr size_t kScheduleBytes = 1536;

size_t BytesOf(const ParameterValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? 0 : text->size();
}

size_t BytesOf(const std::string& text) { return text.size(); }

size_t BytesOf(const ExpectedValue& value) { return sizeof(value) + (value ? BytesOf(*value) : 0); }

size_t BytesOf(const std::vector<ExpectedValue>& values) {
  size_t bytes = 0;
  for (const ExpectedValue& value : values) bytes += BytesOf(value);
  return bytes;
}

template <typename Value>
size_t BytesOf(const std::map<std::string, Value>& values) {
  size_t bytes = 0;
  for (const auto& [name, value] : values) bytes += kNodeBytes + name.size() + BytesOf(value);
  return bytes;
}

// A later version of the program has written a selector that cannot be parsed here. Such a selector
// matches no executor, so that the run does not start on a wrong one.
Selector SelectorOf(const JobDefinition& job) {
  auto selector = Selector::Parse(job.executor_selector);
  return selector.ok() ? std::move(selector).value() : Selector::Nothing();
}

size_t BytesOf(const std::vector<std::string>& texts) {
  size_t bytes = 0;
  for (const std::string& text : texts) bytes += sizeof(text) + text.size();
  return bytes;
}

size_t BytesOf(const JobDefinition& job);

size_t BytesOf(const WorkflowNode& node) {
  size_t bytes = sizeof(node) + node.id.size() + node.job.value().size() +
                 BytesOf(node.parameters) + node.over.size() + node.as.size() +
                 node.collect.size() + ToText(node.rules).size();
  for (const WorkflowEdge& edge : node.after) {
    bytes += sizeof(edge) + edge.node.size() + edge.condition.size();
  }
  if (node.approval) bytes += node.approval->message.size() + BytesOf(node.approval->by);
  if (!node.task.empty()) bytes += sizeof(JobDefinition) + BytesOf(node.task.job());
  return bytes;
}

size_t BytesOf(const WorkflowDefinition& workflow) {
  size_t bytes = BytesOf(workflow.outputs);
  for (const WorkflowNode& node : workflow.nodes) bytes += BytesOf(node);
  return bytes;
}

size_t BytesOf(const HttpDefinition& http) {
  return sizeof(http) + http.url.size() + BytesOf(http.headers) + http.body.size() +
         BytesOf(http.expect.status) + http.expect.contains.size() + http.expect.regex.size() +
         BytesOf(http.expect.json) + http.client_certificate.size() +
         (http.poll ? http.poll->url.size() + http.poll->url_at.size() + BytesOf(http.poll->until)
                    : 0);
}

// Without the size of the struct itself.
size_t BytesOf(const JobDefinition& job) {
  size_t bytes = job.name.size() + job.command.size() + job.time_zone.size() +
                 job.description.size() + job.user_id.size() + job.run_as.size() +
                 job.working_directory.size() + job.output_encoding.size() +
                 job.executor_id.size() + 2 * job.executor_selector.size() +
                 job.retry_intervals_s.size() * sizeof(int64_t) + BytesOf(job.env) +
                 BytesOf(job.labels) + BytesOf(job.parameters);
  for (const ScheduleSpec& spec : job.schedules) {
    bytes += kScheduleBytes + spec.cron_expression.size() + spec.time_zone.size() +
             spec.event_type.size() + spec.event_source.size() + spec.filter.size() +
             BytesOf(spec.parameters);
  }
  if (job.workflow) bytes += BytesOf(*job.workflow);
  if (job.script) bytes += job.script->body.size() + BytesOf(job.script->args);
  if (job.http) bytes += BytesOf(*job.http);
  if (job.container) {
    bytes += job.container->image.size() + job.container->user.size() +
             BytesOf(job.container->command) + BytesOf(job.container->args);
  }
  return bytes + BytesOf(job.retry_on) + BytesOf(job.no_retry_on);
}

size_t BytesOf(const RunDefinitionKey& key, const Definition& definition) {
  return kEntryBytes + 2 * key.rules.size() + definition.record().job_id.value().size() +
         BytesOf(definition.job());
}

// A version of a workflow is the definition of none of its tasks.
bool IsOfNoNode(const RunDefinitionKey& key) { return IsTaskJob(key.job.job_no) && !key.position; }

// Its text is read by nobody.
std::string RulesOrNone(uint32_t flags, const std::string& rules) {
  const bool missing = (flags & run_flag::kRules) != 0 && rules.empty();
  return missing ? "missing" : rules;
}

}  // namespace

RunDefinitionKey DefinitionKeyOf(const JobVersionKey& job, const RunKey& run, std::string rules) {
  RunDefinitionKey key{.job = job, .rules = std::move(rules)};
  if (IsTaskJob(job.job_no)) key.position = NodePositionOf(run);
  return key;
}

RunDefinitionKey DefinitionKeyOf(const PendingRun& run) {
  return DefinitionKeyOf({run.job_no, run.def_version}, run.key,
                         RulesOrNone(run.flags, RulesOf(run)));
}

RunDefinitionKey DefinitionKeyOf(const RunRow& run) {
  return DefinitionKeyOf({run.job_no, run.def_version}, run.key, RulesOrNone(run.flags, run.rules));
}

Definition::Definition(JobVersionRecord record, const CalendarCache* calendars, const RunRules& own)
    : record_(std::move(record)),
      selector_(SelectorOf(record_.definition)),
      needs_(carillon::NeedsOf(record_.definition)),
      secrets_(SecretsOf(record_.definition)),
      items_(own.items),
      item_parameter_(own.as),
      calendars_(calendars) {}

std::optional<size_t> Definition::IndexOf(ScheduleId id) const {
  const std::vector<ScheduleId>& ids = record_.schedule_ids;
  const auto found = std::find(ids.begin(), ids.end(), id);
  const auto index = static_cast<size_t>(found - ids.begin());
  if (index >= std::min(ids.size(), job().schedules.size())) return std::nullopt;
  return index;
}

const ScheduleSpec* Definition::SpecOf(ScheduleId id) const {
  const auto index = IndexOf(id);
  return index ? &job().schedules[*index] : nullptr;
}

std::optional<Schedule> Definition::ScheduleOf(const RunKey& key) const {
  const auto known = calendars_ == nullptr ? nullptr : calendars_->Known();
  MutexLock lock(mu_);
  if (schedules_.size() != job().schedules.size() || compiled_with_ != known) {
    schedules_.clear();
    for (const ScheduleSpec& spec : job().schedules) {
      ScheduleCalendars limits;
      if (known != nullptr) {
        auto found = known->Of(spec.calendar, spec.blackout);
        if (found.ok()) limits = std::move(*found);
      }
      auto schedule = Schedule::Compile(spec, job().dst_gap, job().dst_repeat, std::move(limits));
      schedules_.push_back(schedule.ok() ? std::optional(std::move(*schedule)) : std::nullopt);
    }
    compiled_with_ = known;
  }
  const auto index = IndexOf(key.schedule_id);
  if (index && schedules_[*index]) return schedules_[*index];
  for (const std::optional<Schedule>& schedule : schedules_) {
    const auto next = schedule ? schedule->Next(key.fire - Duration(1)) : std::nullopt;
    if (next && next->time == key.fire) return schedule;
  }
  return std::nullopt;
}

std::shared_ptr<const Definition> DefinitionCache::Cached(const RunDefinitionKey& key) {
  MutexLock lock(mu_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  by_use_.splice(by_use_.begin(), by_use_, found->second);
  return found->second->definition;
}

std::shared_ptr<const Definition> DefinitionCache::Get(const RunDefinitionKey& key) {
  if (IsOfNoNode(key)) return nullptr;
  if (auto known = Cached(key)) return known;
  const RunDefinitionKey version{.job = key.job};
  if (key == version) return nullptr;
  const auto of_version = Cached(version);
  if (of_version == nullptr) return nullptr;
  const auto resolved = Resolve(key, *of_version);
  return resolved.ok() ? *resolved : nullptr;
}

Result<std::shared_ptr<const Definition>> DefinitionCache::Resolve(const RunDefinitionKey& key,
                                                                   const Definition& of_version) {
  const JobVersionRecord& version = of_version.record();
  CARILLON_ASSIGN_OR_RETURN(JobDefinition job, DefinitionForRun(version.definition, key.job.job_no,
                                                                key.position, key.rules));
  CARILLON_ASSIGN_OR_RETURN(const RunRules own, RunRulesFromText(key.rules));
  JobVersionRecord record{.job_no = version.job_no,
                          .version = version.version,
                          .job_id = version.job_id,
                          .definition = std::move(job)};
  if (!key.position) record.schedule_ids = version.schedule_ids;
  auto resolved = std::make_shared<const Definition>(std::move(record), calendars_, own);
  Put(key, resolved);
  return resolved;
}

void DefinitionCache::Add(const std::vector<RunDefinitionKey>& keys,
                          const std::shared_ptr<const Definition>& of_version, Found* found) {
  for (const RunDefinitionKey& key : keys) {
    if (key == RunDefinitionKey{.job = key.job}) {
      found->definitions[key] = of_version;
      continue;
    }
    auto resolved = Resolve(key, *of_version);
    if (resolved.ok()) {
      found->definitions[key] = std::move(*resolved);
      continue;
    }
    log::Debug("definitions", "job_no={} version={}: {}", key.job.job_no.value(), key.job.version,
               resolved.error().message);
    found->unreadable.insert(key);
  }
}

DefinitionCache::Missing DefinitionCache::MissingOf(const std::vector<RunDefinitionKey>& keys,
                                                    Found* found) {
  Missing missing;
  std::set<RunDefinitionKey> seen;
  for (const RunDefinitionKey& key : keys) {
    if (found->definitions.contains(key) || !seen.insert(key).second) continue;
    if (IsOfNoNode(key)) {
      found->unreadable.insert(key);
    } else if (auto known = Cached(key)) {
      found->definitions[key] = std::move(known);
    } else if (const auto of_version = Cached({.job = key.job})) {
      Add({key}, of_version, found);
    } else {
      missing[key.job].push_back(key);
    }
  }
  const SteadyTime now = clock_.Steady();
  MutexLock lock(mu_);
  std::erase_if(missing, [&](const auto& entry) REQUIRES(mu_) {
    const auto at = unreadable_until_.find(entry.first);
    if (at == unreadable_until_.end() || now >= at->second) return false;
    found->unreadable.insert(entry.second.begin(), entry.second.end());
    return true;
  });
  return missing;
}

Result<DefinitionCache::Found> DefinitionCache::Load(const std::vector<RunDefinitionKey>& keys) {
  Found found;
  const Missing missing = MissingOf(keys, &found);
  std::vector<JobVersionKey> versions;
  for (const auto& [version, of_runs] : missing) {
    versions.push_back(version);
    if (versions.size() < kBatchRowsMax) continue;
    CARILLON_TRY(Read(std::exchange(versions, {}), missing, &found));
  }
  if (!versions.empty()) CARILLON_TRY(Read(versions, missing, &found));
  return found;
}

Status DefinitionCache::Read(const std::vector<JobVersionKey>& versions, const Missing& missing,
                             Found* found) {
  std::vector<JobVersionKey> unreadable;
  CARILLON_ASSIGN_OR_RETURN(std::vector<JobVersionRecord> records,
                            store_.LoadDefinitions(versions));
  for (JobVersionRecord& record : records) {
    const JobVersionKey version{record.job_no, record.version};
    const std::vector<RunDefinitionKey>& of_runs = missing.at(version);
    if (!record.readable) {
      unreadable.push_back(version);
      found->unreadable.insert(of_runs.begin(), of_runs.end());
      continue;
    }
    const auto definition = std::make_shared<const Definition>(std::move(record), calendars_);
    Put({.job = version}, definition);
    Add(of_runs, definition, found);
  }
  Remember(unreadable);
  return {};
}

void DefinitionCache::Remember(const std::vector<JobVersionKey>& unreadable) {
  if (unreadable.empty()) return;
  const SteadyTime now = clock_.Steady();
  MutexLock lock(mu_);
  if (unreadable_until_.size() + unreadable.size() > kUnreadableMax) {
    std::erase_if(unreadable_until_, [now](const auto& entry) { return entry.second <= now; });
    if (unreadable_until_.size() + unreadable.size() > kUnreadableMax) unreadable_until_.clear();
  }
  for (const JobVersionKey& key : unreadable) unreadable_until_[key] = now + kUnreadableRetry;
}

size_t DefinitionCache::size() const {
  MutexLock lock(mu_);
  return entries_.size();
}

void DefinitionCache::Put(const RunDefinitionKey& key,
                          std::shared_ptr<const Definition> definition) {
  const size_t bytes = BytesOf(key, *definition);
  MutexLock lock(mu_);
  if (entries_.count(key) > 0) return;
  by_use_.push_front({key, std::move(definition), bytes});
  entries_[key] = by_use_.begin();
  bytes_ += bytes;
  while (entries_.size() > limits_.entries_max || bytes_ > limits_.bytes_max) {
    bytes_ -= by_use_.back().bytes;
    entries_.erase(by_use_.back().key);
    by_use_.pop_back();
  }
}

void DefinitionCache::Forget() {
  MutexLock lock(mu_);
  entries_.clear();
  by_use_.clear();
  bytes_ = 0;
  unreadable_until_.clear();
}

}  // namespace carillon::scheduler
