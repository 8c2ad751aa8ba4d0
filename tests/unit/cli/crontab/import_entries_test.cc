// Crontabs that are imported again after they were edited.
#include "cli/crontab/import_entries.h"

#include <gtest/gtest.h>

#include <map>

namespace carillon::cli {
namespace {

using nlohmann::json;
using Kind = ImportedEntry::Kind;

class ImportEntriesTest : public ::testing::Test {
 protected:
  // Imports entries of play.sh at these times, as the crontab numbers them.
  std::vector<ImportedEntry> Import(const std::vector<std::string>& times) {
    std::vector<json> jobs;
    for (const std::string& time : times) {
      const size_t number = jobs.size() + 1;
      jobs.push_back({{"job_id", number == 1 ? "play" : "play-" + std::to_string(number)},
                      {"command", "play.sh"},
                      {"cron_expression", time},
                      {"time_zone", "UTC"}});
    }
    return ImportEntries(jobs, {.create = [this](const json& job) -> Outcome<json> {
                                  if (refused) return *refused;
                                  if (!stored.emplace(job["job_id"], job).second) {
                                    return Failure{.exit = ExitCode::kConflict, .code = "exists"};
                                  }
                                  return job;
                                },
                                .find = [this](const std::string& id) -> Outcome<json> {
                                  const auto found = stored.find(id);
                                  if (found == stored.end()) return Failure{.code = "not_found"};
                                  return found->second;
                                }});
  }
  std::map<std::string, std::string> Times() const {
    std::map<std::string, std::string> times;
    for (const auto& [id, job] : stored) times[id] = job["cron_expression"];
    return times;
  }

  std::map<std::string, json> stored;
  std::optional<Failure> refused;
};

TEST_F(ImportEntriesTest, AnEntryPutAboveOthersIsCreatedAndNoneIsDoubled) {
  Import({"30 6 * * *", "0 19 * * *"});
  const std::map<std::string, std::string> after{
      {"play", "30 6 * * *"}, {"play-2", "0 19 * * *"}, {"play-3", "0 13 * * *"}};
  for (int i = 0; i < 2; ++i) {
    const auto entries = Import({"0 13 * * *", "30 6 * * *", "0 19 * * *"});
    EXPECT_EQ(Times(), after);
    EXPECT_EQ(entries[0].kind, i == 0 ? Kind::kCreated : Kind::kThere);
    EXPECT_EQ(entries[1].kind, Kind::kThere);
    EXPECT_EQ(NotCreated(entries[1]),
              "play-2 was not imported: play is there with this command and schedule.");
  }
}

TEST_F(ImportEntriesTest, AJobThatSomebodyChangedStaysAlone) {
  Import({"30 6 * * *", "0 19 * * *"});
  stored["play"]["cron_expression"] = "0 7 * * *";
  stored["play"]["schedules"] = {
      {{"kind", "cron"}, {"cron_expression", "0 7 * * *"}, {"time_zone", "UTC"}}};
  const auto entries = Import({"30 6 * * *", "0 19 * * *"});
  EXPECT_EQ(stored.size(), 2u);
  EXPECT_EQ(entries[0].kind, Kind::kTaken);
  EXPECT_NE(NotCreated(entries[0]).find("another command or schedule (0 7 * * * UTC: play.sh)"),
            std::string::npos)
      << NotCreated(entries[0]);
  EXPECT_EQ(entries[1].kind, Kind::kThere);
}

TEST_F(ImportEntriesTest, EqualEntriesAreAsManyJobs) {
  Import({"0 1 * * *"});
  Import({"0 1 * * *", "0 1 * * *"});
  EXPECT_EQ(stored.size(), 2u);
  const auto entries = Import({"0 2 * * *", "0 1 * * *", "0 1 * * *"});
  EXPECT_EQ(entries[0].kind, Kind::kCreated);
  EXPECT_EQ(Times().at("play-3"), "0 2 * * *");
}

TEST_F(ImportEntriesTest, AServerThatCannotBeReachedEndsIt) {
  refused = Failure{.exit = ExitCode::kUnreachable, .code = "unreachable"};
  const auto entries = Import({"0 1 * * *", "0 2 * * *"});
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].kind, Kind::kFailed);
}

}  // namespace
}  // namespace carillon::cli
