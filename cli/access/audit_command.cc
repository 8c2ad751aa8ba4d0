#include "cli/access/commands.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

const View& AuditView() {
  static const View view{{{"TIME", "time"},
                          {"WHO", "actor"},
                          {"ACTION", "action"},
                          {"OBJECT", "object_id"},
                          {"CHANGED", "changed"},
                          {"REASON", "reason"}},
                         "id"};
  return view;
}

// Returns the changed fields of a record: "/timeout 60 -> 90, /priority 1 -> 5".
json Changed(const json& record) {
  const json changes = record.value("changes", json());
  if (!changes.is_array() || changes.empty()) return nullptr;
  std::string text;
  for (const json& change : changes) {
    text += (text.empty() ? "" : ", ") + change.value("path", std::string()) + " " +
            Cell(change.value("from", json())) + " -> " + Cell(change.value("to", json()));
  }
  return text;
}

// Returns the id to filter by: `object` itself if an audited object has this id. Otherwise `object`
// may be a user's name, and the id of that user is returned.
Outcome<std::string> ObjectOf(Session& session, const std::string& object) {
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse first,
      session.Call({.path = "/api/audit", .query = {{"object_id", object}, {"page_size", "1"}}}));
  const bool known = !first.body.is_object() || !first.body.value("items", json::array()).empty();
  if (known) return object;
  CARILLON_ASSIGN_OR_RETURN(const auto user, UserNamed(session, object));
  return user.value_or(object);
}

}  // namespace

void AddAuditCommand(CLI::App& app, Session& session) {
  struct Arguments {
    std::string object;
    std::string object_id;
    std::string actor;
    std::vector<std::string> actions;
    std::string since;
    std::string until;
    std::string sort;
    std::optional<int64_t> limit;
  };
  const auto a = std::make_shared<Arguments>();  // shared with the callback
  CLI::App* audit =
      app.add_subcommand("audit", "List the audit log, newest first; only for administrators");
  CLI::Option* argument = audit->add_option(
      "object", a->object,
      "Only records of this job, run, executor or user: an ID, or the name of a user");
  audit->add_option("--object-id", a->object_id, "Only records of the object with this ID")
      ->excludes(argument);
  audit->add_option(
      "--actor", a->actor,
      "Only actions of this user and their tokens; anna/ci means only the token ci of anna");
  audit
      ->add_option("--action", a->actions,
                   "Only this action, e.g. job.pause or auth.login; repeatable")
      ->allow_extra_args(false);
  audit->add_option("--since", a->since,
                    "Only records at or after this time: RFC 3339, or 24h for 24 hours ago");
  audit->add_option("--until", a->until,
                    "Only records before this time: RFC 3339, or 24h for 24 hours ago");
  audit->add_option("--sort", a->sort, "Sort by time, oldest first (default: -time, newest first)");
  AddLimit(audit, a->limit, "records");
  session.On(audit, [&session, a]() -> Outcome<ExitCode> {
    ApiRequest request{.path = "/api/audit"};
    if (!a->object.empty()) {
      CARILLON_ASSIGN_OR_RETURN(const std::string object, ObjectOf(session, a->object));
      request.query.emplace_back("object_id", object);
    }
    if (!a->object_id.empty()) request.query.emplace_back("object_id", a->object_id);
    if (!a->actor.empty()) request.query.emplace_back("actor", a->actor);
    for (const std::string& action : a->actions) request.query.emplace_back("action", action);
    const WallTime now = session.host().clock.Wall();
    CARILLON_TRY(AddTime("since", a->since, now, request.query));
    CARILLON_TRY(AddTime("until", a->until, now, request.query));
    if (!a->sort.empty()) request.query.emplace_back("sort", a->sort);
    return session.List(request,
                        {.view = AuditView(), .limit = a->limit, .for_table = [](json& record) {
                           record["changed"] = Changed(record);
                         }});
  });
}

}  // namespace carillon::cli
