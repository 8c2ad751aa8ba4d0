#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

class BackupCommandsTest : public CliTest {
 protected:
  void SetUp() override {
    backup_reply_ = BackupReply{.store_id = "0b1c",
                                .schema_version = 19,
                                .taken = FromUnixMicros(1'772'323'200'000'000),
                                .tables = 27,
                                .rows = 1234,
                                .bytes = 56789,
                                .data_dir = "/d",
                                .keys = {"/d/secrets.key", "/d/admin.token"}};
  }
};

TEST_F(BackupCommandsTest, CreateTellsWhatIsInItAndWhatIsNot) {
  EXPECT_EQ(Run({"backup", "create", "/b.sql", "--data-dir", "/d", "--config", "/c.yaml", "--set",
                 "store.port=7", "-o", "json"}),
            0);
  ASSERT_TRUE(backup_.has_value());
  EXPECT_EQ(backup_->file, "/b.sql");
  EXPECT_EQ(backup_->config_file, "/c.yaml");
  EXPECT_FALSE(backup_->replace);
  ASSERT_EQ(backup_->overrides.size(), 2u);
  EXPECT_EQ(backup_->overrides[0].name, "data_dir");
  EXPECT_EQ(backup_->overrides[1].value, "7");
  EXPECT_EQ(OutJson(), nlohmann::json({{"file", "/b.sql"},
                                       {"store_id", "0b1c"},
                                       {"schema_version", 19},
                                       {"taken", "2026-03-01T00:00:00.000000Z"},
                                       {"tables", 27},
                                       {"rows", 1234},
                                       {"bytes", 56789}}));
  EXPECT_NE(err().find("/d/secrets.key, /d/admin.token"), std::string::npos) << err();
  EXPECT_EQ(Run({"backup", "create", "/b.sql", "-q"}), 0);
  EXPECT_EQ(out(), "/b.sql\n");
  EXPECT_EQ(err(), "");
}

TEST_F(BackupCommandsTest, RestoreNamesTheNextStep) {
  EXPECT_EQ(Run({"backup", "restore", "/b.sql"}), 0);
  EXPECT_NE(err().find("carillon standalone --data-dir /d"), std::string::npos) << err();
  backup_reply_->data_dir.clear();
  EXPECT_EQ(Run({"backup", "restore", "/b.sql"}), 0);
  EXPECT_NE(err().find("accept-store"), std::string::npos) << err();
}

TEST_F(BackupCommandsTest, RestoreAsksBeforeItDropsAnything) {
  EXPECT_NE(Run({"backup", "restore", "/b.sql", "--replace"}), 0);
  EXPECT_FALSE(backup_.has_value());
  EXPECT_EQ(Run({"backup", "restore", "/b.sql", "--replace", "--yes"}), 0);
  ASSERT_TRUE(backup_.has_value());
  EXPECT_TRUE(backup_->replace);
}

TEST_F(BackupCommandsTest, FailuresHaveTheirExitCodes) {
  EXPECT_EQ(Run({"backup"}), 2);
  EXPECT_EQ(Run({"backup", "create"}), 2);
  EXPECT_EQ(Run({"backup", "create", ""}), 2);
  EXPECT_EQ(Run({"backup", "create", "/b.sql", "--replace"}), 2);
  EXPECT_FALSE(backup_.has_value());
  backup_reply_ = Error{ErrorCode::kConflict, "the database is not empty"};
  EXPECT_EQ(Run({"backup", "restore", "/b.sql"}), 5);
  EXPECT_EQ(out(), "");
  EXPECT_NE(err().find("not empty"), std::string::npos) << err();
}

}  // namespace
}  // namespace carillon::cli
