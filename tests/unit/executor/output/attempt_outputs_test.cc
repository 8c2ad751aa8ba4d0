#include "executor/output/attempt_outputs.h"

#include <gtest/gtest.h>

namespace carillon::executor {
namespace {

std::shared_ptr<const SecretPatterns> Patterns(const std::vector<std::string>& values) {
  return std::make_shared<const SecretPatterns>(values);
}

TEST(AttemptOutputsTest, ValuesOfSecretsAreMasked) {
  const auto patterns = Patterns({"hunter22", "line one\nline two"});
  EXPECT_EQ(*ReadOutputs("a=is hunter22.\nb<<END\nline one\nline two\nEND\nc=hunter2\n", patterns),
            (Outputs{{"a", "is ***."}, {"b", "***\n***"}, {"c", "hunter2"}}));
  EXPECT_EQ(*ReadOutputs("a=hunter22", nullptr), (Outputs{{"a", "hunter22"}}));
}

TEST(AttemptOutputsTest, NameThatIsASecretIsRefused) {
  const auto outputs = ReadOutputs("hunter22=1", Patterns({"hunter22"}));
  EXPECT_EQ(outputs.code(), ErrorCode::kInvalid);
  EXPECT_EQ(outputs.error().message.find("hunter"), std::string::npos);
}

TEST(AttemptOutputsTest, SecretThatLooksLikeOutputsIsMaskedToo) {
  const auto patterns = Patterns({"Server=db;Password=x", "ab\ncd", "left=1\nright=2"});
  EXPECT_EQ(ReadOutputs("Server=db;Password=x\n", patterns).code(), ErrorCode::kInvalid);
  EXPECT_EQ(*ReadOutputs("a=Server=db;Password=x\n", patterns), (Outputs{{"a", "***"}}));
  // Over two lines: one that has too short lines to be masked alone, and one of two outputs.
  EXPECT_EQ(ReadOutputs("n=ab\ncd\n", patterns).code(), ErrorCode::kInvalid);
  EXPECT_EQ(*ReadOutputs("n<<END\nab\ncd\nEND\n", patterns), (Outputs{{"n", "***\n***"}}));
  EXPECT_EQ(ReadOutputs("left=1\nright=2\n", patterns).code(), ErrorCode::kInvalid);
  EXPECT_EQ(ReadOutputs("my_left=1\nright=2\n", patterns).code(), ErrorCode::kInvalid);
  EXPECT_EQ(*ReadOutputs("n=ab\nm=cd\n", patterns), (Outputs{{"n", "ab"}, {"m", "cd"}}));
}

TEST(AttemptOutputsTest, MaskedOutputsStayWithinTheLimits) {
  std::string text = "a=";
  while (text.size() < kOutputsBytesMax / 2) text += "q ";
  EXPECT_EQ(ReadOutputs(text, Patterns({"q"}))->begin()->second.size(), 2 * (text.size() - 2));
  while (text.size() < kOutputsBytesMax) text += "q ";
  EXPECT_EQ(ReadOutputs(text, Patterns({"q"})).code(), ErrorCode::kInvalid);
}

}  // namespace
}  // namespace carillon::executor
