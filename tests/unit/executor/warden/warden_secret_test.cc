// Secrets of real processes: neither the warden's files nor its reports contain them.
#include <filesystem>

#include "common/base/charset.h"
#include "tests/unit/executor/warden/warden_fixture.h"

namespace carillon::executor {
namespace {

constexpr const char* kSecret = "correct-horse-battery";

class WardenSecretTest : public WardenFixture {
 protected:
  StartAttempt WithSecret(const std::string& command) {
    StartAttempt start = Command(command);
    start.env["PASSWORD"] = kSecret;
    start.masked = {kSecret};
    return start;
  }
  std::string LogOf(const StartAttempt& start) {
    std::string text;
    for (const LogChunk& chunk : logs_[NameOf(start.attempt)]) {
      const auto entries = DecodeEntries(chunk.entries, chunk.count);
      for (const LogEntry& entry : *entries) text += entry.text;
    }
    return text;
  }
  // The content of all files of the warden.
  std::string OnDisk() {
    std::string all;
    for (const auto& file : std::filesystem::recursive_directory_iterator(directory())) {
      if (file.is_regular_file()) all += test::ReadFile(file.path());
    }
    return all;
  }
};

TEST_F(WardenSecretTest, TheProcessHasItAndNeitherResultNorLogShowsIt) {
  const StartAttempt start = WithSecret(
      "test ${#PASSWORD} = 21 || exit 9; echo \"out $PASSWORD\"; echo \"err $PASSWORD.\" >&2; "
      "printf 'correct-horse-'; printf 'battery'; printf 'correct-horse'");
  const AttemptResult result = Run(start);
  EXPECT_EQ(result.state, RunState::kCompleted) << result.error;
  EXPECT_EQ(result.output, "out ***\nerr ***.\n***correct-horse");
  ASSERT_TRUE(test::WaitUntil([&] {
    Pump();
    return LogOf(start).find("***correct-horse") != std::string::npos;
  }));
  EXPECT_EQ(LogOf(start), result.output);
}

// Also where a character is cut by two writes, and at the end of the output.
TEST_F(WardenSecretTest, OutputIsConvertedBeforeItIsMasked) {
  StartAttempt start = Command(
      "printf '\\326\\264\\320'; sleep 0.1; printf '\\320\\263\\311\\271\\246\\n'; "
      "printf '\\303\\334\\302\\353-hunter\\n\\326' >&2; sleep 0.1");
  start.output_encoding = "gb18030";
  start.masked = {"密码-hunter"};
  const AttemptResult result = Run(start);
  EXPECT_EQ(result.state, RunState::kCompleted) << result.error;
  EXPECT_EQ(result.output, "执行成功\n***\n\ufffd");
  ASSERT_TRUE(test::WaitUntil([&] {
    Pump();
    return LogOf(start).find("\ufffd") != std::string::npos;
  }));
  EXPECT_EQ(LogOf(start), result.output);
}

// The process has its secrets in UTF-8, whatever the charset of its output is.
TEST_F(WardenSecretTest, ASecretInUtf8IsMaskedInOutputOfAnotherCharset) {
  for (const std::string encoding : {"gb18030", "iso-8859-1", "utf-16", "iso-2022-jp"}) {
    StartAttempt start = Command("printf 'say käßwörd-'; sleep 0.1; printf 'geheim'");
    start.output_encoding = encoding;
    start.masked = {"käßwörd-geheim"};
    const AttemptResult result = Run(start);
    EXPECT_EQ(result.state, RunState::kCompleted) << result.error;
    if (encoding == "utf-16") {
      EXPECT_EQ(result.output, *ToUtf8("say ***", "utf-16"));
    } else {
      EXPECT_EQ(result.output, "say ***") << encoding;
    }
  }
}

TEST_F(WardenSecretTest, NothingOfItIsOnDiskWhileItRunsAndAfter) {
  const StartAttempt start = WithSecret("echo \"$PASSWORD\"; while [ ! -e " + (scratch_ / "go") +
                                        " ]; do sleep 0.02; done");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return Started(start.attempt); }));
  EXPECT_EQ(OnDisk().find(kSecret), std::string::npos);
  test::WriteFile(scratch_ / "go", "1");
  EXPECT_EQ(End(start).output, "***\n");
  const std::string disk = OnDisk();
  EXPECT_NE(disk.find("***"), std::string::npos) << "its end is not where this test looks";
  EXPECT_EQ(disk.find(kSecret), std::string::npos);
}

TEST_F(WardenSecretTest, TheNextDaemonIsToldNoneOfIt) {
  const StartAttempt start = WithSecret("echo \"$PASSWORD\"; while [ ! -e " + (scratch_ / "go") +
                                        " ]; do sleep 0.02; done; echo \"$PASSWORD again\"");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return Started(start.attempt); }));
  Detach();
  test::WriteFile(scratch_ / "go", "1");
  Attach();
  EXPECT_EQ(End(start).output, "***\n*** again\n");
}

}  // namespace
}  // namespace carillon::executor
