#include "common/domain/outage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "tests/support/source_file.h"

namespace carillon {
namespace {

std::vector<std::string> Codes(const std::vector<OutageRow>& rows) {
  std::vector<std::string> codes;
  for (const OutageRow& row : rows) codes.push_back(CodeOf(row));
  return codes;
}

bool Has(const std::vector<OutageRow>& rows, const std::string& code) {
  const std::vector<std::string> codes = Codes(rows);
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

TEST(OutageTest, CodesAreUnique) {
  std::set<std::string> codes;
  for (const OutageRow& row : OutageTable()) {
    EXPECT_TRUE(codes.insert(CodeOf(row)).second) << CodeOf(row);
    EXPECT_TRUE(row.sentence.ends_with(".")) << CodeOf(row);
  }
}

TEST(OutageTest, NothingAwayCostsNothing) { EXPECT_TRUE(ImpactOf({}).empty()); }

TEST(OutageTest, EveryOutageAloneCostsItsRows) {
  std::set<Outage> all;
  for (const OutageRow& row : OutageTable()) all.insert(row.outage);
  for (const Outage outage : all) EXPECT_EQ(Codes(ImpactOf({outage})), Codes(RowsOf(outage)));
  EXPECT_EQ(all.size(), 11u);
}

// An owner can renew leases if it can prove its ownership to the store or to the coordinator.
TEST(OutageTest, OnlyStoreAndCoordinatorTogetherEndWhatRuns) {
  for (const Outage alone : {Outage::kStore, Outage::kStoreHeld, Outage::kCoordinator}) {
    EXPECT_FALSE(Has(ImpactOf({alone}), "store_and_coordinator.running.stops"));
    EXPECT_TRUE(Has(ImpactOf({alone}), std::string(Name(alone)) + ".running.goes_on"));
  }
  for (const Outage store : {Outage::kStore, Outage::kStoreHeld}) {
    const auto both = ImpactOf({store, Outage::kCoordinator});
    EXPECT_TRUE(Has(both, "store_and_coordinator.running.stops"));
    for (const OutageRow& row : both) EXPECT_NE(row.effect, OutageEffect::kGoesOn) << CodeOf(row);
  }
}

TEST(OutageTest, WhatAnotherOutageStopsDoesNotGoOn) {
  const auto impact = ImpactOf({Outage::kBus, Outage::kStore});
  EXPECT_TRUE(Has(impact, "store.planning.stops"));
  EXPECT_FALSE(Has(impact, "bus.planning.goes_on"));
  EXPECT_TRUE(Has(impact, "bus.running.goes_on"));
}

TEST(OutageTest, BoundsAreThoseOfTheInstallation) {
  const OutageBounds bounds{
      .session = 4s, .executor_lost = 7s, .lease = 30s, .takeover_margin = 5s};
  EXPECT_EQ(bounds.Of(OutageBound::kAtOnce), 0s);
  EXPECT_EQ(bounds.Of(OutageBound::kSession), 4s);
  EXPECT_EQ(bounds.Of(OutageBound::kExecutorLost), 7s);
  EXPECT_EQ(bounds.Of(OutageBound::kLease), 30s);
  EXPECT_EQ(bounds.Of(OutageBound::kAttemptLost), 35s);
  EXPECT_EQ(bounds.Of(OutageBound::kDay), 24h);
}

// ---- docs/operations.md ----

std::string_view Title(Outage outage) {
  switch (outage) {
    case Outage::kStore: return "the store";
    case Outage::kStoreHeld: return "a held store";
    case Outage::kCoordinator: return "ZooKeeper";
    case Outage::kStoreAndCoordinator: return "the store and ZooKeeper";
    case Outage::kBus: return "Kafka";
    case Outage::kMember: return "a member";
    case Outage::kLastMember: return "the last member";
    case Outage::kExecutor: return "an executor";
    case Outage::kLastExecutor: return "the last executor";
    case Outage::kWebhook: return "the webhook";
    case Outage::kMail: return "the mail server";
  }
  return "";
}

std::string Seconds(OutageBound bound) {
  if (bound == OutageBound::kDay) return "a day";
  return std::to_string(OutageBounds().Of(bound) / 1s) + " s";
}

std::string When(const OutageRow& row) {
  if (row.after != OutageBound::kAtOnce) return "After " + Seconds(row.after) + ": ";
  if (row.until != OutageBound::kReturn) return "For " + Seconds(row.until) + ": ";
  return "";
}

using Rows = std::vector<std::pair<std::string, std::string>>;

void Append(Rows& rows, const std::string& key, const std::string& between,
            const std::string& text) {
  const auto same =
      std::find_if(rows.begin(), rows.end(), [&key](const auto& row) { return row.first == key; });
  if (same == rows.end()) {
    rows.emplace_back(key, text);
  } else {
    same->second += between + text;
  }
}

// Outages with the same effect share a row, and so do all effects of the same outages.
std::string TableAsText() {
  Rows by_effect;
  for (const OutageRow& row : OutageTable()) {
    Append(by_effect, When(row) + std::string(row.sentence), "; ", std::string(Title(row.outage)));
  }
  Rows by_outages;
  for (const auto& [effect, outages] : by_effect) Append(by_outages, outages, " ", effect);
  std::string out = "| unavailable | effect |\n|---|---|\n";
  for (const auto& [outages, effects] : by_outages) {
    out += "| " + outages + " | " + effects + " |\n";
  }
  return out;
}

TEST(OutageTest, TheDocumentAgreesWithTheTable) {
  const std::string path = test::SourceFile("docs/operations.md");
  const std::string first = "| unavailable | effect |";
  std::ostringstream read;
  read << std::ifstream(path).rdbuf();
  std::string text = read.str();
  const size_t begin = text.find(first);
  ASSERT_NE(begin, std::string::npos);
  const size_t end = text.find("\n\n", begin) + 1;
  if (std::getenv("CARILLON_REGEN") != nullptr) {
    std::ofstream(path) << text.replace(begin, end - begin, TableAsText());
    return;
  }
  EXPECT_EQ(text.substr(begin, end - begin), TableAsText()) << "generate it: ./dev regen";
}

}  // namespace
}  // namespace carillon
