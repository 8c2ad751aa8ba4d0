// Crontab files to jobs. Pure; what cron would do
// with each line is crontab(5) of Debian and cronie.
//
// Always   A line is a job, a setting, a comment, or it is in `refused` with the reason: none is
//          dropped silently. What a job says passes the rules of POST /api/jobs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace carillon::cli {

struct CrontabOptions {
  bool system = false;            // a sixth field names the user, as in /etc/crontab
  std::string time_zone = "UTC";  // until a CRON_TZ line
  std::string id_prefix = {};     // of each job_id
};

struct CrontabLine {
  size_t number = 0;  // from 1
  std::string text;
  std::string why;
};

struct CrontabImport {
  std::vector<nlohmann::json> jobs;  // as POST /api/jobs takes them, each with a job_id
  std::vector<CrontabLine> refused;  // no job was made of these
  std::vector<CrontabLine> remarks;  // understood, but not what cron does
};

CrontabImport ParseCrontab(std::string_view text, const CrontabOptions& options);

}  // namespace carillon::cli
