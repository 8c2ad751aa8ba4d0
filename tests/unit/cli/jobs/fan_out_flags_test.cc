#include "cli/jobs/flags/fan_out_flags.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace carillon::cli::fan_out_flags_test {
namespace {

using nlohmann::json;

json Applied(const FanOutFlags& flags, FlagsBody form = FlagsBody::kPatch,
             json body = json::object()) {
  const Status applied = ApplyFanOutFlags(flags, form, body);
  return applied.ok() ? body : json(applied.error().message);
}

TEST(FanOutFlagsTest, EachFormReplacesTheOther) {
  EXPECT_EQ(Applied({}), json::object());
  EXPECT_EQ(Applied({.shards = "8"}), (json{{"shards", {{"total", 8}}}, {"broadcast", nullptr}}));
  EXPECT_EQ(Applied({.shards = "alive"})["shards"], (json{{"total", "alive"}}));
  EXPECT_EQ(Applied({.shards = "alive:20"})["shards"], (json{{"total", "alive"}, {"max", 20}}));
  EXPECT_EQ(Applied({.shards = "{{params.n}}"})["shards"], (json{{"total", "{{params.n}}"}}));
  EXPECT_EQ(Applied({.shards = "{{fire_date | %H:%M}}:20"})["shards"],
            (json{{"total", "{{fire_date | %H:%M}}"}, {"max", 20}}));
  EXPECT_EQ(Applied({.shards = "none"}), (json{{"shards", nullptr}, {"broadcast", nullptr}}));
  EXPECT_EQ(Applied({.broadcast = "5m"}),
            (json{{"broadcast", {{"wait_s", 300}}}, {"shards", nullptr}}));
  EXPECT_EQ(Applied({.broadcast = "0"})["broadcast"], (json{{"wait_s", 0}}));
}

// Null stands for a value that was forgotten there.
TEST(FanOutFlagsTest, AJobGetsNoNulls) {
  const json everywhere = {{"broadcast", {{"wait_s", 5}}}};
  const json divided = {{"shards", {{"total", 3}}}};
  EXPECT_EQ(Applied({.shards = "8"}, FlagsBody::kJob, everywhere),
            (json{{"shards", {{"total", 8}}}}));
  EXPECT_EQ(Applied({.broadcast = "true"}, FlagsBody::kJob, divided),
            (json{{"broadcast", json::object()}}));
  for (const json& job : {everywhere, divided}) {
    EXPECT_EQ(Applied({.shards = "none"}, FlagsBody::kJob, job), json::object());
    EXPECT_EQ(Applied({}, FlagsBody::kJob, job), job);
  }
}

TEST(FanOutFlagsTest, MistakesNameTheFlag) {
  for (const char* wrong : {"many", "8x", "8:9", "alive:", "alive:x", "-", "1.5", ":9", "none:9",
                            "{params.n}", "{{params.n}}:", "{{params.n}}:x", "{{params.n}}:9:9"}) {
    EXPECT_EQ(Applied({.shards = wrong}),
              "--shards must be a number, alive, '{{params.NAME}}', one of these two with :MAX, or "
              "none")
        << wrong;
  }
  EXPECT_EQ(Applied({.broadcast = "500ms"}), "--broadcast: must be whole seconds");
  EXPECT_TRUE(Applied({.broadcast = "soon"}).is_string());
}

}  // namespace
}  // namespace carillon::cli::fan_out_flags_test
