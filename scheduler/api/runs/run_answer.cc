#include "scheduler/api/runs/run_answer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/wire/json/job/job_json.h"
#include "common/wire/json/json_text.h"
#include "scheduler/api/call/allowed_actions.h"
#include "scheduler/api/call/ownership.h"
#include "scheduler/api/http/page.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

StoredAnswer AnswerOf(const RunDetail& run, json shown, const json& allowed_actions) {
  shown["allowed_actions"] = allowed_actions;
  return {.status = 202,
          .body = JsonToText(shown),
          .location = "/api/runs/" + EncodeRunId(run.row.key),
          .etag = {}};
}

}  // namespace

StoredAnswer KeptRunAnswer(const RunDetail& run, const json& allowed_actions) {
  json shown = RunToJson(run, true);
  shown["output"] = "";
  shown["attempts"] = json::array();
  shown["outputs"] = json::object();
  return AnswerOf(run, std::move(shown), allowed_actions);
}

HttpResponse AcceptedRun(const Call& call, const RunDetail& run, const json& allowed_actions) {
  call.api.nudge({run.row.job_no, run.row.segment, run.row.key});
  // If the caller lacks the permission to read, the output of earlier attempts is not shown.
  if (call.caller.ReachFor(Permission::kRead) == Reach::kNone) {
    return FromStored(KeptRunAnswer(run, allowed_actions));
  }
  return FromStored(AnswerOf(run, RunToJson(run, true), allowed_actions));
}

Outcome<bool> CheckWorkflowOf(const Call& call, const RunDetail& run, std::string_view action) {
  if (!run.node) return true;
  CARILLON_ASSIGN_OR_RETURN(const RunDetail own, call.stores.runs.GetRun(run.node->workflow_run));
  CARILLON_ASSIGN_OR_RETURN(const json allowed, AllowedActions(call, Owned::kRun, own.job_id));
  if (std::find(allowed.begin(), allowed.end(), action) != allowed.end()) return true;
  return NotOwner(Permission::kRunJobs);
}

}  // namespace carillon::scheduler
