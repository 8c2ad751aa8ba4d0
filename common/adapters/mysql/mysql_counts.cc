#include "common/adapters/mysql/mysql_counts.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/adapters/mysql/ascii.h"
#include "common/adapters/mysql/gap_filter.h"
#include "common/adapters/mysql/job_filter.h"

namespace carillon::mysql {
namespace {

constexpr BoundedCount kNone = {.seen = 0, .all = true};

Result<BoundedCount> Count(Pool& pool, const CountedRows& rows) {
  return InCount(pool, [&](Session& session) { return CountRows(session, rows); });
}

}  // namespace

Result<BoundedCount> CountRows(Session& session, const CountedRows& rows) {
  const bool looks = !rows.wanted.empty();
  const size_t limit = looks ? rows.looked_at_max : kListedCountMax + 1;
  Params params = rows.wanted.params();
  params.insert(params.end(), rows.within.params().begin(), rows.within.params().end());
  params.push_back(static_cast<uint64_t>(limit));
  // Only where the rest is left out does it matter which come first.
  const std::string order = looks ? " ORDER BY " + rows.order : "";
  CARILLON_ASSIGN_OR_RETURN(
      Rows found,
      session.Query(fmt::format("SELECT COUNT(*), CAST(COALESCE(SUM(x.hit), 0) AS UNSIGNED) FROM "
                                "(SELECT ({}) AS hit FROM {} WHERE {}{} LIMIT ?) x",
                                rows.wanted.text(), rows.from, rows.within.text(), order),
                    params));
  found.Next();
  const size_t looked_at = found.Unsigned(1);
  const size_t hits = found.Unsigned(2);
  return BoundedCount{.seen = std::min(hits, kListedCountMax),
                      .all = looked_at < limit && hits <= kListedCountMax};
}

Result<BoundedCount> MysqlCounts::CountJobs(const JobFilter& filter) {
  const JobConditions conditions = ConditionsOf(filter);
  CountedRows rows{.from = "jobs j",
                   .order = "j.job_id",
                   .within = conditions.within,
                   .wanted = conditions.wanted};
  // Otherwise the optimizer takes the order of all jobs, and passes over those of the others.
  if (filter.namespaces.size() == 1 && !rows.wanted.empty()) {
    rows.from += " FORCE INDEX (by_namespace)";
  }
  return Count(count_pool_, rows);
}

Result<BoundedCount> MysqlCounts::CountVersions(const JobId& id) {
  Conditions within;
  within.Add("v.job_no = (SELECT x.job_no FROM jobs x WHERE x.job_id = ? AND x.deleted = 0)",
             {id.value()});
  return Count(count_pool_,
               {.from = "job_versions v", .order = "v.version DESC", .within = within});
}

// As ListNamespaces: a loose scan.
Result<BoundedCount> MysqlCounts::CountNamespaces() {
  return InCount(count_pool_, [&](Session& session) -> Result<BoundedCount> {
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows, session.Query("SELECT COUNT(*) FROM (SELECT namespace FROM jobs FORCE INDEX "
                                 "(by_namespace) WHERE namespace > '' AND deleted = 0 GROUP BY "
                                 "namespace LIMIT ?) x",
                                 {uint64_t{kListedCountMax + 1}}));
    rows.Next();
    const size_t found = rows.Unsigned(1);
    return BoundedCount{.seen = std::min(found, kListedCountMax), .all = found <= kListedCountMax};
  });
}

Result<BoundedCount> MysqlCounts::CountGaps(const GapFilter& filter) {
  CountedRows rows{.from = "run_gaps g", .order = "g.id DESC", .wanted = OtherwiseOfGaps(filter)};
  rows.within = GapsOfJob(filter);
  rows.within.Add(GapsEndingSince(filter));
  if (filter.since && !filter.job_id) {  // no more is looked at than has ended since
    rows.from += " FORCE INDEX (by_end)";
    rows.order = "g.to_us DESC";
  }
  return Count(count_pool_, rows);
}

Result<BoundedCount> MysqlCounts::CountDeadLetters(const DeadLetterFilter& filter) {
  CountedRows rows{.from = "dead_letters d", .order = "d.id DESC", .within = {}};
  if (filter.job_id) {
    if (!IsAscii(filter.job_id->value())) return kNone;
    rows.within.Add("d.job_no = (SELECT x.job_no FROM jobs x WHERE x.job_id = ?)",
                    {filter.job_id->value()});
  }
  return Count(count_pool_, rows);
}

Result<BoundedCount> MysqlCounts::CountDeliveries(const DeliveryFilter& filter) {
  CountedRows rows{.from = "deliveries d", .order = "d.id DESC", .within = {}};
  if (filter.job_id) {
    if (!IsAscii(filter.job_id->value())) return kNone;
    rows.within.Add("d.job_no = (SELECT x.job_no FROM jobs x WHERE x.job_id = ?)",
                    {filter.job_id->value()});
  }
  if (filter.state) rows.wanted.Add("d.state = ?", {Name(*filter.state)});
  if (filter.kind) rows.wanted.Add("d.kind = ?", {Name(*filter.kind)});
  return Count(count_pool_, rows);
}

Result<BoundedCount> MysqlCounts::CountUsers() {
  return Count(count_pool_, {.from = "users u", .order = "u.user_id", .within = {}});
}

Result<BoundedCount> MysqlCounts::CountTokens(const TokenFilter& filter) {
  if (!IsAscii(filter.user_id.value_or(""))) return kNone;
  CountedRows rows{.from = "tokens t", .order = "t.token_id", .within = {}};
  if (filter.user_id) rows.within.Add("t.user_id = ?", {*filter.user_id});
  return Count(count_pool_, rows);
}

Result<BoundedCount> MysqlCounts::CountSecrets() {
  return Count(count_pool_, {.from = "secrets s", .order = "s.name", .within = {}});
}

Result<BoundedCount> MysqlCounts::CountBulk(const BulkFilter& filter) {
  CountedRows rows{.from = "bulk_actions b", .order = "b.id DESC", .within = {}};
  if (filter.user_id) rows.within.Add("b.user_id = ?", {*filter.user_id});
  // An index has the state, but not beside the user.
  Conditions& state = filter.user_id ? rows.wanted : rows.within;
  if (filter.state) state.Add("b.state = ?", {Name(*filter.state)});
  if (filter.open) rows.wanted.Add("b.is_open = 1");
  return Count(count_pool_, rows);
}

Result<BoundedCount> MysqlCounts::CountBulkItems(const std::string& bulk_id,
                                                 const BulkItemFilter& filter) {
  if (!IsAscii(bulk_id)) return kNone;
  CountedRows rows{.from = "bulk_items i", .order = "i.position", .within = {}};
  rows.within.Add("i.action_id = (SELECT b.id FROM bulk_actions b WHERE b.bulk_id = ?)", {bulk_id});
  if (filter.result) rows.within.Add("i.result = ?", {Name(*filter.result)});
  return Count(count_pool_, rows);
}

}  // namespace carillon::mysql
