// Checks of any text given as the source of an import; shared by the fuzzer and the unit test.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "common/imports/import_result.h"
#include "common/wire/json/job/job_json.h"
#include "common/wire/json/json_text.h"

namespace carillon::test {

// Every job is valid, paused, and has an id of its own that a row names; a refused row has a
// reason; a job comes behind those that it follows; the answer is UTF-8. Returns "" or a complaint.
inline std::string CheckImport(ImportKind kind, std::string_view text) {
  ImportFile file{.text = std::string(text)};
  if (ReadsDocuments(kind)) {
    auto document = ParseJsonText(text);
    if (!document.ok()) return "";
    file.documents.push_back(std::move(document).value());
  }
  const auto import = ImportJobs(kind, {file}, {.time_zone = "UTC"});
  if (!import.ok()) return import.error().message.empty() ? "no reason" : "";
  std::set<std::string> named;
  for (const ImportedRow& row : import->rows) {
    const bool refused = row.verdict == Verdict::kRefused;
    if (refused && (row.remarks.empty() || !row.job_id.empty())) return "a refusal without reason";
    if (!refused && row.job_id.empty()) return "a row without a job";
    if (row.verdict == Verdict::kMapped && !row.remarks.empty()) return "a remark is hidden";
    if (!refused) named.insert(row.job_id);
  }
  std::set<std::string> ids;
  for (const nlohmann::json& job : import->jobs) {
    if (!ParseJob(job).ok()) return "an invalid job: " + job.dump();
    if (job["enabled"] != false) return "a job that is not paused";
    if (!ids.insert(job["job_id"]).second) return "an id comes twice";
    for (const auto& schedule : job.value("schedules", nlohmann::json::array())) {
      if (schedule["kind"] == "after" && !ids.contains(schedule["job"])) return "a wrong order";
    }
  }
  if (ids != named) return "rows and jobs differ";
  const std::string answer = JsonToText(ImportToJson(*import, FromUnixMicros(0)));
  return ToValidUtf8(answer) == answer ? "" : "bytes are shown";
}

}  // namespace carillon::test
