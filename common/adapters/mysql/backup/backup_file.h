// A backup file. It contains
// - a first line with the format, the schema version, the store id and the time;
// - a dump;
// - a last line with the number of rows of each table.
// The first and the last line are SQL comments, so that the database's own client
// can load the file.
//
// Errors   kUnavailable: the file cannot be written. kInvalid: the file cannot be read, or is no
//          backup. kCorrupt: the file is incomplete.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon::mysql {

struct BackupHead {
  int schema = 0;  // the newest migration
  std::string store_id;
  WallTime taken;
};

struct BackupFile {
  BackupHead head;
  std::map<std::string, int64_t> rows;  // number of rows of every table
  int64_t bytes = 0;
};

std::string HeadLine(const BackupHead& head);
std::string TailLine(const std::map<std::string, int64_t>& rows);
// Reads only the first and the last line.
Result<BackupFile> ReadBackupFile(const std::string& path);

// A file that appears under its name only when it is complete and on the disk. Until then it is
// called NAME.part. A leftover NAME.part is replaced.
// kConflict: another process is writing NAME.part.
class NewFile {
 public:
  static Result<std::unique_ptr<NewFile>> Begin(const std::string& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  Status Write(std::string_view bytes);
  Status Commit();
  int64_t bytes() const { return bytes_; }

 private:
  NewFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  std::string PartPath() const { return path_ + ".part"; }

  const std::string path_;
  const int fd_;
  int64_t bytes_ = 0;
  bool committed_ = false;
};

}  // namespace carillon::mysql
