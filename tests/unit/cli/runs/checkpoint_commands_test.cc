// `carillon progress` and `carillon checkpoint`: the files of a run.
#include <filesystem>

#include "common/domain/run/run_save.h"
#include "common/wire/json/progress_text.h"
#include "tests/support/process_wait.h"
#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

class CheckpointCommandsTest : public CliTest {
 protected:
  CheckpointCommandsTest() {
    environment_[kProgressFileVariable] = progress();
    environment_[kCheckpointFileVariable] = checkpoint();
  }
  std::string progress() const { return scratch_ / "progress"; }
  std::string checkpoint() const { return scratch_ / "checkpoint"; }
  // Neither a file beside nor a request is left.
  void NothingElse(size_t files) const {
    EXPECT_EQ(
        static_cast<size_t>(std::distance(std::filesystem::directory_iterator(scratch_.path()),
                                          std::filesystem::directory_iterator())),
        files);
    EXPECT_TRUE(server_.requests.empty());
  }

  test::ScratchDirectory scratch_;
};

TEST_F(CheckpointCommandsTest, ProgressIsWritten) {
  EXPECT_EQ(Run({"progress", "42"}), 0) << err();
  EXPECT_EQ(ParseProgress(test::ReadFile(progress())).value(), (RunProgress{42, ""}));
  EXPECT_EQ(Run({"progress", "43", "row \"4\" of 9"}), 0) << err();
  EXPECT_EQ(ParseProgress(test::ReadFile(progress())).value(), (RunProgress{43, "row \"4\" of 9"}));
  NothingElse(1);
}

TEST_F(CheckpointCommandsTest, MistakesInProgressWriteNothing) {
  EXPECT_EQ(Run({"progress", "101"}), 2);
  EXPECT_EQ(Run({"progress", "half"}), 2);
  EXPECT_EQ(Run({"progress", "{\"percent\":", "5}"}), 2);
  EXPECT_EQ(Run({"progress", "4", std::string(kProgressBytesMax, 'x')}), 2);
  NothingElse(0);
}

TEST_F(CheckpointCommandsTest, CheckpointIsSavedAndLoaded) {
  EXPECT_EQ(Run({"checkpoint", "load"}), 3);
  EXPECT_EQ(out(), "");
  const std::string bytes("\0\xff\n", 3);
  test::WriteFile(scratch_ / "state", bytes);
  EXPECT_EQ(Run({"checkpoint", "save", scratch_ / "state"}), 0) << err();
  EXPECT_EQ(test::ReadFile(checkpoint()), bytes);
  EXPECT_EQ(Run({"checkpoint", "load"}), 0) << err();
  EXPECT_EQ(out(), bytes);
  NothingElse(2);
}

TEST_F(CheckpointCommandsTest, MistakesInCheckpointsKeepTheFormerOne) {
  test::WriteFile(checkpoint(), "former");
  EXPECT_EQ(Run({"checkpoint", "save", scratch_ / "absent"}), 2);
  test::WriteFile(scratch_ / "large", std::string(kCheckpointBytesMax + 1, 'x'));
  EXPECT_EQ(Run({"checkpoint", "save", scratch_ / "large"}), 2);
  EXPECT_EQ(test::ReadFile(checkpoint()), "former");
  environment_.erase(kCheckpointFileVariable);
  EXPECT_EQ(Run({"checkpoint", "load"}), 2);
  EXPECT_NE(err().find("only inside a run"), std::string::npos) << err();
}

}  // namespace
}  // namespace carillon::cli
