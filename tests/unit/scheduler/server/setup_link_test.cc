#include "scheduler/server/setup_link.h"

#include <gtest/gtest.h>

#include "scheduler/auth/random_token.h"
#include "tests/support/manual_clock.h"
#include "tests/twins/memory_stores.h"

namespace carillon::scheduler {
namespace {

class SetupLinkTest : public ::testing::Test {
 protected:
  static constexpr const char* kBefore = "http://a:1/setup#token=";
  std::string NewLink() { return NewSetupLink(stores_.auth, "http://a:1", clock_.Wall()); }
  Status Use(const std::string& link) {
    const std::string token = link.substr(std::string(kBefore).size());
    return stores_.auth.Setup(
        HashSecret(token),
        {.user_id = "user-1", .name = "anna", .role = "admin", .password_hash = "x"},
        clock_.Wall());
  }
  test::ManualClock clock_;
  memory::MemoryStores stores_{clock_, {}};
};

TEST_F(SetupLinkTest, EachLinkTakesThePlaceOfTheOneBeforeAndWorksOnce) {
  const std::string first = NewLink();
  const std::string second = NewLink();
  EXPECT_EQ(first.find(kBefore), 0u) << first;
  EXPECT_NE(first, second);
  EXPECT_EQ(Use(first).code(), ErrorCode::kDenied);
  EXPECT_TRUE(Use(second).ok());
  EXPECT_EQ(Use(second).code(), ErrorCode::kConflict);
}

TEST_F(SetupLinkTest, ThereIsNoneWhenAnAdministratorIsThere) {
  ASSERT_TRUE(Use(NewLink()).ok());
  EXPECT_EQ(NewLink(), "");
  EXPECT_EQ(SetupText(""), "");
}

TEST_F(SetupLinkTest, ItIsOverAfterADay) {
  const std::string link = NewLink();
  EXPECT_NE(SetupText(link).find(link), std::string::npos);
  clock_.Advance(24h);
  EXPECT_EQ(Use(link).code(), ErrorCode::kDenied);
}

}  // namespace
}  // namespace carillon::scheduler
