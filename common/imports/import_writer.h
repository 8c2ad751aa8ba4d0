// Collects the jobs and the rows of an import, and the texts that its parsers share. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/imports/import_result.h"

namespace carillon {

// A text that can be shown on one line, at most 500 bytes long.
std::string ImportShown(std::string_view bytes);

// Derives an id from a name: "backup-sh" from "Backup.sh". "" if no character of it is left.
std::string ImportedId(std::string_view name);

// The fault of a text that no job can have, as in "is not UTF-8"; "" = none.
std::string ImportFault(std::string_view text);

class ImportWriter {
 public:
  ImportWriter(ImportKind kind, const ImportOptions& options) : kind_(kind), options_(options) {}

  // The prefix and the id that belongs to `name`, shortened to what is allowed.
  std::string IdFor(std::string_view name) const;
  // Refuses the row for its remarks.
  void Refuse(ImportedRow row);
  // Adds the job, which gets its pause, its label and a free name; or refuses it if its id is that
  // of another job, or if it is not valid. Returns true if it was added.
  bool Add(ImportedRow row, nlohmann::json job);
  // The jobs in the order in which they can be created.
  ImportResult Take();

 private:
  const ImportKind kind_;
  const ImportOptions& options_;
  std::map<std::string, std::string> sources_;  // of the jobs, by id
  std::map<std::string, int> names_;            // how many jobs have it
  ImportResult result_;
};

}  // namespace carillon
