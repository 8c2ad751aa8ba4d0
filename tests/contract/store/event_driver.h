// Driver of the contract of events: short forms of triggers, of events, and of what they start.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/condition/condition.h"
#include "common/domain/run/run_kind.h"
#include "common/wire/json/job/given_parameters.h"
#include "tests/contract/store/upstream_driver.h"

namespace carillon::test {

class EventDriver : public UpstreamDriver {
 public:
  using Data = std::map<std::string, ConditionValue, std::less<>>;  // by name: "data.amount"

  explicit EventDriver(StoreHandle& store) : UpstreamDriver(store) {}

  static ScheduleSpec Trigger(const std::string& type, const std::string& filter = "",
                              const Parameters& parameters = {}) {
    return {.kind = ScheduleKind::kEvent,
            .event_type = type,
            .filter = filter,
            .parameters = parameters};
  }
  static JobDefinition On(const std::string& type, const std::string& filter = "",
                          const Parameters& parameters = {}) {
    JobDefinition definition = Manual();
    definition.schedules = {Trigger(type, filter, parameters)};
    return definition;
  }
  // A job that takes the amount and the name from an event.
  static JobDefinition Taking() {
    return On("order.*", "",
              {{"amount", std::string("{{event.data.amount}}")},
               {"who", std::string("for {{event.data.name}}")},
               {"day", std::string("{{fire_date}}")}});
  }
  static ConditionValue Whole(int64_t number) {
    return ConditionNumber{.whole = number, .real = static_cast<double>(number)};
  }
  static Data Order(int64_t amount, const std::string& name = "Ann") {
    return {{"data.amount", Whole(amount)}, {"data.name", name}};
  }

  static Event Of(const std::string& id, const Data& data = {},
                  const std::string& type = "order.created", const std::string& source = "shop") {
    Data all = data;
    all["id"] = id;
    all["source"] = source;
    all["type"] = type;
    return {.origin = {.id = id, .source = source, .type = type},
            .values = std::make_shared<const Values>(std::move(all))};
  }
  std::vector<EventEffect> AcceptAll(const std::vector<Event>& batch, WallTime now,
                                     const std::string& name_space = "default") {
    const auto effects = v(events.Accept({.name_space = name_space, .events = batch}, now));
    EXPECT_EQ(effects.size(), batch.size());
    return effects;
  }
  EventEffect Accept(const Event& event, WallTime now, const std::string& name_space = "default") {
    const std::vector<EventEffect> effects = AcceptAll({event}, now, name_space);
    return effects.empty() ? EventEffect{} : effects.front();
  }
  // The run of an event that starts only one.
  RunKey Started(const Event& event, WallTime now) {
    const EventEffect effect = Accept(event, now);
    EXPECT_FALSE(effect.duplicate);
    EXPECT_EQ(effect.starts.size(), 1u);
    if (effect.starts.size() != 1 || !effect.starts[0].run) {
      ADD_FAILURE() << "no run";
      return {};
    }
    return *effect.starts[0].run;
  }
  static bool IsNoMatch(const EventEffect& effect) {
    return !effect.duplicate && effect.starts.empty();
  }

  std::string TextOf(const RunKey& key) { return v(firing.LoadRunRequest(key)).parameters_json; }
  RenderedParameters GivenTo(const RunKey& key) { return v(GivenFromText(TextOf(key))); }
  std::vector<EventRecord> Stored(const EventListFilter& filter = {}) {
    return v(events.ListEvents(filter)).events;
  }
  static std::vector<std::string> IdsOf(const std::vector<EventRecord>& records) {
    std::vector<std::string> ids;
    for (const EventRecord& record : records) ids.push_back(record.origin.id);
    return ids;
  }
  RunRow Failed(const RunKey& key, WallTime now) {
    return EndRun(Start(Get(key).row, ++token_, fence, now), RunState::kFailed, now);
  }

 private:
  class Values final : public NamedValues {
   public:
    explicit Values(Data values) : values_(std::move(values)) {}
    std::optional<ConditionValue> At(std::string_view name) const override {
      const auto found = values_.find(name);
      return found == values_.end() ? std::nullopt : std::optional(found->second);
    }

   private:
    const Data values_;
  };

  uint64_t token_ = 1'300;
};

template <typename Factory>
class EventsContract : public StoreContract<Factory> {
 protected:
  EventDriver event_driver() { return EventDriver(this->handle()); }
};
TYPED_TEST_SUITE(EventsContract, StoreFactories);

}  // namespace carillon::test
