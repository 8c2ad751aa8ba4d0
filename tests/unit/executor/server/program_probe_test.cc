#include "executor/server/program_probe.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "executor/server/host_checks.h"

namespace carillon::executor {
namespace {

class ProgramProbeTest : public ::testing::Test {
 protected:
  ProgramProbeTest() {
    char name[] = "/tmp/program_probe.XXXXXX";
    directory_ = mkdtemp(name);
  }
  ~ProgramProbeTest() override { std::filesystem::remove_all(directory_); }

  std::string Program(const std::string& name, const std::string& text) {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    chmod(path.c_str(), 0755);
    return path;
  }
  ProgramProbe Make(const std::string& engine, ProgramBoard& board) {
    return ProgramProbe({.board = board,
                         .find =
                             [this](const std::string& setting, std::string_view path) {
                               EngineFound found = FindEngine(setting, path);
                               found.asked = found.asked && !silent_;
                               if (silent_) found.path.clear();
                               return found;
                             },
                         .use_engine = [this](const std::string& used) { used_.push_back(used); }},
                        {.engine = engine, .path = directory_});
  }
  void Look(ProgramProbe& probe) {
    now_ += ProgramProbe::kEvery;
    EXPECT_EQ(probe.Step(now_), now_ + ProgramProbe::kEvery);
  }
  static HostCheckState StateOf(const ProgramBoard& board, const std::string& name) {
    for (const HostCheck& check : board.Current()->checks) {
      if (check.name == name) return check.state;
    }
    ADD_FAILURE() << name;
    return HostCheckState::kNo;
  }
  // As the executor's start leaves it, without the programs.
  HostPrograms Nothing(const std::string& engine) {
    HostPrograms programs;
    programs.checks = DecideHostChecks({.path = directory_});
    programs.checks.push_back(FindEngine(engine, directory_).check);
    return programs;
  }

  std::string directory_;
  bool silent_ = false;
  std::vector<std::string> used_;
  SteadyTime now_ = SteadyTime{} + 1h;
};

TEST_F(ProgramProbeTest, AnEngineThatIsStartedLaterIsUsed) {
  const std::string engine = Program("engine", "test -e " + directory_ + "/started");
  ProgramBoard board(Nothing(engine));
  ProgramProbe probe = Make(engine, board);
  probe.Step(now_);
  Look(probe);
  EXPECT_FALSE(FeaturesOf(*board.Current()).Has(Feature::kContainer));
  EXPECT_EQ(StateOf(board, "container"), HostCheckState::kNo);

  std::ofstream(directory_ + "/started") << "";
  EXPECT_EQ(probe.Step(now_ + 1s), now_ + ProgramProbe::kEvery) << "it is not its time";
  EXPECT_FALSE(board.Current()->engine_answers);
  Look(probe);
  EXPECT_TRUE(FeaturesOf(*board.Current()).Has(Feature::kContainer));
  EXPECT_EQ(board.Current()->container_engine, engine);
  EXPECT_EQ(StateOf(board, "container"), HostCheckState::kWorks);
  EXPECT_EQ(used_, std::vector<std::string>{engine});

  const auto same = board.Current();
  Look(probe);
  EXPECT_EQ(board.Current(), same) << "nothing has changed";

  std::filesystem::remove(directory_ + "/started");
  Look(probe);
  EXPECT_FALSE(FeaturesOf(*board.Current()).Has(Feature::kContainer));
  EXPECT_EQ(board.Current()->container_engine, engine) << "for attempts that are claimed already";
}

TEST_F(ProgramProbeTest, SilenceKeepsTheLastAnswer) {
  const std::string engine = Program("engine", "exit 0");
  ProgramBoard board(Nothing(engine));
  ProgramProbe probe = Make(engine, board);
  probe.Step(now_);
  Look(probe);
  ASSERT_TRUE(board.Current()->engine_answers);
  silent_ = true;
  Look(probe);
  EXPECT_TRUE(board.Current()->engine_answers);
  EXPECT_EQ(StateOf(board, "container"), HostCheckState::kWorks);
}

TEST_F(ProgramProbeTest, InterpretersComeAndGo) {
  ProgramBoard board(Nothing("none"));
  ProgramProbe probe = Make("none", board);
  probe.Step(now_);
  const Feature perl = FeatureOf(Interpreter::kPerl);
  Look(probe);
  EXPECT_FALSE(FeaturesOf(*board.Current()).Has(perl));
  const std::string program = Program("perl", "exit 0");
  Look(probe);
  EXPECT_TRUE(FeaturesOf(*board.Current()).Has(perl));
  EXPECT_EQ(board.Current()->interpreters.at(Interpreter::kPerl), program);
  EXPECT_EQ(StateOf(board, "script:perl"), HostCheckState::kWorks);
  std::filesystem::remove(program);
  Look(probe);
  EXPECT_FALSE(FeaturesOf(*board.Current()).Has(perl));
  EXPECT_EQ(StateOf(board, "script:perl"), HostCheckState::kNo);
  EXPECT_TRUE(used_.empty());
}

}  // namespace
}  // namespace carillon::executor
