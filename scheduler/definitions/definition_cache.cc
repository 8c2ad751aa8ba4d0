#include "scheduler/definitions/definition_cache.h"

#include <algorithm>

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

size_t BytesOf(const WorkflowDefinition& workflow) {
  size_t bytes = 0;
  for (const WorkflowNode& node : workflow.nodes) {
    bytes +=
        sizeof(WorkflowNode) + node.id.size() + node.job.value().size() + BytesOf(node.parameters);
    for (const WorkflowEdge& edge : node.after) {
      bytes += sizeof(WorkflowEdge) + edge.node.size() + edge.condition.size();
    }
  }
  return bytes;
}

size_t BytesOf(const std::vector<std::string>& texts) {
  size_t bytes = 0;
  for (const std::string& text : texts) bytes += sizeof(text) + text.size();
  return bytes;
}

size_t BytesOf(const HttpDefinition& http) {
  return sizeof(http) + http.url.size() + BytesOf(http.headers) + http.body.size() +
         BytesOf(http.expect.status) + http.expect.contains.size() + http.expect.regex.size() +
         BytesOf(http.expect.json) + http.client_certificate.size() +
         (http.poll ? http.poll->url.size() + http.poll->url_at.size() + BytesOf(http.poll->until)
                    : 0);
}

size_t BytesOf(const JobVersionRecord& record) {
  const JobDefinition& job = record.definition;
  size_t bytes = kEntryBytes + record.job_id.value().size() + job.name.size() + job.command.size() +
                 job.time_zone.size() + job.description.size() + job.user_id.size() +
                 job.run_as.size() + job.working_directory.size() + job.output_encoding.size() +
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

}  // namespace

Definition::Definition(JobVersionRecord record, const CalendarCache* calendars)
    : record_(std::move(record)),
      selector_(SelectorOf(record_.definition)),
      needs_(carillon::NeedsOf(record_.definition)),
      secrets_(SecretsOf(record_.definition)),
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

std::shared_ptr<const Definition> DefinitionCache::Get(const JobVersionKey& key) {
  MutexLock lock(mu_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  by_use_.splice(by_use_.begin(), by_use_, found->second);
  return found->second->definition;
}

std::vector<JobVersionKey> DefinitionCache::MissingOf(const std::vector<JobVersionKey>& keys,
                                                      Found* found) {
  std::set<JobVersionKey> missing;
  for (const JobVersionKey& key : keys) {
    if (found->definitions.contains(key)) continue;
    if (auto known = Get(key)) {
      found->definitions[key] = std::move(known);
    } else {
      missing.insert(key);
    }
  }
  const SteadyTime now = clock_.Steady();
  MutexLock lock(mu_);
  std::erase_if(missing, [&](const JobVersionKey& key) REQUIRES(mu_) {
    const auto at = unreadable_until_.find(key);
    if (at == unreadable_until_.end() || now >= at->second) return false;
    found->unreadable.insert(key);
    return true;
  });
  return {missing.begin(), missing.end()};
}

Result<DefinitionCache::Found> DefinitionCache::Load(const std::vector<JobVersionKey>& keys) {
  Found found;
  std::vector<JobVersionKey> missing = MissingOf(keys, &found);
  std::vector<JobVersionKey> unreadable;
  for (size_t from = 0; from < missing.size(); from += kBatchRowsMax) {
    const auto begin = missing.begin() + static_cast<long>(from);
    const auto count = std::min(missing.size() - from, kBatchRowsMax);
    CARILLON_ASSIGN_OR_RETURN(std::vector<JobVersionRecord> records,
                              store_.LoadDefinitions({begin, begin + static_cast<long>(count)}));
    for (JobVersionRecord& record : records) {
      const JobVersionKey key{record.job_no, record.version};
      if (!record.readable) {
        unreadable.push_back(key);
        continue;
      }
      const auto definition = std::make_shared<const Definition>(std::move(record), calendars_);
      found.definitions[key] = definition;
      Put(key, definition);
    }
  }
  Remember(unreadable);
  found.unreadable.insert(unreadable.begin(), unreadable.end());
  return found;
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

void DefinitionCache::Put(const JobVersionKey& key, std::shared_ptr<const Definition> definition) {
  const size_t bytes = BytesOf(definition->record());
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
