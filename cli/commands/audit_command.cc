#include "cli/commands/commands.h"

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

// "/timeout 60 -> 90, /labels/team …"
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

// What is no id of anything that has records may be a user's name.
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
    std::optional<int64_t> limit;
  };
  const auto a = std::make_shared<Arguments>();  // shared with the callback
  CLI::App* audit =
      app.add_subcommand("audit", "What was done through the API, newest first (administrators)");
  audit->add_option("object", a->object,
                    "Only of this job, run, executor or user: its id, or a user's name");
  AddLimit(audit, a->limit, "records");
  session.On(audit, [&session, a]() -> Outcome<ExitCode> {
    ApiRequest request{.path = "/api/audit"};
    if (!a->object.empty()) {
      CARILLON_ASSIGN_OR_RETURN(const std::string object, ObjectOf(session, a->object));
      request.query.emplace_back("object_id", object);
    }
    return session.List(request,
                        {.view = AuditView(), .limit = a->limit, .for_table = [](json& record) {
                           record["changed"] = Changed(record);
                         }});
  });
}

}  // namespace carillon::cli
