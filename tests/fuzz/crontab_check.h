// Checks of any text given as a crontab; shared by the fuzzer and the unit test.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "common/domain/template/template_text.h"
#include "common/imports/crontab.h"
#include "common/wire/json/job/job_json.h"

namespace carillon::test {

// Every job is valid and renders without parameters, ids differ, and every line that is refused or
// remarked on has its number, a reason, and text that can be shown. Returns "" or a complaint.
inline std::string CheckCrontab(std::string_view text, bool system) {
  const CrontabImport import = ParseCrontab(text, {.system = system});
  std::set<std::string> ids;
  for (const nlohmann::json& job : import.jobs) {
    if (!ParseJob(job).ok()) return "an invalid job: " + job.dump();
    if (!ids.insert(job["job_id"]).second) return "an id comes twice";
    bool placeholder = false;
    const auto note = [&](std::string_view) {
      placeholder = true;
      return Status();
    };
    const std::string command = job["command"];
    if (!ScanTemplate(command, kSkipText, note).ok() || placeholder) return "a placeholder";
  }
  for (const auto* lines : {&import.refused, &import.remarks}) {
    for (const CrontabLine& line : *lines) {
      if (line.number == 0 || line.why.empty()) return "a line without a reason";
      if (ToValidUtf8(line.why + line.text) != line.why + line.text) return "bytes are shown";
    }
  }
  return "";
}

}  // namespace carillon::test
