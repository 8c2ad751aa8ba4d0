#include "common/domain/job/job_process.h"

#include <fmt/format.h>

#include "common/base/charset.h"
#include "common/domain/job/job_types.h"

namespace carillon {
namespace {

Status CheckLimitsAndUser(const JobDefinition& job) {
  const bool process = StartsProcess(job.type);
  if (job.limits && !process) {
    return InvalidAt(
        "/limits", fmt::format("a {} job starts no process that could be limited", Name(job.type)));
  }
  if (!job.run_as.empty() && !process) {
    return InvalidAt("/run_as", fmt::format("a {} job starts no process", Name(job.type)));
  }
  if (!job.run_as.empty() && job.type == JobType::kContainer) {
    return InvalidAt("/run_as", "has no effect on a container; set user of container");
  }
  if (!job.run_as.empty() && !IsUserName(job.run_as)) {
    return InvalidAt(
        "/run_as",
        "must be the name of a user: at most 32 letters, digits, _, . and -, and first a "
        "letter or _");
  }
  return job.limits ? CheckLimits(*job.limits) : Status();
}

Status CheckWorkingDirectory(const JobDefinition& job) {
  if (job.working_directory.empty()) return {};
  const auto refuse = [](std::string fault) {
    return InvalidAt("/working_directory", std::move(fault));
  };
  if (job.type == JobType::kContainer)
    return refuse("has no effect on a container, whose image names the directory");
  if (!StartsProcess(job.type))
    return refuse(fmt::format("a {} job starts no process", Name(job.type)));
  std::string fault = WorkingDirectoryFault(job.working_directory);
  return fault.empty() ? Status() : refuse(std::move(fault));
}

Status CheckOutputEncoding(const JobDefinition& job) {
  if (job.output_encoding.empty()) return {};
  const auto refuse = [](std::string fault) {
    return InvalidAt("/output_encoding", std::move(fault));
  };
  if (!StartsProcess(job.type))
    return refuse(fmt::format("a {} job starts no process", Name(job.type)));
  if (IsCharset(job.output_encoding)) return {};
  return refuse(
      "is not the name of a character set (e.g. gb18030, big5, shift_jis, euc-jp, euc-kr, "
      "iso-8859-15, windows-1252, koi8-r, utf-16le)");
}

}  // namespace

Status CheckProcess(const JobDefinition& job) {
  CARILLON_TRY(CheckLimitsAndUser(job));
  CARILLON_TRY(CheckWorkingDirectory(job));
  return CheckOutputEncoding(job);
}

}  // namespace carillon
