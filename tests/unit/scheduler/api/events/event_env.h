// Fixture of events: jobs with triggers, and events sent over the API of an upgraded store.
#pragma once

#include <string>
#include <vector>

#include "common/domain/event/event.h"
#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {

inline json Trigger(json changes = json::object()) {
  json trigger = {{"kind", "event"}, {"type", "order.*"}};
  trigger.update(changes);
  return trigger;
}

inline json Paid(const std::string& id, json changes = json::object()) {
  json event = {{"id", id}, {"source", "shop"}, {"type", "order.paid"}};
  event.update(changes);
  return event;
}

class EventEnv : public PeopleEnv {
 protected:
  EventEnv() { FinishUpgrade(); }

  // A job that this trigger starts.
  json Listen(const std::string& id, json trigger = Trigger(), json changes = json::object()) {
    json body = {{"job_id", id}, {"cron_expression", nullptr}, {"schedules", {std::move(trigger)}}};
    body.update(changes);
    return Create(std::move(body));
  }
  Answer SendTo(const std::string& name_space, const json& events) {
    return Post("/api/events?namespace=" + name_space, events);
  }
  // The answer's item about the only event.
  json Sent(const json& event) {
    const Answer answer = Post("/api/events", event);
    EXPECT_EQ(answer.status, 202) << answer.text;
    const json items = answer.body()["items"];
    EXPECT_EQ(items.size(), 1u);
    return items.at(0);
  }
  json Test(const json& body) {
    const Answer answer = Post("/api/events/test", body);
    EXPECT_EQ(answer.status, 200) << answer.text;
    return answer.body()["items"];
  }
  json Listed(const std::string& query = "") {
    const Answer answer = Get("/api/events" + query);
    EXPECT_EQ(answer.status, 200) << answer.text;
    return answer.body()["items"];
  }
  static std::vector<std::string> IdsOf(const json& items) {
    std::vector<std::string> ids;
    for (const json& item : items) ids.push_back(item["id"]);
    return ids;
  }
  size_t Runs() { return Get("/api/runs?kind=event").body()["items"].size(); }
  // Written to the store directly: jobs with `count` triggers in all.
  void AddTriggers(const std::string& name_space, size_t count, const std::string& type) {
    constexpr size_t kPerJob = 100;
    for (size_t made = 0; made < count; made += kPerJob) {
      JobDefinition job{.name = name_space + std::to_string(made), .command = "true"};
      job.name_space = name_space;
      for (size_t i = made; i < std::min(count, made + kPerJob); ++i) {
        job.schedules.push_back({.kind = ScheduleKind::kEvent,
                                 .event_type = type,
                                 .event_source = "s" + std::to_string(i % kPerJob)});
      }
      const JobId id(name_space + "-" + std::to_string(made));
      ASSERT_TRUE(stores_.jobs.CreateJobs({{id, job}}, {.now = clock_.Wall()}).ok());
    }
  }
};

}  // namespace carillon::test
