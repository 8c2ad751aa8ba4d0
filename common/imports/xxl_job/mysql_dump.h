// Reads the rows of some tables from a dump that mysqldump or a client of MySQL wrote. Pure.
//
// Always   Columns are found by name: from the INSERT itself, or from the CREATE TABLE above it.
//          All other statements are skipped. Time is linear in the length of the dump.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace carillon {

// The values of a row by the lower-case name of their column; nullopt = NULL.
using DumpRow = std::map<std::string, std::optional<std::string>>;

struct DumpTable {
  bool found = false;  // a CREATE TABLE or an INSERT names it
  std::vector<DumpRow> rows = {};
};

// The tables of these lower-case names, without that of the database. kInvalid with the line: not
// SQL, or a row does not fit its columns.
Result<std::map<std::string, DumpTable>> ReadMysqlDump(std::string_view text,
                                                       const std::vector<std::string>& tables);

}  // namespace carillon
