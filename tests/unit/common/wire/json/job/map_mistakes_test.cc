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
            "/parameters/list must be a string, a number, true or false");
}

}  // namespace
}  // namespace carillon::test
