#include <nlohmann/json.hpp>

#include "cli/runs/commands.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

struct DeliveryArguments {
  std::string state;
  std::string kind;
  std::string job_id;
  std::optional<int64_t> limit;
  std::vector<std::string> ids;
};

const View& DeliveryView() {
  static const View view{.columns = {{"ID", "id"},
                                     {"KIND", "kind"},
                                     {"JOB", "job_id"},
                                     {"CHANNEL", "channel"},
                                     {"STATE", "state"},
                                     {"ATTEMPTS", "attempts"},
                                     {"CREATED", "create_time"},
                                     {"ERROR", "error"}},
                         .id = "id",
                         .wide = {{"NOTICE", "notice_id"},
                                  {"RUN", "run_id"},
                                  {"STATUS", "status"},
                                  {"NEXT ATTEMPT", "next_try_time"},
                                  {"ENDED", "end_time"}}};
  return view;
}

const View& ChannelView() {
  static const View view{.columns = {{"CHANNEL", "channel"},
                                     {"DELIVERED", "delivered"},
                                     {"STATUS", "status"},
                                     {"ERROR", "error"}},
                         .id = "channel"};
  return view;
}

Outcome<ExitCode> ListThem(Session& session, const DeliveryArguments& arguments) {
  ApiRequest request{.path = "/api/deliveries"};
  const auto add = [&request](const char* name, const std::string& value) {
    if (!value.empty()) request.query.emplace_back(name, value);
  };
  add("state", UpperCase(arguments.state));
  add("kind", arguments.kind);
  add("job_id", arguments.job_id);
  return session.List(request, {.view = DeliveryView(), .limit = arguments.limit});
}

Outcome<ExitCode> Resend(Session& session, const DeliveryArguments& arguments) {
  for (const std::string& id : arguments.ids) {
    CARILLON_ASSIGN_OR_RETURN(const ApiResponse delivery,
                              session.Call({.method = "POST",
                                            .path = "/api/deliveries/" + Escape(id) + "/resend",
                                            .body = json::object()}));
    session.Print().Row(delivery.body, DeliveryView());
  }
  return ExitCode::kDone;
}

// Fails if any test message did not arrive.
Outcome<ExitCode> SendTest(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse tested,
      session.Call({.method = "POST", .path = "/api/notify/test", .body = json::object()}));
  const json channels = tested.body.value("channels", json::array());
  bool all = true;
  for (const json& channel : channels) all = all && channel.value("delivered", false);
  session.Print().List({{"items", channels}}, ChannelView());
  return all ? ExitCode::kDone : ExitCode::kFailure;
}

}  // namespace

void AddDeliveryCommands(CLI::App& app, Session& session) {
  const auto a = std::make_shared<DeliveryArguments>();  // shared by the subcommands' callbacks
  CLI::App* delivery = app.add_subcommand("delivery", "Show and resend notifications");
  delivery->require_subcommand(1);
  CLI::App* list = delivery->add_subcommand("list", "List notifications, newest first");
  list->add_option("--state", a->state, "Only this state: PENDING, DELIVERED or GIVEN_UP");
  list->add_option("--kind", a->kind, "Only this event: failed, missed, late or recovered");
  list->add_option("--job-id,--job", a->job_id, "Only notifications of this job");
  AddLimit(list, a->limit, "notifications");
  session.On(list, [&session, a] { return ListThem(session, *a); });
  CLI::App* resend =
      delivery->add_subcommand("resend", "Send notifications again; only for administrators");
  resend->add_option("delivery", a->ids, "Delivery IDs")->required();
  session.On(resend, [&session, a] { return Resend(session, *a); });

  CLI::App* notify = app.add_subcommand("notify", "Test notifications");
  notify->require_subcommand(1);
  CLI::App* test = notify->add_subcommand(
      "test", "Send a test notification by webhook and mail; only for administrators");
  session.On(test, [&session] { return SendTest(session); });
}

}  // namespace carillon::cli
