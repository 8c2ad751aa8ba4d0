#include "common/adapters/mysql/incarnations.h"

#include <algorithm>

#include "common/adapters/mysql/json_rows.h"

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
            return {ErrorCode::kCorrupt, "incarnation: inserted and not found"};
          })));
  Remember(number, key);
  return number;
}

Status Incarnations::Load(Session& session, const std::vector<uint32_t>& numbers) {
  JsonRows wanted;
  {
    MutexLock lock(mu_);
    std::vector<uint32_t> missing;
    for (const uint32_t number : numbers) {
      if (number != 0 && !keys_.contains(number)) missing.push_back(number);
    }
    std::sort(missing.begin(), missing.end());
    missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
    for (const uint32_t number : missing) wanted.Begin().Add(number);
  }
  if (wanted.empty()) return {};
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT i.incarnation_no, i.executor_id, i.incarnation FROM JSON_TABLE(?, "
                    "'$[*]' COLUMNS (n INT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN "
                    "executor_incarnations i FORCE INDEX (PRIMARY) ON i.incarnation_no = k.n",
                    {wanted.Take()}));
  while (rows.Next()) {
    Remember(static_cast<uint32_t>(rows.Unsigned(1)),
             {ExecutorId(rows.Text(2)), Incarnation(rows.Text(3))});
  }
  return {};
}

Incarnations::Key Incarnations::KeyOf(uint32_t number) const {
  MutexLock lock(mu_);
  const auto found = keys_.find(number);
  return found == keys_.end() ? Key{} : found->second;
}

void Incarnations::Remember(uint32_t number, Key key) {
  MutexLock lock(mu_);
  keys_.emplace(number, key);
  numbers_.emplace(std::move(key), number);
}

}  // namespace carillon::mysql
