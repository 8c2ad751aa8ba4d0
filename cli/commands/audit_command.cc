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

}  // namespace

void AddAuditCommand(CLI::App& app, Session& session) {
  struct Arguments {
    std::string object;
    std::optional<int64_t> limit;
  };
  const auto a = std::make_shared<Arguments>();  // shared with the callback
  CLI::App* audit =
      app.add_subcommand("audit", "What was done through the API, newest first (administrators)");
  audit->add_option("object", a->object, "Only of this job, run, executor or user");
  AddLimit(audit, a->limit, "records");
  session.On(audit, [&session, a] {
    ApiRequest request{.path = "/api/audit"};
    if (!a->object.empty()) request.query.emplace_back("object_id", a->object);
    return session.List(request,
                        {.view = AuditView(), .limit = a->limit, .for_table = [](json& record) {
                           record["changed"] = Changed(record);
                         }});
  });
}

}  // namespace carillon::cli
