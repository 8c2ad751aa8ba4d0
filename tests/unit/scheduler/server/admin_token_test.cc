#include "scheduler/server/admin_token.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "scheduler/auth/authenticator.h"
#include "tests/support/manual_clock.h"
#include "tests/support/process_wait.h"
#include "tests/twins/memory_stores.h"

namespace carillon::scheduler {
namespace {

class AdminTokenTest : public ::testing::Test {
 protected:
  std::unique_ptr<process::DataDirectory> Open(const std::string& name) {
    auto opened = process::DataDirectory::Open(scratch_ / name);
    EXPECT_TRUE(opened.ok());
    return std::move(opened).value();
  }
  Status Ensure(const process::DataDirectory& directory, TokenOwner owner) {
    return EnsureAdminToken(directory, stores_.auth, clock_.Wall(), owner);
  }
  test::ManualClock clock_;
  memory::MemoryStores stores_{clock_, {.segment_count = 4}};
  test::ScratchDirectory scratch_;
};

TEST_F(AdminTokenTest, IsMadeOnceByTheFirstMember) {
  const auto first = Open("a");
  const auto second = Open("b");
  ASSERT_TRUE(Ensure(*first, TokenOwner::kAnyMember).ok());
  ASSERT_TRUE(Ensure(*second, TokenOwner::kAnyMember).ok());
  EXPECT_TRUE(std::filesystem::exists(first->token_file()));
  EXPECT_FALSE(std::filesystem::exists(second->token_file()));
  const std::string token = *first->ReadSecret("admin.token");
  ASSERT_TRUE(Ensure(*first, TokenOwner::kAnyMember).ok());
  EXPECT_EQ(*first->ReadSecret("admin.token"), token);
  const auto known = stores_.auth.FindToken(HashToken(token.substr(0, token.size() - 1)));
  ASSERT_TRUE(known.ok());
  EXPECT_TRUE(*known);
}

TEST_F(AdminTokenTest, NoFileIsThereForAMomentWhereAnotherMemberHasIt) {
  ASSERT_TRUE(Ensure(*Open("a"), TokenOwner::kAnyMember).ok());
  const auto second = Open("b");
  const auto long_ago = std::filesystem::last_write_time(second->path()) - 1h;
  std::filesystem::last_write_time(second->path(), long_ago);
  ASSERT_TRUE(Ensure(*second, TokenOwner::kAnyMember).ok());
  EXPECT_EQ(std::filesystem::last_write_time(second->path()), long_ago);
}

TEST_F(AdminTokenTest, LostFileOfAServerOfItsOwnIsTold) {
  const auto directory = Open("a");
  ASSERT_TRUE(Ensure(*directory, TokenOwner::kThisDirectory).ok());
  std::filesystem::remove(directory->token_file());
  EXPECT_EQ(Ensure(*directory, TokenOwner::kThisDirectory).code(), ErrorCode::kDenied);
  EXPECT_FALSE(std::filesystem::exists(directory->token_file()));
}

TEST_F(AdminTokenTest, FileOfAnotherStoreStaysAndStopsNoMember) {
  ASSERT_TRUE(Ensure(*Open("a"), TokenOwner::kAnyMember).ok());
  const auto other = Open("b");
  const std::string token = NewToken() + "\n";
  ASSERT_TRUE(other->WriteSecret("admin.token", token).ok());
  EXPECT_TRUE(Ensure(*other, TokenOwner::kAnyMember).ok());
  EXPECT_EQ(*other->ReadSecret("admin.token"), token);
}

TEST_F(AdminTokenTest, RestoredFileOpensAnEmptyStoreAndAGuessableTextDoesNot) {
  const auto directory = Open("a");
  for (const char* text : {"keep-admin.token", "carillon_short", "carillon_ \n"}) {
    ASSERT_TRUE(directory->WriteSecret("admin.token", text).ok());
    EXPECT_EQ(Ensure(*directory, TokenOwner::kThisDirectory).code(), ErrorCode::kInvalid) << text;
  }
  const auto none = stores_.auth.ListTokens({.limit = 1});
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->empty());
  const std::string token = NewToken();
  ASSERT_TRUE(directory->WriteSecret("admin.token", token + "\n").ok());
  ASSERT_TRUE(Ensure(*directory, TokenOwner::kThisDirectory).ok());
  const auto known = stores_.auth.FindToken(HashToken(token));
  ASSERT_TRUE(known.ok());
  EXPECT_TRUE(*known);
}

}  // namespace
}  // namespace carillon::scheduler
