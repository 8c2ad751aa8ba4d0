// POST /api/apply?only_new=true: jobs are created, but none is changed.
#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {
namespace {

class ApplyOnlyNewTest : public PeopleEnv {
 protected:
  Answer ApplyWith(const std::vector<json>& list, const std::string& query) {
    return Send("POST", "/api/apply?" + query, json(list).dump());
  }
};

TEST_F(ApplyOnlyNewTest, JobsThatExistStayAsTheyAre) {
  Create({{"job_id", "a"}, {"priority", 3}});
  const std::vector<json> list = {JobBody({{"job_id", "a"}, {"priority", 9}, {"name", "Other"}}),
                                  JobBody({{"job_id", "b"}})};
  for (const char* query : {"only_new=true&dry_run=true", "only_new=true"}) {
    const json items = ApplyWith(list, query).body()["items"];
    EXPECT_EQ(items[0]["result"], "unchanged") << query;
    EXPECT_EQ(items[0]["version"], 1);
    EXPECT_EQ(items[1]["result"], "created") << query;
  }
  EXPECT_EQ(Get("/api/jobs/a").body()["priority"], 3);
  EXPECT_EQ(ApplyWith(list, "only_new=true").body()["counts"]["unchanged"], 2);
  EXPECT_EQ(ApplyWith(list, "only_new=false").body()["counts"]["updated"], 1);
}

TEST_F(ApplyOnlyNewTest, ItCannotPrune) {
  const Answer refused = ApplyWith({}, "only_new=true&prune=true&selector=team%3Dx");
  EXPECT_EQ(refused.status, 400);
  EXPECT_NE(refused.text.find("?only_new"), std::string::npos) << refused.text;
}

}  // namespace
}  // namespace carillon::test
