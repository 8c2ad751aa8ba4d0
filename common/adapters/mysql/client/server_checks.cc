#include "common/adapters/mysql/client/server_checks.h"

#include <array>
#include <cstdio>

#include <fmt/core.h>

namespace carillon::mysql {
namespace {

constexpr int64_t kPacketBytesLeast = int64_t{4} << 20;

struct Rule {
  std::string_view variable;
  std::string_view wanted;
  std::string_view why;
  // The rule applies only if this variable is ON; empty = always.
  std::string_view where = {};
};
constexpr Rule kRules[] = {
    {"innodb_flush_log_at_trx_commit", "1", "a crash would undo what was confirmed"},
    {"sync_binlog", "1", "a crash would undo what was confirmed", "log_bin"},
    {"read_only", "OFF", "a replica takes no writes; connect to the primary"},
    {"wsrep_on", "OFF", "several servers that write at once cannot fence each other's members"},
    {"group_replication_single_primary_mode", "ON",
     "several servers that write at once cannot fence each other's members"},
};

// A rule also holds if the server does not have its variable.
bool Holds(const Rule& rule, const ServerVariables& variables) {
  const auto value = variables.find(std::string(rule.variable));
  if (value == variables.end() || value->second == rule.wanted) return true;
  if (rule.where.empty()) return false;
  const auto where = variables.find(std::string(rule.where));
  return where == variables.end() || where->second != "ON";
}

using Version = std::array<int, 3>;
// JSON_TABLE is not in older servers.
constexpr Version kMariadbLeast = {10, 6, 0};
// Servers before it lock other rows, and some of them crash when a day is added to the history.
constexpr Version kMysqlLeast = {8, 0, 30};

Status JudgeVersion(const std::string& text) {
  Version version = {};
  if (std::sscanf(text.c_str(), "%d.%d.%d", &version[0], &version[1], &version[2]) < 2) return {};
  const bool mariadb = text.find("MariaDB") != std::string::npos;
  const Version& least = mariadb ? kMariadbLeast : kMysqlLeast;
  if (version >= least) return {};
  return {ErrorCode::kConflict,
          fmt::format(
              "store: the server is {} {}, and {}.{}.{} is the oldest that Carillon works with; "
              "update the server",
              mariadb ? "MariaDB" : "MySQL", text, least[0], least[1], least[2])};
}

// READ COMMITTED writes nothing to a log of statements. The servers' other formats are all
// suitable.
Status JudgeLogFormat(const ServerVariables& variables) {
  const auto log = variables.find("log_bin");
  const auto format = variables.find("binlog_format");
  if (log == variables.end() || log->second != "ON") return {};
  if (format == variables.end() || format->second != "STATEMENT") return {};
  return {ErrorCode::kConflict,
          "store: the server has binlog_format = STATEMENT, with which it refuses writes in READ "
          "COMMITTED; set it to ROW"};
}

}  // namespace

Status JudgeServer(const ServerVariables& variables) {
  const auto version = variables.find("version");
  if (version != variables.end()) CARILLON_TRY(JudgeVersion(version->second));
  CARILLON_TRY(JudgeLogFormat(variables));
  for (const Rule& rule : kRules) {
    if (Holds(rule, variables)) continue;
    return {ErrorCode::kConflict,
            fmt::format("store: the server has {} = {}, and {}; set it to {}", rule.variable,
                        variables.at(std::string(rule.variable)), rule.why, rule.wanted)};
  }
  const auto packet = variables.find("max_allowed_packet");
  if (packet != variables.end() && std::stoll(packet->second) < kPacketBytesLeast) {
    return {ErrorCode::kConflict,
            fmt::format("store: the server has max_allowed_packet = {}, and a result with its "
                        "output may not fit; set it to {} or more",
                        packet->second, kPacketBytesLeast)};
  }
  return {};
}

Status CheckServer(Session& session) {
  std::string names = "'version', 'binlog_format', 'max_allowed_packet'";
  for (const Rule& rule : kRules) {
    names += fmt::format(", '{}'", rule.variable);
    if (!rule.where.empty()) names += fmt::format(", '{}'", rule.where);
  }
  ServerVariables variables;
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Ask(fmt::format("SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})", names)));
  while (rows.Next()) variables[rows.Text(1)] = rows.Text(2);
  return JudgeServer(variables);
}

}  // namespace carillon::mysql
