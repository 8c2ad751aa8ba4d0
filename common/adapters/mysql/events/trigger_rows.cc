#include "common/adapters/mysql/events/trigger_rows.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/base/failpoint.h"
#include "common/ports/events/event_store.h"

namespace carillon::mysql {
namespace {

constexpr size_t kDefinitionsPerRead = 500;

Result<uint64_t> ReadNumber(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query("SELECT next_id FROM id_blocks WHERE name = ?",
                                                     {kEventTriggerSequence}));
  if (rows.Next()) return rows.Unsigned(1);
  return {ErrorCode::kBrokenStore, "event triggers: id_blocks has no row event_trigger"};
}

using NamespaceOfVersion = std::map<JobVersionKey, std::string>;

Result<NamespaceOfVersion> ReadVersions(Session& session) {
  static const std::string statement =
      "SELECT s.job_no, j.version, j.namespace FROM job_schedules s FORCE INDEX (by_kind) "
      "STRAIGHT_JOIN jobs j FORCE INDEX (PRIMARY) ON j.job_no = s.job_no WHERE s.kind = 'event' "
      "AND j.deleted = 0";
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement));
  NamespaceOfVersion versions;
  while (rows.Next()) versions[{JobNo(rows.Unsigned(1)), rows.Int(2)}] = rows.Text(3);
  return versions;
}

using TriggersByVersion = std::map<JobVersionKey, std::vector<EventTrigger>>;

// Adds those of versions that are not known yet, except unreadable ones. A version that its job has
// left meanwhile has no triggers.
Status ReadUnknown(Session& session, const NamespaceOfVersion& wanted, TriggersByVersion* known) {
  std::vector<JobVersionKey> keys;
  const auto read = [&]() -> Status {
    CARILLON_ASSIGN_OR_RETURN(const std::vector<JobVersionRecord> records,
                              ReadDefinitions(session, keys));
    for (const JobVersionRecord& record : records) {
      if (record.readable) (*known)[{record.job_no, record.version}] = TriggersOf(record);
    }
    keys.clear();
    return {};
  };
  for (const auto& [key, name_space] : wanted) {
    if (known->contains(key)) continue;
    keys.push_back(key);
    if (keys.size() == kDefinitionsPerRead) CARILLON_TRY(read());
  }
  return keys.empty() ? Status() : read();
}

// Reads the triggers. They are those of a number only if it is the same before and after.
Result<StoredTriggers> ReadAll(Session& session, const SharedTriggers& before) {
  StoredTriggers all;
  CARILLON_ASSIGN_OR_RETURN(const NamespaceOfVersion versions, ReadVersions(session));
  failpoint::Hit("event.list_read");
  for (const auto& [key, name_space] : versions) {
    if (before == nullptr) break;
    const auto known = before->by_version.find(key);
    if (known != before->by_version.end()) all.by_version.insert(*known);
  }
  CARILLON_TRY(ReadUnknown(session, versions, &all.by_version));
  failpoint::Hit("event.definitions_read");
  std::map<std::string, std::vector<EventTrigger>> by_namespace;
  for (const auto& [key, triggers] : all.by_version) {
    std::vector<EventTrigger>& of_namespace = by_namespace[versions.at(key)];
    of_namespace.insert(of_namespace.end(), triggers.begin(), triggers.end());
  }
  for (auto& [name_space, triggers] : by_namespace) {
    all.by_namespace[name_space] = std::make_shared<TriggerSet>(std::move(triggers));
  }
  return all;
}

Result<SharedTriggers> ReadAnew(Session& session, const SharedTriggers& present) {
  CARILLON_ASSIGN_OR_RETURN(uint64_t number, ReadNumber(session));
  if (present != nullptr && present->number == number) return present;
  for (int reads = 0; reads < kTriggerReadsMax; ++reads) {
    failpoint::Hit("event.number_read");
    CARILLON_ASSIGN_OR_RETURN(StoredTriggers all, ReadAll(session, present));
    CARILLON_ASSIGN_OR_RETURN(const uint64_t after, ReadNumber(session));
    all.number = after;
    if (after == number || failpoint::Broken("event.number_after")) {
      return std::make_shared<const StoredTriggers>(std::move(all));
    }
    number = after;
  }
  return {ErrorCode::kUnavailable, "event triggers: edited during each read"};
}

}  // namespace

Result<SharedTriggers> PresentTriggers(Pool& pool, TriggerCache& cache) {
  CARILLON_ASSIGN_OR_RETURN(const uint64_t number, InRead(pool, "event triggers", ReadNumber));
  const SharedTriggers present = cache.Get();
  if (present != nullptr && present->number == number) return present;
  return cache.Renew([&](const SharedTriggers& known) {
    return InRead(pool, "event triggers",
                  [&](Session& session) { return ReadAnew(session, known); });
  });
}

Result<std::vector<EventTrigger>> ReadTriggersOf(Session& session, const std::string& name_space,
                                                 const std::vector<JobVersionKey>& versions) {
  static const std::string statement =
      "SELECT j.job_no, j.version FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN jobs j FORCE INDEX "
      "(PRIMARY) ON j.job_no = k.n AND j.deleted = 0 AND j.namespace = ?";
  std::vector<EventTrigger> triggers;
  if (versions.empty()) return triggers;
  JsonRows wanted;
  for (const JobVersionKey& version : versions) wanted.Begin().Add(version.job_no.value());
  std::vector<JobVersionKey> within;
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take(), name_space}));
    while (rows.Next()) within.push_back({JobNo(rows.Unsigned(1)), rows.Int(2)});
  }
  if (within.empty()) return triggers;
  CARILLON_ASSIGN_OR_RETURN(const std::vector<JobVersionRecord> records,
                            ReadDefinitions(session, within));
  for (const JobVersionRecord& record : records) {
    for (EventTrigger& trigger : TriggersOf(record)) triggers.push_back(std::move(trigger));
  }
  return triggers;
}

}  // namespace carillon::mysql
