#include <nlohmann/json.hpp>

#include "cli/runs/commands.h"

namespace carillon::cli {
namespace {

struct GapArguments {
  std::string job_id;
  std::vector<std::string> reasons;
  std::string since;
  std::string until;
  std::optional<int64_t> limit;
};

// A gap has no id, so -o name prints the id of the gap's job.
const View& GapView() {
  static const View view{.columns = {{"JOB", "job_id"},
                                     {"SCHEDULE", "schedule_id"},
                                     {"FROM", "from"},
                                     {"TO", "to"},
                                     {"FIRES", "count"},
                                     {"REASON", "reason"}},
                         .id = "job_id"};
  return view;
}

Outcome<ExitCode> ListGaps(Session& session, const GapArguments& arguments) {
  ApiRequest request{.path = "/api/gaps"};
  if (!arguments.job_id.empty()) request.query.emplace_back("job_id", arguments.job_id);
  for (const std::string& reason : arguments.reasons) request.query.emplace_back("reason", reason);
  const WallTime now = session.host().clock.Wall();
  CARILLON_TRY(AddTime("since", arguments.since, now, request.query));
  CARILLON_TRY(AddTime("until", arguments.until, now, request.query));
  return session.List(request, {.view = GapView(), .limit = arguments.limit});
}

}  // namespace

void AddGapsCommand(CLI::App& job, Session& session) {
  const auto a = std::make_shared<GapArguments>();  // shared with the callback
  CLI::App* gaps = job.add_subcommand("gaps", "List missed fires and their reasons");
  gaps->add_option("job,--job-id", a->job_id, "Job ID (default: all jobs)")->check(NotEmpty);
  gaps->add_option(
          "--reason", a->reasons,
          "Only this reason: misfire, paused, catch_up_limit, edited, deleted or bad_event; "
          "repeatable")
      ->allow_extra_args(false);
  gaps->add_option("--since", a->since,
                   "Only gaps that ended at or after this time: RFC 3339, or 24h for 24 hours ago");
  gaps->add_option("--until", a->until,
                   "Only gaps that began before this time: RFC 3339, or 24h for 24 hours ago");
  AddLimit(gaps, a->limit, "gaps");
  session.On(gaps, [&session, a] { return ListGaps(session, *a); });
}

}  // namespace carillon::cli
