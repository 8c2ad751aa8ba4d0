#include "tests/sim/event_topics.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace carillon::sim {
namespace {

using Json = nlohmann::json;

constexpr const char* kNoEvent = "no event ";

}  // namespace

class EventTopicsCheck::Witness final : public EventStore {
 public:
  Witness(const Ports& ports, const std::map<EventName, std::string>& bodies)
      : ports_(ports), bodies_(bodies) {}

  Result<std::vector<EventEffect>> Accept(const NewEvents& batch, WallTime now) override {
    EventPost post{.name_space = batch.name_space, .bodies = {}};
    for (const Event& event : batch.events) {
      post.bodies.push_back(bodies_.at({batch.name_space, event.origin.source, event.origin.id}));
    }
    return ports_.events.Send(post, now);
  }
  Status Refuse(const RefusedEvent& event, WallTime now) override {
    return ports_.store.Refuse(event, now);
  }
  Result<std::shared_ptr<const TriggerSet>> ReadTriggers(const std::string& name_space) override {
    return ports_.store.ReadTriggers(name_space);
  }
  Result<EventPage> ListEvents(const EventListFilter& filter) override {
    return ports_.store.ListEvents(filter);
  }
  Result<int64_t> CountOpenEventRuns(int64_t limit) override {
    return ports_.store.CountOpenEventRuns(limit);
  }
  Result<WallTime> BeginTopic(const std::string& topic, WallTime now) override {
    return ports_.store.BeginTopic(topic, now);
  }

 private:
  const Ports ports_;
  const std::map<EventName, std::string>& bodies_;
};

EventTopicsCheck::EventTopicsCheck(const Ports& ports, uint64_t seed)
    : ports_(ports),
      rng_(seed),
      producer_(ports.bus.NewProducer()),
      witness_(std::make_unique<Witness>(ports, bodies_)) {}

EventTopicsCheck::~EventTopicsCheck() = default;

std::vector<EventTopic> EventTopicsCheck::Topics() {
  return {{"orders", "default"}, {"foreign", "other"}};
}

EventStore& EventTopicsCheck::store() { return *witness_; }

// Some ids are those of events that the actor sends to the API.
std::string EventTopicsCheck::NewEvent(const std::string& name_space) {
  const bool of_actor = rng_.Chance(0.2);
  const uint64_t number = of_actor ? 1 + rng_.Below(40) : static_cast<uint64_t>(++made_);
  const std::string id = fmt::format("{}{}", of_actor ? "e" : "t", number);
  const std::string source = number % 3 == 0 ? "market" : "shop";
  std::string& body = bodies_[{name_space, source, id}];
  if (!body.empty()) return body;
  body = fmt::format(R"({{"id": "{}", "source": "{}", "type": "{}", "data": {}}})", id, source,
                     rng_.Chance(0.7) ? "order.created" : "stock",
                     fmt::format(R"({{"amount": {}, "name": "{}"}})", rng_.Below(10),
                                 rng_.Chance(0.6) ? "Ann" : "$(touch pwned)"));
  return body;
}

void EventTopicsCheck::Write() {
  const std::vector<EventTopic> topics = Topics();
  Record record{.topic = topics[rng_.Below(4) == 0 ? 1 : 0], .text = {}, .sent = {}};
  if (!records_.empty() && rng_.Chance(0.1)) {
    record = records_[rng_.Below(records_.size())];
    if (record.text.starts_with(kNoEvent)) return;
  } else if (rng_.Chance(0.1)) {
    record.text = fmt::format("{}{}", kNoEvent, ++made_);
  } else {
    record.text = NewEvent(record.topic.name_space);
  }
  record.sent = ports_.clock.Wall();
  const Status sent =
      producer_->Send(record.topic.topic, rng_.Below(4), {.payload = record.text, .headers = {}});
  if (sent.ok()) records_.push_back(std::move(record));
}

size_t EventTopicsCheck::Refused() const {
  MutexLock lock(ports_.tables.mu);
  return static_cast<size_t>(std::ranges::count_if(ports_.tables.events, [](const auto& stored) {
    return stored.second.outcome == EventOutcome::kRefused;
  }));
}

std::optional<std::string> EventTopicsCheck::Missing() {
  size_t no_events = 0;
  size_t may_be_left_out = 0;
  for (const Record& record : records_) {
    std::optional<WallTime> since;
    {
      MutexLock lock(ports_.tables.mu);
      const auto begun = ports_.tables.event_topics.find(record.topic.topic);
      if (begun != ports_.tables.event_topics.end()) since = begun->second;
    }
    if (!since) return "topic " + record.topic.topic + " was never read";
    const bool old = record.sent < *since;
    if (record.text.starts_with(kNoEvent)) {
      ++(old ? may_be_left_out : no_events);
      continue;
    }
    const Json event = Json::parse(record.text);
    const bool accepted =
        ports_.events.HasAccepted(record.topic.name_space, event.at("source"), event.at("id"));
    if (!old && !accepted) {
      return fmt::format("{} in topic {} was not accepted", record.text, record.topic.topic);
    }
  }
  const size_t refused = Refused();
  if (refused >= no_events && refused <= no_events + may_be_left_out) return std::nullopt;
  return fmt::format("{} records were refused, and {} are no events", refused, no_events);
}

}  // namespace carillon::sim
