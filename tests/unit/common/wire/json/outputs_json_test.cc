#include "common/wire/json/outputs_json.h"

#include <gtest/gtest.h>

namespace carillon {
namespace {

TEST(OutputsJsonTest, OutputsGoThereAndBack) {
  const Outputs outputs = {{"rows", "12"}, {"text", "a\nb \"c\" \xc3\xa4"}};
  EXPECT_EQ(OutputsFromJson(OutputsToJson(outputs)).value(), outputs);
  EXPECT_EQ(OutputsToJson({{"a", "1"}}), R"({"a":"1"})");
}

TEST(OutputsJsonTest, AnythingElseIsCorrupt) {
  for (const std::string text : {"", "[]", "{", R"({"a":1})", R"({"a b":"1"})", "7"}) {
    EXPECT_EQ(OutputsFromJson(text).code(), ErrorCode::kCorrupt) << text;
  }
}

}  // namespace
}  // namespace carillon
