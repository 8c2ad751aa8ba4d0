#include "common/adapters/mysql/client/identity.h"

namespace carillon::mysql {
namespace {

// "10.11.19-MariaDB-0+deb12u1" -> "MariaDB 10.11.19", "9.7.4-log" -> "MySQL 9.7.4".
std::string SoftwareOf(bool mariadb, const std::string& version) {
  return (mariadb ? "MariaDB " : "MySQL ") +
         version.substr(0, version.find_first_not_of("0123456789."));
}

// MySQL keeps a server id with its data. MariaDB has none, so a server is identified by its host,
// port, server_id and data directory.
constexpr std::string_view kServerOfMariadb =
    "SHA2(CONCAT_WS('|', @@hostname, @@port, @@server_id, @@datadir), 256)";
constexpr std::string_view kServerOfMysql = "@@server_uuid";

}  // namespace

Result<StoreIdentity> ReadIdentity(Session& session, IdentityLock lock) {
  std::string statement = "SELECT store_id, segment_count, mark, ";
  statement += session.is_mariadb() ? kServerOfMariadb : kServerOfMysql;
  statement += ", VERSION() FROM store_identity WHERE id = 1";
  if (lock == IdentityLock::kForUpdate) statement += " FOR UPDATE";
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Ask(statement));
  if (!rows.Next()) return {ErrorCode::kCorrupt, "identify: the store has no identity"};
  return StoreIdentity{.store_id = rows.Text(1),
                       .server_id = rows.Text(4),
                       .segment_count = static_cast<uint32_t>(rows.Unsigned(2)),
                       .mark = rows.Unsigned(3),
                       .software = SoftwareOf(session.is_mariadb(), rows.Text(5))};
}

}  // namespace carillon::mysql
