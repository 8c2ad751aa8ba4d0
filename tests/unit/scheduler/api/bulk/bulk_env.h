// Fixture of background bulk actions: an API with jobs for them.
#pragma once

#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {

class BulkEnv : public PeopleEnv {
 protected:
  static json Ids(const std::string& prefix, int count) {
    json ids = json::array();
    for (int i = 0; i < count; ++i) ids.push_back(prefix + std::to_string(i));
    return ids;
  }
  void CreateJobs(int count, const std::string& user = "") {
    JobDefinition definition{.name = "n", .type = JobType::kNoop, .user_id = user};
    for (int i = 0; i < count; ++i) {
      const JobId id("j" + std::to_string(i));
      ASSERT_TRUE(stores_.jobs.CreateJob(id, definition, {.now = clock_.Wall()}).ok());
    }
  }
  Answer Start(json body, HttpHeaders headers = {}) {
    body["background"] = true;
    return Post("/api/bulk", body, std::move(headers));
  }
  std::string Started(json body) {
    const Answer answer = Start(std::move(body));
    EXPECT_EQ(answer.status, 202) << answer.text;
    return answer.body().value("bulk_id", "");
  }
  // Waits until the last item has a result. Each check is a request, so the loop does not spin.
  json Ended(const std::string& id) {
    const auto deadline = server_clock_.Steady() + 120s;
    while (server_clock_.Steady() < deadline) {
      const json action = Get("/api/bulk/" + id).body();
      if (!action["end_time"].is_null()) return action;
    }
    ADD_FAILURE() << "it does not end";
    return {};
  }
  json Items(const std::string& id, const std::string& query = "") {
    return Get("/api/bulk/" + id + "/items" + query).body()["items"];
  }
  size_t Runs() { return stores_.runs.ListRuns({.limit = 1000}, clock_.Wall() + 1h)->runs.size(); }
  std::map<std::string, int> AuditCounts(const std::string& action) {
    std::map<std::string, int> counts;
    const auto records = *stores_.audit.ListAudit({.limit = 1000});
    for (const AuditRecord& record : records) {
      if (record.action == action) ++counts[record.object_id];
    }
    return counts;
  }
};

}  // namespace carillon::test
