#include "scheduler/api/call/path_ids.h"

#include <fmt/core.h>

#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {

Outcome<JobId> PathJobId(const Call& call) {
  const std::string& text = call.arguments.at(0);
  if (!ValidateJobId(text).ok()) return NotFound("No such job. GET /api/jobs lists them.");
  return JobId(text);
}

Outcome<RunKey> PathRunKey(const Call& call) {
  const auto key = DecodeRunId(call.arguments.at(0));
  if (!key.ok()) {
    return Problem{.status = 400,
                   .code = "bad_run_id",
                   .detail = "Not a run id. Run ids have 26 characters; GET /api/runs lists them."};
  }
  return *key;
}

std::optional<uint64_t> DeadLetterId(const std::string& text) { return ParseCursor(text); }

Outcome<JobHead> LiveHead(const Call& call, const JobId& id) {
  CARILLON_ASSIGN_OR_RETURN(JobHead head, call.stores.jobs.GetJobHead(id));
  if (head.deleted) return Error{ErrorCode::kNotFound, "no job " + id.value()};
  return head;
}

Problem Unreadable(const JobId& id, int64_t version) {
  Problem problem{
      .status = 500,
      .code = "corrupt",
      .detail = fmt::format("The stored definition of job {} cannot be read: it is damaged or was "
                            "written by a newer version. PUT a complete definition or DELETE the "
                            "job, with If-Match: {}. Its runs wait until then.",
                            id.value(), VersionTag(version))};
  problem.members["current_version"] = version;
  problem.headers.emplace_back("ETag", VersionTag(version));
  return problem;
}

Problem Explain(const Call& call, const JobId& id, const Error& error) {
  if (error.code != ErrorCode::kCorrupt) return ToProblem(error);
  const auto head = LiveHead(call, id);
  if (!head.ok()) return head.error();
  Problem problem = Unreadable(id, head->version);
  problem.log_detail = error.message;
  return problem;
}

}  // namespace carillon::scheduler
