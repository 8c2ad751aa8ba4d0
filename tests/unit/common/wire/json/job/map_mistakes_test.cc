// Wrong values of the fields of a job that are maps.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "common/wire/json/job/job_json.h"

namespace carillon::test {
namespace {

using nlohmann::json;

TEST(MapMistakesTest, NamesEveryValueOfAMapThatLacksItsQuotes) {
  Mistakes further;
  const auto refused = ParseJob({{"name", "a"},
                                 {"command", "true"},
                                 {"env", {{"B", 8080}, {"A", "text"}, {"C", true}, {"D", 1.1}}},
                                 {"labels", {{"team", 7}}},
                                 {"parameters", {{"list", json::array()}, {"n", 5}}}},
                                &further);
  ASSERT_FALSE(refused.ok());
  std::string told = refused.error().pointer + " " + refused.error().message;
  for (const Error& one : further) told += "\n" + one.pointer + " " + one.message;
  EXPECT_EQ(told,
            "/env/B must be a string; put it in quotes as it is written\n"
            "/env/C must be a string; put it in quotes as it is written\n"
            "/env/D must be a string; put it in quotes as it is written\n"
            "/labels/team must be a string; put it in quotes as it is written\n"
            "/parameters/list must be a string, a number, true or false; write a list as a string, "
            "'[1, 2]'");
}

// The type, which is read after the source, is not called missing.
TEST(MapMistakesTest, AScheduleThatIsReadInPartHasNoFurtherMistakes) {
  for (const json& wrong : {json{{"source", nullptr}}, json{{"filter", 5}}, json{{"at", "x"}}}) {
    json trigger = {{"kind", "event"}, {"type", "order.paid"}};
    trigger.update(wrong);
    Mistakes further;
    const auto refused = ParseJob(
        {{"name", "a"}, {"command", "true"}, {"schedules", json::array({trigger})}}, &further);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().pointer, "/schedules/0/" + wrong.begin().key());
    EXPECT_TRUE(further.empty()) << wrong << ": " << further.front().message;
  }
}

}  // namespace
}  // namespace carillon::test
