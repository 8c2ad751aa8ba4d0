// Converts crontab files to jobs. Pure. The manual page crontab(5) of Debian and of cronie defines
// the meaning of each line.
//
// Always   No line is dropped silently: each line is a job, a setting or a comment, or is listed in
//          `refused` with the reason. The jobs satisfy the rules of POST /api/jobs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace carillon {

struct CrontabOptions {
  bool system = false;            // each entry names a user before the command, as in /etc/crontab
  std::string time_zone = "UTC";  // of the entries before the first CRON_TZ line
  std::string id_prefix = {};     // the beginning of every job_id
};

// A line that needs the user's attention, and why.
struct CrontabLine {
  size_t number = 0;  // from 1
  std::string text;
  std::string why;
};

struct CrontabImport {
  std::vector<nlohmann::json> jobs;  // bodies for POST /api/jobs, each with a job_id
  std::vector<CrontabLine> refused;  // not converted
  std::vector<CrontabLine> remarks;  // converted, but the effect differs from cron's
};

CrontabImport ParseCrontab(std::string_view text, const CrontabOptions& options);

}  // namespace carillon
