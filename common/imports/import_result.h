// The result of an import from another scheduler: jobs for POST /api/apply, and a row for each
// thing that was read. Pure.
//
// Always   Nothing is dropped silently: each thing is a job or refused, and says so in its row. The
//          jobs satisfy the rules of POST /api/jobs, are paused and have the label imported-from.
//          Texts are escaped, so that their runs get them byte for byte.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon {

enum class ImportKind { kCrontab, kCronJob, kSystemd, kXxlJob };
std::string_view Name(ImportKind kind);  // "crontab", "cronjob", "systemd", "xxl-job"
Result<ImportKind> ParseImportKind(std::string_view text);
// True if its files are YAML or JSON, so that `documents` must be set.
bool ReadsDocuments(ImportKind kind);

struct ImportFile {
  std::string name = {};  // "" = the only file
  std::string text = {};
  std::vector<nlohmann::json> documents = {};
  std::string fault = {};  // why it has no documents; "" = none
};

struct ImportOptions {
  std::string time_zone = {};                     // of what names none; "" = then it is refused
  std::string id_prefix = {};                     // the beginning of every job_id
  std::map<std::string, std::string> names = {};  // names of the source, and those to use instead
  bool system = false;                            // a crontab with users before its commands
};

enum class Verdict { kMapped, kRemarked, kRefused };
std::string_view Name(Verdict verdict);  // "mapped", "remarked", "refused"

// One thing of the source: a line, a row of a table, a manifest, a timer.
struct ImportedRow {
  std::string source = {};  // for people: "row 7", "nightly.timer"
  Verdict verdict = Verdict::kMapped;
  std::vector<std::string> remarks = {};  // of a refused row: the reasons
  std::string job_id = {};                // "" if refused
  std::string expression = {};            // its schedule as the source says it; "" = none
};

struct ImportResult {
  std::vector<nlohmann::json> jobs = {};  // a job stands behind those that it depends on
  std::vector<ImportedRow> rows = {};     // in the order of the source
};

// kInvalid: the text as a whole is no source of this kind, or has nothing to import.
Result<ImportResult> ImportJobs(ImportKind kind, const std::vector<ImportFile>& files,
                                const ImportOptions& options);

// The form of the REST API, with the next fires after `now` beside the expressions.
nlohmann::json ImportToJson(const ImportResult& result, WallTime now);

}  // namespace carillon
