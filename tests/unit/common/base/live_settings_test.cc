#include "common/base/live_settings.h"

#include <gtest/gtest.h>

#include <thread>

namespace carillon {
namespace {

ClusterSettings Settings(int64_t version, std::map<std::string, std::string> values = {}) {
  return {.version = version, .values = std::move(values)};
}

TEST(LiveSettingsTest, OnlyNewerOnesAreAdopted) {
  LiveSettings live;
  std::vector<int64_t> heard;
  live.OnChange([&heard](const ClusterSettings& now) { heard.push_back(now.version); });
  EXPECT_EQ(live.version(), 0);
  live.Adopt(Settings(2, {{"log.level", "debug"}}));
  live.Adopt(Settings(2, {{"log.level", "error"}}));
  live.Adopt(Settings(1));
  live.Adopt({});
  EXPECT_EQ(live.Current(), Settings(2, {{"log.level", "debug"}}));
  live.Adopt(Settings(7));
  EXPECT_EQ(live.Current(), Settings(7));
  EXPECT_EQ(heard, (std::vector<int64_t>{2, 7}));
}

TEST(LiveSettingsTest, WhoComesLateIsToldWhatHolds) {
  LiveSettings live;
  live.Adopt(Settings(3));
  int64_t heard = 0;
  live.OnChange([&heard](const ClusterSettings& now) { heard = now.version; });
  EXPECT_EQ(heard, 3);
}

TEST(LiveSettingsTest, ManyThreadsAgreeOnTheNewest) {
  constexpr int64_t kVersions = 2000;
  LiveSettings live;
  int64_t last = 0;
  bool rising = true;
  live.OnChange([&](const ClusterSettings& now) {
    rising = rising && now.version > last;
    last = now.version;
  });
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&live, t] {
      for (int64_t version = 1 + t; version <= kVersions; version += 1 + t) {
        live.Adopt(Settings(version, {{"n", std::to_string(version)}}));
        const ClusterSettings seen = live.Current();
        EXPECT_GE(seen.version, version);
        EXPECT_EQ(seen.values.at("n"), std::to_string(seen.version));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(rising);
  EXPECT_EQ(last, kVersions);
}

}  // namespace
}  // namespace carillon
