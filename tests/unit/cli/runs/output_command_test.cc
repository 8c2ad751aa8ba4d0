// `carillon output`: what it appends to the file of a run's outputs.
#include <filesystem>

#include "common/domain/run/outputs.h"
#include "tests/support/process_wait.h"
#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

class OutputCommandTest : public CliTest {
 protected:
  OutputCommandTest() { environment_[kOutputFileVariable] = file(); }
  std::string file() const { return scratch_ / "outputs"; }
  Outputs Written() const { return ParseOutputs(test::ReadFile(file())).value_or(Outputs{}); }

  test::ScratchDirectory scratch_;
};

TEST_F(OutputCommandTest, AnyTextIsAppendedAndReadBack) {
  const Outputs values = {{"a", "1"},      {"b", "x=y <<END"},    {"c", "one\ntwo\n"},
                          {"d", "END\nb"}, {"e", "\xe4\xb8\xad"}, {"f", "-5"}};
  for (const auto& [name, value] : values) {
    EXPECT_EQ(Run({"output", name, "--", value}), 0) << err();
    EXPECT_EQ(out(), "");
  }
  EXPECT_EQ(Written(), values);
  EXPECT_TRUE(server_.requests.empty());
}

TEST_F(OutputCommandTest, UnfinishedLineOfAnotherWriterIsEnded) {
  test::WriteFile(file(), "a=1");
  EXPECT_EQ(Run({"output", "b", "2"}), 0) << err();
  EXPECT_EQ(test::ReadFile(file()), "a=1\nb=2\n");
}

TEST_F(OutputCommandTest, MistakesWriteNothing) {
  EXPECT_EQ(Run({"output", "9a", "1"}), 2);
  EXPECT_EQ(Run({"output", "a", "\xff"}), 2);
  EXPECT_EQ(Run({"output", "a", std::string(kOutputsBytesMax, 'x')}), 2);
  EXPECT_FALSE(std::filesystem::exists(file()));
  EXPECT_EQ(Run({"output", "a", std::string(kOutputsBytesMax - 10, 'x')}), 0) << err();
  EXPECT_EQ(Run({"output", "b", "more than fits"}), 2);
  EXPECT_NE(err().find("limited to 16384 bytes"), std::string::npos) << err();
  environment_.erase(kOutputFileVariable);
  EXPECT_EQ(Run({"output", "a", "1"}), 2);
  EXPECT_NE(err().find("only inside a run"), std::string::npos) << err();
}

}  // namespace
}  // namespace carillon::cli
