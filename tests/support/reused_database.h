// A database for each test, which looks new but is used again: what a test has written is deleted,
// because making the tables anew takes longer than most tests.
//
// Header only, because it needs the MySQL room, which not every build has.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/mariadb.h"

namespace carillon::test {

// A database as it was just after it was made, with the means to make it so again.
class RestorableDatabase {
 public:
  explicit RestorableDatabase(uint32_t segment_count) {
    database_.Open(segment_count);
    session_ = database_.Connect();
    partitions_ = Partitions();
    for (const std::string& table :
         TextsOf("SELECT table_name FROM information_schema.tables WHERE table_schema = "
                 "DATABASE() AND table_type = 'BASE TABLE'"))
      tables_[table] = {};
    CARILLON_CHECK(!tables_.empty(), "a new database has no tables");
    Keep();
  }
  // Returns false if it cannot be made as it was, because partitions came or went.
  bool Restore() {
    if (Partitions() != partitions_) return false;
    for (const std::string& table : Written()) {
      Run("DELETE FROM " + table);
      if (const std::string& columns = tables_.at(table); !columns.empty())
        Run("INSERT INTO " + table + " (" + columns + ") SELECT " + columns + " FROM " +
            CopyOf(table));
    }
    return true;
  }

  const MariadbDatabase& database() const { return database_; }

 private:
  static std::string CopyOf(const std::string& table) { return "kept_" + table; }

  // Copies the rows that a new database has. The names of the columns stay with the table: only
  // they can be written.
  void Keep() {
    Run("SET foreign_key_checks = 0");
    for (const std::string& table : Written()) {
      std::string columns;
      for (const std::string& column :
           TextsOf("SELECT column_name FROM information_schema.columns WHERE table_schema = "
                   "DATABASE() AND table_name "
                   "= '" +
                   table + "' AND extra NOT LIKE '%GENERATED%' ORDER BY ordinal_position"))
        columns += (columns.empty() ? "`" : ", `") + column + "`";
      Run("CREATE TABLE " + CopyOf(table) + " AS SELECT " + columns + " FROM " + table);
      tables_[table] = columns;
    }
  }

  // The tables that have rows, and those that had some when they were new: a test may have changed
  // or deleted them.
  std::set<std::string> Written() {
    std::string question;
    std::set<std::string> found;
    for (const auto& [table, columns] : tables_) {
      if (!columns.empty()) found.insert(table);
      question += (question.empty() ? "SELECT '" : " UNION ALL SELECT '") + table +
                  "' FROM DUAL WHERE EXISTS (SELECT 1 FROM " + table + ")";
    }
    for (std::string& table : TextsOf(question)) found.insert(std::move(table));
    return found;
  }

  std::vector<std::string> Partitions() {
    return TextsOf(
        "SELECT CONCAT(table_name, '.', partition_name, '.', partition_description) FROM "
        "information_schema.partitions WHERE table_schema = DATABASE() AND partition_name IS NOT "
        "NULL "
        "ORDER BY 1");
  }

  std::vector<std::string> TextsOf(const std::string& question) {
    auto rows = session_->Ask(question);
    CARILLON_CHECK(rows.ok(), rows.error().message);
    std::vector<std::string> texts;
    while (rows->Next()) texts.push_back(rows->Text(1));
    return texts;
  }
  void Run(const std::string& statement) {
    const Status done = session_->Run(statement);
    CARILLON_CHECK(done.ok(), statement + ": " + done.error().message);
  }

  MariadbDatabase database_;
  std::unique_ptr<mysql::Session> session_;
  std::vector<std::string> partitions_;
  std::map<std::string, std::string>
      tables_;  // the columns of those that have rows when they are new
};

// One empty store for a test, on which any number of handles can be opened. They must be closed
// before it goes.
class ReusedDatabase {
 public:
  explicit ReusedDatabase(uint32_t segment_count) : segment_count_(segment_count) {
    auto& free = Free();
    if (free.empty()) {
      used_ = std::make_unique<RestorableDatabase>(segment_count);
      return;
    }
    used_ = std::move(free.back());
    free.pop_back();
  }
  ~ReusedDatabase() {
    if (used_->Restore()) Free().push_back(std::move(used_));
  }
  ReusedDatabase(const ReusedDatabase&) = delete;
  ReusedDatabase& operator=(const ReusedDatabase&) = delete;

  std::unique_ptr<mysql::MysqlStores> Open() const {
    return used_->database().Open(segment_count_);
  }

 private:
  static std::vector<std::unique_ptr<RestorableDatabase>>& Free() {
    MariadbServer::Shared();  // outlives the list
    static std::vector<std::unique_ptr<RestorableDatabase>> free;
    return free;
  }

  const uint32_t segment_count_;
  std::unique_ptr<RestorableDatabase> used_;
};

}  // namespace carillon::test
