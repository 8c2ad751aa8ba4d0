// Programs of the host that are found while the executor daemon runs.
#include "tests/unit/executor/agent/daemon_fixture.h"

namespace carillon::executor {
namespace {

class DaemonProgramsTest : public DaemonFixture {
 protected:
  void SetUp() override {
    programs_ = &board_;
    Boot();
  }
  Features Told() {
    StepFor(2s);
    const std::vector<Heartbeat> beats = link_.Take<Heartbeat>();
    EXPECT_FALSE(beats.empty());
    return beats.empty() ? Features{} : beats.back().features;
  }

  ProgramBoard board_{{.interpreters = {{Interpreter::kSh, "/bin/sh"}},
                       .checks = {{.name = "container", .state = HostCheckState::kNo}}}};
};

TEST_F(DaemonProgramsTest, MembersHearOfTheEngineThatIsFound) {
  Join();
  link_.Take<Register>();
  EXPECT_FALSE(Told().Has(Feature::kContainer));
  EXPECT_TRUE(link_.Take<Register>().empty());
  HostPrograms found = *board_.Current();
  found.interpreters[Interpreter::kPerl] = "/opt/perl";
  found.engine_answers = true;
  found.container_engine = "/opt/engine";
  found.checks[0].state = HostCheckState::kWorks;
  board_.Set(found);
  Step();
  const std::vector<Register> again = link_.Take<Register>();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].record.checks, found.checks);
  Deliver(Registered{});
  const Features told = Told();
  EXPECT_TRUE(told.Has(Feature::kContainer));
  EXPECT_TRUE(told.Has(FeatureOf(Interpreter::kPerl)));
  TaskMessage script = Task(1, JobType::kScript);
  script.command = "print 1";
  script.interpreter = Interpreter::kPerl;
  RunToAccepted(script);
  ASSERT_EQ(warden_.starts.size(), 1u);
  ASSERT_TRUE(warden_.starts[0].script);
  EXPECT_EQ(warden_.starts[0].script->interpreter, "/opt/perl");
}

}  // namespace
}  // namespace carillon::executor
