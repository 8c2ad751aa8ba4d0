#include "common/process/process.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "common/process/command_line.h"
#include "common/process/data_directory.h"
#include "tests/support/process_wait.h"

namespace carillon::process {
namespace {

class SecretFileTest : public ::testing::Test {
 protected:
  std::string File(const std::string& text) {
    test::WriteFile(scratch_ / "secret", text);
    return scratch_ / "secret";
  }
  test::ScratchDirectory scratch_;
};

TEST_F(SecretFileTest, IsOneLineWithoutItsEnd) {
  for (const std::string text : {"s3cret", "s3cret\n", "s3cret\r\n"}) {
    const auto secret = ReadSecretFile(File(text), "link.join_secret_file");
    ASSERT_TRUE(secret.ok());
    EXPECT_EQ(*secret, "s3cret");
  }
}

TEST_F(SecretFileTest, RefusesWhatIsNoSecret) {
  for (const std::string& text : {std::string(), std::string("\n"), std::string("a\nb\n"),
                                  std::string("a\0b", 3), std::string(5000, 'x')}) {
    EXPECT_EQ(ReadSecretFile(File(text), "x").code(), ErrorCode::kInvalid);
  }
  EXPECT_EQ(ReadSecretFile(scratch_ / "missing", "x").code(), ErrorCode::kUnavailable);
  EXPECT_EQ(ReadSecretFile("", "x").code(), ErrorCode::kUnavailable);
}

TEST_F(SecretFileTest, ErrorNamesTheSettingAndNotTheSecret) {
  const auto refused = ReadSecretFile(File("first\nsecond\n"), "link.join_secret_file");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("link.join_secret_file"), std::string::npos);
  EXPECT_EQ(refused.error().message.find("first"), std::string::npos);
}

std::optional<DaemonFlags> Parse(std::vector<std::string> arguments, int& code) {
  arguments.insert(arguments.begin(), "carillon-scheduler");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  return ParseDaemonFlags("test", static_cast<int>(argv.size()), argv.data(), code);
}

TEST(CommandLineTest, FlagsBecomeOverrides) {
  int code = 0;
  const auto flags = Parse(
      {"--config", "c.yaml", "--set", "rest.port=0", "--set", "a=b=c", "--data-dir", "/d"}, code);
  ASSERT_TRUE(flags);
  EXPECT_EQ(flags->config_file, "c.yaml");
  ASSERT_EQ(flags->overrides.size(), 3u);
  EXPECT_EQ(flags->overrides[0].name, "rest.port");
  EXPECT_EQ(flags->overrides[0].value, "0");
  EXPECT_EQ(flags->overrides[1].value, "b=c");
  EXPECT_EQ(flags->overrides[2].name, "data_dir");
}

TEST(CommandLineTest, WrongFlagsAreUsage) {
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--nosuch"}, {"--set", "novalue"}, {"stray"}, {"--config"}}) {
    int code = 0;
    EXPECT_FALSE(Parse(wrong, code));
    EXPECT_EQ(code, 2);
  }
  int code = 7;
  EXPECT_FALSE(Parse({"--help"}, code));
  EXPECT_EQ(code, 0);
}

TEST(DataDirectoryTest, PublishesWhatThereIs) {
  const test::ScratchDirectory scratch;
  const auto directory = DataDirectory::Open(scratch / "d");
  ASSERT_TRUE(directory.ok());
  EXPECT_EQ(DataDirectory::Open(scratch / "d").code(), ErrorCode::kConflict);
  ASSERT_TRUE((*directory)->Publish({.ops_url = "http://o", .executor_id = "e1"}).ok());
  const std::string text = test::ReadFile(scratch / "d/runtime.json");
  EXPECT_NE(text.find("\"executor_id\": \"e1\""), std::string::npos);
  EXPECT_EQ(text.find("token_file"), std::string::npos);
  EXPECT_EQ(text.find("store"), std::string::npos);
  (*directory)->Unpublish();
  EXPECT_FALSE(std::filesystem::exists(scratch / "d/runtime.json"));
}

}  // namespace
}  // namespace carillon::process
