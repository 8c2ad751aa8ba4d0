// Children that remove containers, with an engine that is a script and a clock that the test moves.
#include "executor/warden/container/container_cleaner.h"

#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "tests/support/script_engine.h"

namespace carillon::executor {
namespace {

class KnownSet : public KnownContainers {
 public:
  bool HasContainer(std::string_view name) const override {
    return names.contains(std::string(name));
  }
  std::set<std::string> names;
};

class ContainerCleanerTest : public ::testing::Test {
 protected:
  ContainerCleanerTest() { std::filesystem::create_directory(records()); }
  std::string records() const { return folder_ / "containers"; }
  ContainerToRemove Named(const std::string& name) const {
    return {.name = name, .engine = engine_.program()};
  }

  // One step of the warden's loop, after which all children have ended.
  void Turn() {
    cleaner_.Tick(now_);
    for (;;) {
      const pid_t child = waitpid(-1, nullptr, 0);
      if (child < 0) break;
      cleaner_.Reaped(child, now_);
    }
    for (ContainerCleaner::Removed& removed : cleaner_.TakeRemoved())
      removed_.push_back(std::move(removed));
  }
  void TurnsFor(Duration time) {
    for (const SteadyTime end = now_ + time; now_ < end; now_ += 500ms) Turn();
  }

  test::ScratchDirectory folder_;
  test::ScriptEngine engine_;
  KnownSet known_;
  ContainerCleaner cleaner_{known_, {.records = records(), .warden_id = "w"}};
  SteadyTime now_{1h};
  std::vector<ContainerCleaner::Removed> removed_;
};

TEST_F(ContainerCleanerTest, AsksForAllContainersAtOnce) {
  for (const char* name : {"carillon-a-1", "carillon-b-1", "carillon-c-1"}) {
    engine_.Add(name, "w");
    cleaner_.Remove(Named(name));
    cleaner_.Remove(Named(name));
  }
  Turn();
  EXPECT_EQ(removed_.size(), 3u);
  EXPECT_EQ(engine_.CallsOf("ps"), 2) << "before and after";
  EXPECT_EQ(engine_.CallsOf("rm"), 1);
}

TEST_F(ContainerCleanerTest, AsksAnEngineThatIsAwayAtMostOnceAMinute) {
  engine_.Fail("ps");
  for (const char* name : {"carillon-a-1", "carillon-b-1"}) cleaner_.Remove(Named(name));
  TurnsFor(120s);
  const int asked = engine_.CallsOf("ps");
  EXPECT_LE(asked, 8) << "1, 2, 4, ... s";
  TurnsFor(600s);
  EXPECT_LE(engine_.CallsOf("ps") - asked, 11);
  EXPECT_GE(engine_.CallsOf("ps") - asked, 9);
  EXPECT_TRUE(removed_.empty());
  engine_.Work("ps");
  TurnsFor(61s);
  EXPECT_EQ(removed_.size(), 2u) << "there was nothing";
}

TEST_F(ContainerCleanerTest, SweepAsksTheTableAndNotTheDisk) {
  std::filesystem::remove(records());
  cleaner_.UseEngine(engine_.program());
  engine_.Add("carillon-healthy-1", "w");
  engine_.Add("carillon-late-1", "w");
  engine_.Add("carillon-foreign-1", "other");
  known_.names = {"carillon-healthy-1"};
  std::filesystem::create_directory(records());
  TurnsFor(3s);
  EXPECT_TRUE(engine_.Has("carillon-healthy-1"));
  EXPECT_FALSE(engine_.Has("carillon-late-1"));
  EXPECT_TRUE(engine_.Has("carillon-foreign-1"));
}

TEST_F(ContainerCleanerTest, EndBesideTheRecordIsTold) {
  ASSERT_TRUE(WriteEnd(records() + "/carillon-a-1", {.exit_code = 3}).ok());
  cleaner_.Remove(Named("carillon-a-1"));
  Turn();
  ASSERT_EQ(removed_.size(), 1u);
  EXPECT_EQ(removed_[0].end, (ContainerEnd{.exit_code = 3}));
}

TEST_F(ContainerCleanerTest, EndThatTheDiskDoesNotShowIsAskedForAgain) {
  std::filesystem::rename(records(), folder_ / "away");
  cleaner_.Remove(Named("carillon-a-1"));
  TurnsFor(2s);
  EXPECT_TRUE(removed_.empty());
  std::filesystem::rename(folder_ / "away", records());
  TurnsFor(10s);
  EXPECT_EQ(removed_.size(), 1u);
}

TEST_F(ContainerCleanerTest, RecordsOfNoAttemptAreRemovedWithTheirContainers) {
  engine_.Add("carillon-a-1", "w");
  std::ofstream(records() + "/carillon-a-1")
      << EncodeRecord({.engine = engine_.program(), .name = "carillon-a-1", .warden_id = "w"});
  std::ofstream(records() + "/carillon-b-1") << "of another version";
  TurnsFor(2s);
  ASSERT_EQ(removed_.size(), 1u) << "what is no record says nothing about its container";
  EXPECT_EQ(removed_[0].name, "carillon-a-1");
  EXPECT_FALSE(engine_.Has("carillon-a-1"));
}

TEST(ContainerRemovalTest, PausesGrowToAMinute) {
  EXPECT_EQ(PauseAfter(1), 1s);
  EXPECT_EQ(PauseAfter(3), 4s);
  EXPECT_EQ(PauseAfter(50), 60s);
}

}  // namespace
}  // namespace carillon::executor
