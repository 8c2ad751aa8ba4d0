// Converts crontab files to jobs. Pure. Each line means what cron makes of it: cronie, and the
// crons of Debian, OpenBSD and FreeBSD where these have more.
//
// Always   No line is dropped silently: each line is a job, a setting or a comment, or is listed in
//          `refused` with the reason. The jobs satisfy the rules of POST /api/jobs, and their runs
//          get the command byte for byte. After a setting that cannot be kept, entries are refused
//          until the setting is replaced.
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

struct CrontabFile {
  std::string name = {};  // "" = the only file
  std::string text;
  std::string user = {};  // whose crontab it is; "" = not known, or the entries name theirs
};

// A line that needs the user's attention, and why.
struct CrontabLine {
  std::string file = {};
  size_t number = 0;  // from 1
  std::string text;
  std::string why;
};

struct CrontabImport {
  std::vector<nlohmann::json> jobs;  // bodies for POST /api/jobs, each with a job_id
  std::vector<CrontabLine> lines;    // of the jobs; `why` is the times
  std::vector<CrontabLine> refused;  // not converted
  std::vector<CrontabLine> remarks;  // converted, but the effect differs from cron's
};

// The ids of the jobs differ from file to file too. Settings end with their file.
CrontabImport ParseCrontabs(const std::vector<CrontabFile>& files, const CrontabOptions& options);
CrontabImport ParseCrontab(std::string_view text, const CrontabOptions& options);

// True if cron reads a file of this name in a directory of crontabs, such as /etc/cron.d: every
// cron leaves out hidden files, copies of editors and those of package managers.
bool IsCrontabName(std::string_view name);

}  // namespace carillon
