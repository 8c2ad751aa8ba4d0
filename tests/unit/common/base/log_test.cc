#include "common/base/log.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace carillon {
namespace {

class LogTest : public ::testing::Test {
 protected:
  void TearDown() override { log::Configure({.file = "/dev/null"}); }
  std::string Written(log::Form form) {
    const std::string path = ::testing::TempDir() + "/log_test.log";
    std::filesystem::remove(path);
    log::Configure({.form = form, .file = path});
    log::Warn("room", "said \"{}\"\\\n{}", "ü", 7);
    log::Debug("room", "left out");
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

TEST_F(LogTest, LinesForPeople) {
  const std::string line = Written(log::Form::kText);
  EXPECT_NE(line.find(" warning room: said \"ü\"\\\\n7\n"), std::string::npos) << line;
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
}

TEST_F(LogTest, ControlCharactersDoNotReachATerminal) {
  const std::string path = ::testing::TempDir() + "/log_test.log";
  std::filesystem::remove(path);
  log::Configure({.form = log::Form::kText, .file = path});
  log::Warn("room", "a\tb{}", "\x1b]0;title\x07\r\x7f");
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  EXPECT_TRUE(line.ends_with("room: a\tb\\x1b]0;title\\x07\\x0d\\x7f")) << line;
}

TEST_F(LogTest, AnObjectALine) {
  const std::string line = Written(log::Form::kJson);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
  const auto object = nlohmann::json::parse(line);
  EXPECT_EQ(object["level"], "warning");
  EXPECT_EQ(object["room"], "room");
  EXPECT_EQ(object["message"], "said \"ü\"\\\n7");
  EXPECT_EQ(object["time"].get<std::string>().substr(10, 1), "T");
  EXPECT_EQ(object.size(), 4u);
}

}  // namespace
}  // namespace carillon
