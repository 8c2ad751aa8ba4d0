#include "cli/events/event_document.h"

#include <nlohmann/json.hpp>

#include "common/wire/json/json_text.h"

namespace carillon::cli {

using nlohmann::json;

Outcome<std::string> JsonOf(Session& session, const std::string& flag, const std::string& typed) {
  std::string text = typed;
  if (typed == "-" || typed.starts_with('@')) {
    const std::string file = typed == "-" ? typed : typed.substr(1);
    if (file.empty()) return UsageFailure(flag + " @: name a file, e.g. @order.json");
    CARILLON_ASSIGN_OR_RETURN(text, ReadInput(session.host(), file));
  }
  if (json::accept(text)) return text;
  return UsageFailure(flag + ": not JSON; a text needs quotes within it, e.g. '\"paid\"'");
}

void AddEventDocumentFlags(CLI::App* verb, EventDocumentFlags& flags) {
  verb->add_option("--type", flags.type, "Type, e.g. order.paid")->required()->check(NotEmpty);
  verb->add_option("--source", flags.source, "Where it happened, e.g. shop")
      ->required()
      ->check(NotEmpty);
  verb->add_option("--id", flags.id, "ID, unique in its source (default: a random one)")
      ->check(NotEmpty);
  verb->add_option("--subject", flags.subject, "What it is about, e.g. an order")->check(NotEmpty);
  verb->add_option("--data", flags.data, "Data: JSON, @FILE, or - for standard input")
      ->check(NotEmpty);
}

Outcome<std::string> EventDocumentOf(Session& session, const EventDocumentFlags& flags,
                                     const std::string& drawn_id) {
  json event = {{"id", flags.id.empty() ? drawn_id : flags.id},
                {"source", flags.source},
                {"type", flags.type}};
  if (!flags.subject.empty()) event["subject"] = flags.subject;
  std::string text = JsonToText(event);
  if (flags.data.empty()) return text;
  CARILLON_ASSIGN_OR_RETURN(const std::string data, JsonOf(session, "--data", flags.data));
  text.pop_back();  // the closing brace
  text += ",\"data\":" + data + "}";
  return text;
}

}  // namespace carillon::cli
