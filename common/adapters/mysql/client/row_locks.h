// The locking clauses of SELECTs that join a JSON_TABLE.
//
// MySQL refuses a clause that would lock the rows of a JSON_TABLE, so its clause names the alias of
// the table that is meant. MariaDB has no OF, and locks nothing of a JSON_TABLE. Each server skips
// the comments that are meant for the other: MariaDB those of the versions 50700 to 99999, MySQL
// those that begin with M!.
//
// Always   Every SELECT that joins a JSON_TABLE and locks rows ends in one of these clauses.
#pragma once

#include <string>
#include <string_view>

namespace carillon::mysql {

// Locks the rows of the table with this alias for update.
inline std::string ForUpdateOf(std::string_view alias) {
  return " FOR UPDATE /*!80030 OF " + std::string(alias) + " */";
}

// Locks the rows of the table with this alias in share mode.
inline std::string ForShareOf(std::string_view alias) {
  return " /*M! LOCK IN SHARE MODE */ /*!80030 FOR SHARE OF " + std::string(alias) + " */";
}

}  // namespace carillon::mysql
