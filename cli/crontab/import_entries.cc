#include "cli/crontab/import_entries.h"

#include <algorithm>
#include <deque>

#include "cli/crontab/import_rehearsal.h"
#include "cli/jobs/commands.h"
#include "cli/terminal/output.h"

namespace carillon::cli {
namespace {

using nlohmann::json;
using Kind = ImportedEntry::Kind;

// Empty for a job that was not found.
std::string IdOfJob(const json& job) {
  return job.is_object() ? job.value("job_id", std::string()) : std::string();
}

json MemberOf(const json& object, const char* name) {
  return object.is_object() ? object.value(name, json()) : json();
}

// The stored schedules have members that the server adds.
bool HaveSameSchedules(const json& job, const json& stored) {
  if (!job.contains("schedules")) {
    return MemberOf(job, "cron_expression") == MemberOf(stored, "cron_expression") &&
           MemberOf(job, "time_zone") == MemberOf(stored, "time_zone");
  }
  const json& schedules = job["schedules"];
  const json others = MemberOf(stored, "schedules");
  if (!others.is_array() || others.size() != schedules.size()) return false;
  for (size_t i = 0; i < schedules.size(); ++i) {
    for (const auto& [name, value] : schedules[i].items()) {
      if (MemberOf(others[i], name.c_str()) != value) return false;
    }
  }
  return true;
}

bool IsSameEntry(const json& job, const json& stored) {
  const auto user = [](const json& one) {
    return MemberOf(MemberOf(one, "labels"), "crontab-user");
  };
  return MemberOf(job, "command") == MemberOf(stored, "command") && user(job) == user(stored) &&
         HaveSameSchedules(job, stored);
}

// "play-sh" of "play-sh-2": the entries of one program.
std::string FamilyOf(const std::string& id) {
  const size_t last = id.find_last_not_of("0123456789");
  const bool numbered = last != std::string::npos && last + 1 < id.size() && id[last] == '-';
  return numbered ? id.substr(0, last) : id;
}

class EntryImporter {
 public:
  explicit EntryImporter(const EntryPorts& ports) : ports_(ports) {}

  std::vector<ImportedEntry> Run(const std::vector<json>& jobs) {
    for (const json& job : jobs) {
      entries_.push_back({.job = job});
      if (!Try(entries_.back())) return std::move(entries_);
    }
    for (ImportedEntry& entry : entries_) {
      Stored* same = entry.kind == Kind::kTaken ? Unmatched(entry.job) : nullptr;
      if (same != nullptr) Match(entry, *same);
    }
    for (ImportedEntry& entry : entries_) {
      if (entry.kind == Kind::kTaken && !Move(entry)) break;
    }
    return std::move(entries_);
  }

 private:
  struct Stored {
    json job;
    bool matched = false;  // by an entry
  };

  Stored* Unmatched(const json& job) {
    const auto found = std::find_if(stored_.begin(), stored_.end(), [&job](const Stored& one) {
      return !one.matched && IsSameEntry(job, one.job);
    });
    return found == stored_.end() ? nullptr : &*found;
  }

  // The stored job with this id; null if there is none.
  Stored* Ask(const std::string& id) {
    const auto found = ports_.find(id);
    if (!found.ok() || !found->is_object()) return nullptr;
    return &stored_.emplace_back(Stored{*found});
  }

  static void Match(ImportedEntry& entry, Stored& stored) {
    stored.matched = true;
    entry.kind = Kind::kThere;
    entry.stored = stored.job;
  }

  // Returns false if the import cannot go on.
  bool Create(ImportedEntry& entry) {
    const auto created = ports_.create(entry.job);
    if (created.ok()) {
      entry.kind = Kind::kCreated;
      entry.job = *created;
      return true;
    }
    entry.failure = created.error();
    if (entry.failure->code == "exists") return true;
    entry.kind = Kind::kFailed;
    return entry.failure->exit != ExitCode::kUnreachable &&
           entry.failure->exit != ExitCode::kDenied;
  }

  bool Try(ImportedEntry& entry) {
    const std::string id = IdOfJob(entry.job);
    if (Stored* same = Unmatched(entry.job)) {
      Match(entry, *same);
      if (Ask(id) == nullptr) free_.push_back(id);
      return true;
    }
    if (!Create(entry)) return false;
    if (entry.kind != Kind::kTaken) return true;
    Stored* other = Ask(id);
    if (other == nullptr) return true;
    if (IsSameEntry(entry.job, other->job)) {
      Match(entry, *other);
    } else {
      entry.stored = other->job;
    }
    return true;
  }

  // An entry whose id is in use, once it is known to whom all stored jobs belong. A stored job that
  // belongs to no entry may have been this one before somebody changed it.
  bool Move(ImportedEntry& entry) {
    const std::string id = IdOfJob(entry.job);
    const bool moved = std::any_of(stored_.begin(), stored_.end(), [&id](const Stored& one) {
      return one.matched && IdOfJob(one.job) == id;
    });
    const auto free = std::find_if(free_.begin(), free_.end(), [&id](const std::string& one) {
      return FamilyOf(one) == FamilyOf(id);
    });
    if (!moved || free == free_.end()) return true;
    entry.job["job_id"] = *free;
    free_.erase(free);
    if (!Create(entry)) return false;
    if (entry.kind == Kind::kTaken) entry.stored = json();  // a deleted job had it
    return true;
  }

  const EntryPorts& ports_;
  std::vector<ImportedEntry> entries_;
  std::deque<Stored> stored_;  // whose ids entries have
  std::vector<std::string> free_;
};

}  // namespace

std::vector<ImportedEntry> ImportEntries(const std::vector<json>& jobs, const EntryPorts& ports) {
  return EntryImporter(ports).Run(jobs);
}

std::string NotCreated(const ImportedEntry& entry) {
  const std::string id = IdOfJob(entry.job);
  const std::string other = IdOfJob(entry.stored);
  if (entry.kind == Kind::kThere) {
    return id + " was not imported: " + (other == id ? "it" : other) +
           " is there with this command and schedule.";
  }
  if (entry.kind == Kind::kTaken && !other.empty()) {
    return id + " was not imported: the job with this ID has another command or schedule (" +
           ScheduleSummary(entry.stored) + ": " + Cell(MemberOf(entry.stored, "command")) +
           "). Change or delete it, or use --prefix to import under different IDs.";
  }
  return NotImported(entry.job, entry.failure.value_or(Failure{.code = "exists"}));
}

}  // namespace carillon::cli
