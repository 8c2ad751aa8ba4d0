#include "scheduler/liveness/stored_hosts.h"

#include <gtest/gtest.h>

#include "tests/support/failpoint_on.h"

namespace carillon::scheduler::stored_hosts_test {
namespace {

const SteadyTime kNow{1h};
constexpr Features kParts = {Feature::kShards};

ExecutorRecord Host(const std::string& id) {
  ExecutorRecord record{.id = ExecutorId(id)};
  record.abilities = {.features = kParts, .handlers = {"app/job"}};
  return record;
}

class StoredHostsTest : public ::testing::Test {
 protected:
  // Passes so long, with a list each 2 s.
  void Pass(Duration time, const std::vector<ExecutorRecord>& all) {
    for (const SteadyTime end = now_ + time; now_ < end;) {
      now_ += 2s;
      hosts_.Publish(all, now_, now_ + 4s);
    }
  }
  std::optional<Duration> Unable(const std::string& id, Features needs = {},
                                 const std::string& handler = "") {
    return hosts_.UnableFor(ExecutorId(id), needs, handler, now_);
  }

  StoredHosts hosts_;
  SteadyTime now_ = kNow;
};

TEST_F(StoredHostsTest, OnlyAHostThatTakesRunsCanTakeOne) {
  EXPECT_EQ(Unable("a"), std::nullopt);
  std::vector<ExecutorRecord> all = {Host("a"), Host("off"), Host("drains"), Host("lost"),
                                     Host("late")};
  all[1].enabled = false;
  all[2].draining = true;
  all[3].state = ExecutorState::kLost;
  all[4].state = ExecutorState::kUnhealthy;
  Pass(32s, all);
  EXPECT_EQ(Unable("a", kParts, "app/job"), std::nullopt);
  EXPECT_EQ(Unable("a", kParts), std::nullopt);
  EXPECT_EQ(Unable("a", {Feature::kHttp}), 30s);
  EXPECT_EQ(Unable("a", kParts, "app/other"), 30s);
  for (const char* id : {"off", "drains", "lost", "late"}) EXPECT_EQ(Unable(id), 30s) << id;
}

TEST_F(StoredHostsTest, ItCountsFromWhenTheHostWentAway) {
  const std::vector<ExecutorRecord> up = {Host("a")};
  std::vector<ExecutorRecord> down = up;
  down[0].state = ExecutorState::kLost;
  Pass(100s, up);
  Pass(2s, down);
  EXPECT_EQ(Unable("a"), 0s);
  Pass(10s, down);
  EXPECT_EQ(Unable("a"), 10s);
  Pass(2s, up);
  EXPECT_EQ(Unable("a"), std::nullopt);
  Pass(4s, down);
  EXPECT_EQ(Unable("a"), 2s) << "it was there meanwhile";
  Pass(10s, {});
  EXPECT_EQ(Unable("a"), 12s) << "removed";
}

TEST_F(StoredHostsTest, AHandlerCountsFromItsLastWorker) {
  std::vector<ExecutorRecord> all = {Host("a")};
  Pass(100s, all);
  all[0].abilities.handlers = {"app/more"};
  Pass(6s, all);
  EXPECT_EQ(Unable("a", kParts, "app/job"), 4s);
  EXPECT_EQ(Unable("a", kParts, "app/more"), std::nullopt);
  all[0].abilities.features = {};
  Pass(4s, all);
  EXPECT_EQ(Unable("a", kParts, "app/more"), 2s);
}

// After an outage of all members the list shows their last word, or what nobody has heard yet.
TEST_F(StoredHostsTest, AMemberThatHasJustStartedKnowsNothing) {
  std::vector<ExecutorRecord> all = {Host("a")};
  all[0].state = ExecutorState::kLost;
  Pass(20s, all);
  EXPECT_EQ(Unable("a"), std::nullopt);
  Pass(2s, all);
  EXPECT_EQ(Unable("a"), 20s);
}

TEST_F(StoredHostsTest, OneThatIsNotListedIsDownOnceANewListDoesNotHaveIt) {
  Pass(100s, {Host("a")});
  EXPECT_EQ(Unable("b"), std::nullopt) << "it may be new";
  EXPECT_EQ(Unable("b"), std::nullopt);
  Pass(4s, {Host("a")});
  EXPECT_EQ(Unable("b"), 4s);
  Pass(2s, {Host("a"), Host("b")});
  EXPECT_EQ(Unable("b"), std::nullopt);
}

TEST_F(StoredHostsTest, AnOldListSaysNothingAndTheNextOneIsTheFirst) {
  std::vector<ExecutorRecord> all = {Host("a")};
  all[0].state = ExecutorState::kLost;
  Pass(100s, all);
  now_ += 4s;
  EXPECT_EQ(Unable("a"), 102s);
  now_ += 1s;
  EXPECT_EQ(Unable("a"), std::nullopt);
  Pass(20s, all);
  EXPECT_EQ(Unable("a"), std::nullopt);
  Pass(2s, all);
  EXPECT_EQ(Unable("a"), 20s);
}

TEST_F(StoredHostsTest, AListExcludesWhomItShowsWithOtherLabelsIfItIsNewEnough) {
  const Selector selector = Selector::Parse("zone=a").value();
  const auto excludes = [&](const std::string& id, SteadyTime since) {
    return hosts_.Excludes(selector, ExecutorId(id), since, now_);
  };
  EXPECT_FALSE(excludes("a", kNow - 1h)) << "no list";
  std::vector<ExecutorRecord> all = {Host("a")};
  Pass(2s, all);
  EXPECT_TRUE(excludes("a", now_ - 1us));
  EXPECT_FALSE(excludes("a", now_)) << "it may have got the label before";
  EXPECT_FALSE(excludes("b", now_ - 1us)) << "it is not in the list";
  all[0].labels = {{"zone", "a"}};
  Pass(2s, all);
  EXPECT_FALSE(excludes("a", kNow));
  all[0].labels = {{"zone", "b"}};
  Pass(2s, all);
  EXPECT_TRUE(excludes("a", kNow));
  now_ += 5s;
  EXPECT_FALSE(excludes("a", kNow)) << "the list is old";
}

// Thousands are compared, and the loops that ask must not wait for that.
TEST_F(StoredHostsTest, TheLastListAnswersUntilTheNextOneIsCompared) {
  std::vector<ExecutorRecord> all = {Host("a")};
  all[0].state = ExecutorState::kLost;
  Pass(32s, all);
  int asked = 0;
  failpoint::Arm("hosts.compared", [&] {
    ++asked;
    EXPECT_EQ(Unable("a"), 32s);
    EXPECT_EQ(Unable("b"), std::nullopt);
    return false;
  });
  all[0].state = ExecutorState::kOnline;
  Pass(2s, all);
  failpoint::Reset();
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(Unable("a"), std::nullopt);
}

}  // namespace
}  // namespace carillon::scheduler::stored_hosts_test
