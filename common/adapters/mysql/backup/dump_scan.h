// Reads a dump while it passes by: which rows it holds, and whether it is whole.
//
// Place    Between the dump tool and the file of a backup.
// Always   What is given back is what was fed, but for who made a view: the database that it is
//          restored into may have no such user, so that the restoring user becomes its definer.
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

  // True if the last line is the one that a tool writes when nothing failed.
  bool complete() const;
  // Tables without rows are not in it.
  const std::map<std::string, int64_t>& rows() const { return rows_; }

 private:
  std::string_view Line(std::string_view line);
  void CountRows(std::string_view text);

  std::string pending_;          // the beginning of a line
  std::string replaced_;         // what stands for a line
  std::string last_;             // the last line that is not empty
  int64_t* inserted_ = nullptr;  // of the table whose INSERT goes on
  int depth_ = 0;                // of parentheses in it
  std::map<std::string, int64_t> rows_;
};

}  // namespace carillon::mysql
