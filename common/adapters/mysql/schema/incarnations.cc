#include "common/adapters/mysql/schema/incarnations.h"

#include <algorithm>
#include <set>

#include "common/adapters/mysql/client/json_rows.h"

namespace carillon::mysql {

Result<uint32_t> Incarnations::NumberOf(Pool& pool, const Key& key) {
  {
    MutexLock lock(mu_);
    const auto found = numbers_.find(key);
    if (found != numbers_.end()) return found->second;
  }
  const std::string& executor = key.first.value();
  const std::string& incarnation = key.second.value();
  CARILLON_ASSIGN_OR_RETURN(
      const uint32_t number,
      ForgetTimeout(InTransaction(
          pool, {.operation = "incarnation", .retry_duplicates = true},
          [&](Session& session) -> Result<uint32_t> {
            const std::string select =
                "SELECT incarnation_no FROM executor_incarnations "
                "WHERE executor_id = ? AND incarnation = ?";
            for (const bool insert : {false, true}) {
              if (insert) {
                CARILLON_TRY(session.Execute(
                    "INSERT INTO executor_incarnations (executor_id, incarnation) VALUES (?, ?)",
                    {executor, incarnation}));
              }
              CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(select, {executor, incarnation}));
              if (rows.Next()) return static_cast<uint32_t>(rows.Unsigned(1));
            }
            return {ErrorCode::kBrokenStore, "incarnation: inserted and not found"};
          })));
  Remember(number, key);
  return number;
}

Result<Incarnations::Keys> Incarnations::Load(Session& session,
                                              const std::vector<uint32_t>& numbers) {
  Keys found;
  std::set<uint32_t> missing;
  {
    MutexLock lock(mu_);
    for (const uint32_t number : numbers) {
      if (number == 0 || found.contains(number)) continue;
      const auto known = keys_.find(number);
      if (known != keys_.end()) {
        found.insert(*known);
      } else {
        missing.insert(number);
      }
    }
  }
  if (missing.empty()) return found;
  JsonRows wanted;
  for (const uint32_t number : missing) wanted.Begin().Add(number);
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(
          "SELECT i.incarnation_no, i.executor_id, i.incarnation FROM JSON_TABLE(" CARILLON_JSON
          ", "
          "'$[*]' COLUMNS (n INT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN "
          "executor_incarnations i FORCE INDEX (PRIMARY) ON i.incarnation_no = k.n",
          {wanted.Take()}));
  while (rows.Next()) {
    const auto number = static_cast<uint32_t>(rows.Unsigned(1));
    const Key key{ExecutorId(rows.Text(2)), Incarnation(rows.Text(3))};
    Remember(number, key);
    found.emplace(number, key);
  }
  return found;
}

void Incarnations::Forget() {
  MutexLock lock(mu_);
  keys_.clear();
  numbers_.clear();
}

size_t Incarnations::kept() const {
  MutexLock lock(mu_);
  return keys_.size();
}

void Incarnations::Remember(uint32_t number, const Key& key) {
  MutexLock lock(mu_);
  if (keys_.size() >= kept_max_ && !keys_.contains(number)) {
    keys_.clear();
    numbers_.clear();
  }
  keys_.emplace(number, key);
  numbers_.emplace(key, number);
}

Status DeleteOldIncarnations(Pool& pool, WallTime now, WallTime before) {
  return InTransaction(pool, {.operation = "retention"}, [&](Session& session) -> Status {
    const int64_t now_us = ToUnixMicros(now);
    CARILLON_TRY(session.Execute(
        "INSERT INTO incarnation_uses (incarnation_no, seen_us) SELECT i.incarnation_no, ? FROM "
        "executor_incarnations i LEFT JOIN incarnation_uses k ON k.incarnation_no = "
        "i.incarnation_no WHERE k.incarnation_no IS NULL LIMIT ? ON DUPLICATE KEY UPDATE "
        "incarnation_uses.seen_us = incarnation_uses.seen_us",
        {now_us, kIncarnationsPerCall}));
    CARILLON_TRY(session.Execute(
        "UPDATE executors x STRAIGHT_JOIN executor_incarnations i ON i.executor_id = x.executor_id "
        "AND i.incarnation = x.incarnation STRAIGHT_JOIN incarnation_uses u ON u.incarnation_no = "
        "i.incarnation_no SET u.seen_us = ?",
        {now_us}));
    std::set<uint64_t> old;
    {
      CARILLON_ASSIGN_OR_RETURN(
          Rows rows,
          session.Query(
              "SELECT u.incarnation_no FROM incarnation_uses u WHERE u.seen_us < ? AND NOT "
              "EXISTS (SELECT 1 FROM kept_runs k WHERE k.incarnation_no = "
              "u.incarnation_no) LIMIT ?",
              {ToUnixMicros(before), kIncarnationsPerCall}));
      while (rows.Next()) old.insert(rows.Unsigned(1));
    }
    if (old.empty()) return {};
    {
      CARILLON_ASSIGN_OR_RETURN(
          Rows rows, session.Query("SELECT DISTINCT r.incarnation_no FROM job_runs r FORCE INDEX "
                                   "(open_runs) WHERE r.open_segment IS NOT NULL AND "
                                   "r.incarnation_no <> 0"));
      while (rows.Next()) old.erase(rows.Unsigned(1));
    }
    JsonRows gone;
    for (const uint64_t number : old) gone.Begin().Add(number);
    if (gone.empty()) return {};
    const std::string numbers = gone.Take();
    for (const char* table : {"executor_incarnations", "incarnation_uses"}) {
      CARILLON_TRY(session.Execute(std::string("DELETE t FROM JSON_TABLE(" CARILLON_JSON
                                               ", '$[*]' COLUMNS (n INT UNSIGNED PATH '$[0]')) k "
                                               "STRAIGHT_JOIN ") +
                                       table + " t FORCE INDEX (PRIMARY) ON t.incarnation_no = k.n",
                                   {numbers}));
    }
    return {};
  });
}

}  // namespace carillon::mysql
