#include "common/domain/parts/fan_out_places.h"

#include <gtest/gtest.h>

#include "common/domain/job/job.h"
#include "common/domain/run/run.h"

namespace carillon::fan_out_places_test {
namespace {

const WallTime kNow = FromUnixMicros(1'772'323'200'000'000);

FanOutHost Host(const std::string& id) {
  return {.id = ExecutorId(id), .features = {Feature::kHttp}, .heard = kNow};
}

TEST(FanOutPlacesTest, FixedPartsAreClamped) {
  EXPECT_EQ(FixedPlaces(8).total, 8u);
  EXPECT_EQ(FixedPlaces(0).total, 1u);
  EXPECT_EQ(FixedPlaces(5'000).total, kPartsMax);
  EXPECT_TRUE(FixedPlaces(8).hosts.empty());
}

TEST(FanOutPlacesTest, OneAlivePartForEachHostThatCanRunIt) {
  std::vector<FanOutHost> hosts(9, Host("x"));
  hosts[1].enabled = false;
  hosts[2].draining = true;
  hosts[3].heard = kNow - kAliveHeard - 1us;
  hosts[4].heard = kNow - kAliveHeard;  // counts
  hosts[5].features = {};
  hosts[6].labels = {{"zone", "b"}};
  hosts[7].handlers = {"app/job"};  // counts
  const Selector zone = *Selector::Parse("zone != b");
  FanOutNeeds needs{.selector = &zone, .features = {Feature::kHttp}};
  EXPECT_EQ(AlivePlaces(hosts, needs, 100, kNow), (Places{.total = 4}));
  EXPECT_EQ(AlivePlaces(hosts, needs, 3, kNow).total, 3u);
  needs.handler = "app/job";
  EXPECT_EQ(AlivePlaces(hosts, needs, 100, kNow).total, 1u);
}

TEST(FanOutPlacesTest, AnAliveFireHasAtLeastOnePart) {
  EXPECT_EQ(AlivePlaces({}, {}, 100, kNow), (Places{.total = 1}));
  EXPECT_EQ(AlivePlaces(std::vector<FanOutHost>(2'000, Host("x")), {}, 9'999, kNow).total,
            kPartsMax);
}

TEST(FanOutPlacesTest, AJobOfOneExecutorHasOneAlivePart) {
  EXPECT_EQ(AlivePlaces({Host("a"), Host("b")}, {.only = ExecutorId("b")}, 100, kNow).total, 1u);
}

TEST(FanOutPlacesTest, ABroadcastHasAPartForEachHostOfTheLastHour) {
  std::vector<FanOutHost> hosts = {Host("c"), Host("b"), Host("a"), Host("d"), Host("e")};
  hosts[1].draining = true;  // draining, without the feature, silent: on record all the same
  hosts[1].features = {};
  hosts[1].heard = kNow - kBroadcastHeard;
  hosts[3].enabled = false;
  hosts[4].heard = kNow - kBroadcastHeard - 1us;
  const Places places = BroadcastPlaces(hosts, {.features = {Feature::kHttp}}, kNow);
  EXPECT_EQ(places.total, 3u);
  EXPECT_EQ(places.hosts,
            (std::vector<ExecutorId>{ExecutorId("a"), ExecutorId("b"), ExecutorId("c")}));
  EXPECT_TRUE(places.refusal.empty());
}

TEST(FanOutPlacesTest, ABroadcastAsksTheLabels) {
  std::vector<FanOutHost> hosts = {Host("a"), Host("b")};
  hosts[0].labels = {{"zone", "a"}};
  const Selector zone = *Selector::Parse("zone");
  EXPECT_EQ(BroadcastPlaces(hosts, {.selector = &zone}, kNow).hosts,
            std::vector<ExecutorId>{ExecutorId("a")});
}

TEST(FanOutPlacesTest, ABroadcastToNoneOrToTooManyHasNoParts) {
  EXPECT_EQ(BroadcastPlaces({}, {}, kNow), (Places{.refusal = reason::kNoExecutor}));
  std::vector<FanOutHost> hosts(kPartsMax, Host("x"));
  EXPECT_EQ(BroadcastPlaces(hosts, {}, kNow).total, kPartsMax);
  hosts.push_back(Host("y"));
  EXPECT_EQ(BroadcastPlaces(hosts, {}, kNow), (Places{.refusal = reason::kTooManyHosts}));
}

TEST(FanOutPlacesTest, ARenderedTotalIsAWholeNumber) {
  EXPECT_EQ(RenderedPlaces("1", 1), FixedPlaces(1));
  EXPECT_EQ(RenderedPlaces("1000", 1'000), FixedPlaces(1'000));
  EXPECT_EQ(RenderedPlaces("       12\n", 20), FixedPlaces(12)) << "as wc prints it";
  EXPECT_EQ(RenderedPlaces("0", 20), (Places{.refusal = reason::kZeroShards}));
}

TEST(FanOutPlacesTest, AnythingElseIsRefusedInWords) {
  const auto error = [](std::string_view text) {
    const Places places = RenderedPlaces(text, 20);
    EXPECT_EQ(places.refusal, reason::kBadShardTotal) << text;
    EXPECT_EQ(places.total, 0u);
    return places.error;
  };
  const std::string begin = "the number of its shards cannot be used: ";
  for (const std::string text : {"x", "3.5", "3 4", "+3", "1e2", "0x3", "3,", "null"}) {
    EXPECT_EQ(error(text), begin + "\"" + text + "\" is not a whole number");
  }
  for (const std::string text : {"21", "99999999999999999999", "-99999999999999999999"}) {
    EXPECT_EQ(error(text), begin + "\"" + text + "\" is not within 0 and 20");
  }
  EXPECT_EQ(error("-1"), begin + "\"-1\" is negative");
  EXPECT_EQ(error(" \n"), begin + "it is empty");
  EXPECT_EQ(error("\xff\x1b"), begin + "a text of 2 bytes is not a whole number");
  EXPECT_EQ(error(std::string(81, 'x')), begin + "a text of 81 bytes is not a whole number");
  JobDefinition job;
  job.shards = Shards{.total_from = "{{params.n}}"};
  EXPECT_EQ(PlacesOf(job, {}, kNow).refusal, reason::kBadShardTotal);
}

TEST(FanOutPlacesTest, AMappedNodeWithoutItemsHasNoPlaces) {
  JobDefinition job;
  job.shards = Shards{.total = 0};
  EXPECT_EQ(PlacesOf(job, {}, kNow).refusal, reason::kZeroShards);
  EXPECT_EQ(PlacesOf(job, {}, kNow).total, 0u);
}

}  // namespace
}  // namespace carillon::fan_out_places_test
