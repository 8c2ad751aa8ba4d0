#include "tests/support/process_wait.h"
#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

class SecretCommandsTest : public CliTest {
 protected:
  static json Secret(int version = 1) {
    return {{"name", "db"},       {"description", "of the shop"}, {"shared", false},
            {"user_id", "admin"}, {"version", version},           {"key_id", "0011"}};
  }
  void Known() {
    Answer("GET /api/secrets/db", Secret(), 200, "\"v1\"");
    Answer("PUT /api/secrets/db", Secret(2), 200, "\"v2\"");
  }
};

TEST_F(SecretCommandsTest, SetMakesItWithWhatIsOnStandardInput) {
  Answer("POST /api/secrets", Secret(), 201);
  in_.str("correct horse\nbattery\n");
  EXPECT_EQ(Run({"secret", "set", "db", "--description", "of the shop", "--shared"}), 0) << err();
  EXPECT_EQ(SentBody(1), (json{{"name", "db"},
                               {"value", "correct horse\nbattery"},
                               {"description", "of the shop"},
                               {"shared", true}}));
  EXPECT_EQ(out().find("horse"), std::string::npos);
}

TEST_F(SecretCommandsTest, SetReplacesTheValueOfOneThatIsThere) {
  Known();
  in_.str("correct horse");
  EXPECT_EQ(Run({"secret", "set", "db", "--value-file", "-"}), 0) << err();
  EXPECT_EQ(SentBody(1), (json{{"value", "correct horse"}}));
  EXPECT_EQ(HeaderOf(Sent(1), "If-Match"), "\"v1\"");
}

TEST_F(SecretCommandsTest, SetReadsAFileOrAsksWithoutEcho) {
  Known();
  const test::ScratchDirectory scratch;
  test::WriteFile(scratch / "value", "from a file\r\n");
  EXPECT_EQ(Run({"secret", "set", "db", "--value-file", scratch / "value"}), 0) << err();
  EXPECT_EQ(SentBody(1), (json{{"value", "from a file"}}));
  tty_ = true;
  typed_password_ = "typed value";
  EXPECT_EQ(Run({"secret", "set", "db"}), 0) << err();
  EXPECT_EQ(SentBody(3), (json{{"value", "typed value"}}));
  EXPECT_EQ(prompts_, "Value of db: ");
}

TEST_F(SecretCommandsTest, AValueIsNoArgumentAndNotEmpty) {
  EXPECT_EQ(Run({"secret", "set", "db", "correct horse"}), 2);
  in_.str("\n");
  EXPECT_EQ(Run({"secret", "set", "db"}), 2);
}

TEST_F(SecretCommandsTest, EditLeavesTheValueAlone) {
  Known();
  EXPECT_EQ(Run({"secret", "edit", "db", "--not-shared", "--reason", "tidy"}), 0) << err();
  EXPECT_EQ(SentBody(1), (json{{"shared", false}, {"reason", "tidy"}}));
  EXPECT_EQ(Run({"secret", "edit", "db"}), 2);
}

TEST_F(SecretCommandsTest, RewrapGoesOnUntilAllAreDone) {
  Answer("POST /api/secrets/rewrap", json{{"key_id", "0011"},
                                          {"rewrapped", 500},
                                          {"unreadable", json::array()},
                                          {"next_after", "m"}});
  Answer(
      "POST /api/secrets/rewrap",
      json{{"key_id", "0011"}, {"rewrapped", 2}, {"unreadable", {"old"}}, {"next_after", nullptr}});
  EXPECT_EQ(Run({"secret", "rewrap", "-o", "json"}), 1) << "one could not be read";
  EXPECT_EQ(OutJson(), (json{{"key_id", "0011"}, {"rewrapped", 502}, {"unreadable", {"old"}}}));
  EXPECT_EQ(SentBody(1), (json{{"after", "m"}}));
}

}  // namespace
}  // namespace carillon::cli
