// An import of a crontab whose jobs may be stored already, with other ids than now: the ids number
// the entries of one program, so an entry that is put above others moves the ids of those.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/client/outcome.h"

namespace carillon::cli {

// The outcome of one entry.
struct ImportedEntry {
  enum class Kind {
    kCreated,
    kThere,   // a stored job has its command and schedule
    kTaken,   // another job has its id
    kFailed,  // the server refused it
  };
  Kind kind = Kind::kTaken;
  nlohmann::json job = {};     // with the id under which it was created
  nlohmann::json stored = {};  // kThere: that job; kTaken: the job with its id, or null
  std::optional<Failure> failure = {};
};

struct EntryPorts {
  std::function<Outcome<nlohmann::json>(const nlohmann::json& job)> create;
  // Returns null if there is no such job, or the user may not see it.
  std::function<Outcome<nlohmann::json>(const std::string& job_id)> find;
};

// Creates the jobs that are not stored yet. An entry whose id a job has that belongs to another
// entry of the crontab gets the id that this other one left free. Returns the fates in the order of
// the jobs; fewer if the server cannot be reached or denies the access, as the last one says.
std::vector<ImportedEntry> ImportEntries(const std::vector<nlohmann::json>& jobs,
                                         const EntryPorts& ports);

// The message about an entry that was not created.
std::string NotCreated(const ImportedEntry& entry);

}  // namespace carillon::cli
