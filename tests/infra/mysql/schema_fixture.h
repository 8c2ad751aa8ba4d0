// Fixture for tests of the schema: each test has its own database and uses plain SQL.
#pragma once

#include <memory>
#include <string>

#include "tests/contract/mysql/mysql_handle.h"

namespace carillon::test {

class SchemaTest : public ::testing::Test {
 protected:
  std::unique_ptr<mysql::Session> EmptyDatabase() {
    auto session = mysql::Session::Connect(database_.server().Session(""));
    CARILLON_CHECK(session.ok(), session.error().message);
    CARILLON_CHECK((*session)->Run("CREATE DATABASE " + database_.name()).ok(), "create");
    return database_.Connect();
  }
  static int64_t Number(mysql::Session& session, const std::string& query) {
    auto rows = session.Ask(query);
    CARILLON_CHECK(rows.ok() && rows->Next(), query);
    return rows->Int(1);
  }

  MariadbDatabase database_;
};

}  // namespace carillon::test
