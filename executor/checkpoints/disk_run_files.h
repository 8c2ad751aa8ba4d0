// The port RunFiles on a directory of the host.
//
// The names are RUN_ID-ATTEMPT.progress and RUN_ID-ATTEMPT.checkpoint. A process writes beside
// them, under a name that begins alike, and renames.
//
// Always   Opens by the descriptor of the directory, follows no link, waits for no other process,
//          and reads only regular files of this user.
#pragma once

#include <dirent.h>

#include <memory>
#include <string>

#include "common/base/file_descriptor.h"
#include "common/ports/run_files.h"

namespace carillon::executor {

class DiskRunFiles final : public RunFiles {
 public:
  // Creates the directory (0700) if it is missing.
  static Result<std::unique_ptr<DiskRunFiles>> Open(const std::string& directory);

  std::string PathOf(const RunFile& file) const override;
  Result<std::vector<Found>> ListNext(size_t max) override;
  std::optional<RunFileMark> Look(const RunFile& file) override;
  Result<std::optional<Content>> Read(const RunFile& file) override;
  Status Write(const RunFile& file, const std::string& bytes) override;
  Status Remove(const std::string& name) override;

 private:
  DiskRunFiles(std::string path, FileDescriptor directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}
  Status OpenList();

  struct CloseList {
    void operator()(DIR* list) const { closedir(list); }
  };
  const std::string path_;
  const FileDescriptor directory_;
  std::unique_ptr<DIR, CloseList> list_;  // null: the next call begins
};

}  // namespace carillon::executor
