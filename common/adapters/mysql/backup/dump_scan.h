// Scans a dump as it is copied: counts the rows of each table,
// and reports whether the dump is complete.
//
// Place    Between the dump tool and the file of a backup.
// Always   The output equals the input, except for the definers of views. The user who restores the
//          dump becomes the definer, because the original definer may not exist there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace carillon::mysql {

class DumpScan {
 public:
  // Appends to `out` the lines that `bytes` completes.
  void Feed(std::string_view bytes, std::string* out);

  // True if the last line is the one that the dump tool writes after success.
  bool complete() const;
  // The number of rows by table. Tables without rows are absent.
  const std::map<std::string, int64_t>& rows() const { return rows_; }

 private:
  std::string_view Line(std::string_view line);
  void CountRows(std::string_view text);

  std::string pending_;          // the beginning of a line that is not complete yet
  std::string replaced_;         // the replacement of a line
  std::string last_;             // the last line that is not empty
  int64_t* inserted_ = nullptr;  // count of the table whose INSERT is being read
  int depth_ = 0;                // depth of the parentheses in that INSERT
  std::map<std::string, int64_t> rows_;
};

}  // namespace carillon::mysql
