// Events, and what is told about them.
#include <fmt/format.h>

#include "common/wire/json/event_json.h"
#include "tests/histories/explorer.h"

namespace carillon::test {
namespace {

const std::vector<std::string> kNamespaces = {"default", "default", "north"};
const std::vector<std::string> kTypes = {"order.created", "order.paid", "stock"};
const std::vector<std::string> kSources = {"shop", "shop", "market"};

}  // namespace

ScheduleSpec Explorer::NewTrigger() {
  static const std::vector<std::string> kWanted = {"order.created", "order.*", "*", "stock"};
  static const std::vector<std::string> kFilters = {
      "", "", "data.amount > 2", "data.name == 'Ann' or data.amount == 0", "data.list != null"};
  ScheduleSpec spec{.kind = ScheduleKind::kEvent, .event_type = Pick(kWanted)};
  if (Chance(0.2)) spec.event_source = Pick(kSources);
  spec.filter = Pick(kFilters);
  if (Chance(0.4)) spec.parameters["city"] = "{{event.data.name}}";
  if (Chance(0.3)) spec.parameters["count"] = "{{event.data.amount}}";
  if (Chance(0.2)) spec.parameters["day"] = "{{fire_date - 1d}} of {{event.id}}";
  return spec;
}

// Of few ids, so that many are known.
Event Explorer::NewEvent() {
  std::string data;
  const auto add = [&](const std::string& member) { data += (data.empty() ? "" : ", ") + member; };
  if (Chance(0.8)) {
    add(Chance(0.9) ? fmt::format(R"("amount": {})", Below(5)) : R"("amount": "5")");
  }
  if (Chance(0.7)) add(Chance(0.5) ? R"("name": "Ann")" : R"("name": "Bob {{event.id}}")");
  if (Chance(0.2)) add(R"("list": [1, 2])");
  const std::string text =
      fmt::format(R"({{"id": "e{}", "source": "{}", "type": "{}", "data": {{{}}}}})",
                  Below(static_cast<uint64_t>(8 + 2 * made_)), Pick(kSources), Pick(kTypes), data);
  return EventFromText(text).value();
}

void Explorer::SendEvents() {
  NewEvents batch{.name_space = Pick(kNamespaces), .events = {}};
  for (uint64_t left = 1 + Below(5); left > 0; --left) batch.events.push_back(NewEvent());
  const auto effects = s_.events.Accept(batch, now_);
  if (!effects.ok()) return;
  for (const EventEffect& effect : *effects) {
    for (const EventStart& start : effect.starts) {
      if (start.run) (*nudge_)({start.job_no, start.segment, *start.run});
    }
  }
}

void Explorer::ReadEvents() {
  static_cast<void>(s_.events.ReadTriggers(Pick(kNamespaces)).ok());
  static_cast<void>(s_.events.CountOpenEventRuns(3).ok());
  static_cast<void>(s_.events
                        .Refuse({.name_space = Pick(kNamespaces),
                                 .place = fmt::format("orders/0/{}", Below(10)),
                                 .problem = "No JSON."},
                                now_)
                        .ok());
  static_cast<void>(s_.events.BeginTopic(Pick(kTypes), now_).ok());
  EventListFilter filter{.limit = 1 + Below(6)};
  if (Chance(0.3)) filter.namespaces = {Pick(kNamespaces)};
  if (Chance(0.3)) filter.type = Chance(0.5) ? Pick(kTypes) : "order.*";
  if (Chance(0.2)) filter.source = Pick(kSources);
  if (Chance(0.1)) filter.id = "e1";
  if (Chance(0.2)) filter.outcome = Chance(0.5) ? EventOutcome::kGap : EventOutcome::kStarted;
  if (Chance(0.2)) filter.since = now_ - 5s;
  if (Chance(0.2)) filter.until = now_ - 1s;
  const auto page = s_.events.ListEvents(filter);
  if (!page.ok() || !page->next) return;
  filter.before = page->next;
  static_cast<void>(s_.events.ListEvents(filter).ok());
}

}  // namespace carillon::test
