#include "scheduler/api/runs/dead_letter_routes.h"

#include <nlohmann/json.hpp>

#include "common/domain/run_id.h"
#include "scheduler/api/call/allowed_actions.h"
#include "scheduler/api/call/path_ids.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/api/runs/retry_routes.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

json DeadLetterToJson(const DeadLetter& letter) {
  return {{"id", std::to_string(letter.id)},
          {"run_id", EncodeRunId(letter.key)},
          {"job_id", letter.job_id.value()},
          {"state", std::string(Name(letter.state))},
          {"attempts", letter.attempts},
          {"reason", letter.reason},
          {"create_time", FormatRfc3339(letter.created)}};
}

Outcome<uint64_t> PathId(const Call& call) {
  const auto id = DeadLetterId(call.arguments.at(0));
  if (!id) return NotFound("No such dead letter. GET /api/dead-letters lists them.");
  return *id;
}

}  // namespace

Reply ListDeadLetters(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const Query query,
                            Query::Read(call.request, {"job_id", "page_size", "page_token"}));
  CARILLON_ASSIGN_OR_RETURN(Page page, Page::Read(query, "dead-letters"));
  DeadLetterFilter filter{.limit = page.size() + 1};
  if (const auto text = query.Text("job_id")) {
    CARILLON_ASSIGN_OR_RETURN(filter.job_id, FilterJobId(*text));
  }
  if (!page.cursor().empty()) {
    const auto before = ParseCursor(page.cursor());
    if (!before) return BadPageToken();
    filter.before_id = *before;
  }
  CARILLON_ASSIGN_OR_RETURN(const auto letters, call.stores.runs.ListDeadLetters(filter));
  for (const DeadLetter& letter : letters) {
    if (!page.Add(DeadLetterToJson(letter), std::to_string(letter.id))) break;
  }
  return page.Finish(false, [&] { return call.stores.runs.CountDeadLetters(filter); });
}

Reply GetDeadLetter(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const uint64_t id, PathId(call));
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request, {}));
  CARILLON_ASSIGN_OR_RETURN(const DeadLetter letter, call.stores.runs.GetDeadLetter(id));
  json shown = DeadLetterToJson(letter);
  CARILLON_ASSIGN_OR_RETURN(shown["allowed_actions"],
                            AllowedActions(call, Owned::kDeadLetter, letter.job_id));
  return JsonResponse(200, shown);
}

Reply DiscardDeadLetter(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const uint64_t id, PathId(call));
  CARILLON_ASSIGN_OR_RETURN(const DeadLetter letter, call.stores.runs.GetDeadLetter(id));
  const Status discarded = call.stores.runs.DiscardDeadLetter(id);
  if (discarded.code() == ErrorCode::kTimeout) {
    return OutcomeUnknown(
        "It is unknown whether the dead letter was discarded. GET it before retrying.",
        discarded.error());
  }
  if (!discarded.ok()) return discarded.error();
  call.note.reason = "run " + EncodeRunId(letter.key);
  return HttpResponse{.status = 204};
}

Reply RetryDeadLetter(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const uint64_t id, PathId(call));
  CARILLON_ASSIGN_OR_RETURN(const DeadLetter letter, call.stores.runs.GetDeadLetter(id));
  const std::string run_id = EncodeRunId(letter.key);
  Call of_run = call;
  of_run.arguments = {run_id};
  Reply reply = RetryRun(of_run);
  if (reply.ok()) call.note.reason = "run " + run_id;
  return reply;
}

}  // namespace carillon::scheduler
