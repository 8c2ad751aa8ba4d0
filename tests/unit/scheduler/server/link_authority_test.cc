#include "scheduler/server/link_authority.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

namespace carillon::scheduler {
namespace {

class LinkAuthorityTest : public ::testing::Test {
 protected:
  LinkAuthorityTest()
      : path_(::testing::TempDir() + "carillon-authority-" + std::to_string(getpid())) {
    auto opened = process::DataDirectory::Open(path_);
    EXPECT_TRUE(opened.ok());
    directory_ = std::move(opened).value();
  }
  ~LinkAuthorityTest() override {
    directory_.reset();
    std::filesystem::remove_all(path_);
  }
  static constexpr WallTime kNow = FromUnixMicros(1'800'000'000'000'000);
  const std::string path_;
  std::unique_ptr<process::DataDirectory> directory_;
};

// Executors that joined before a restart must be able to connect after it.
TEST_F(LinkAuthorityTest, IsCreatedOnce) {
  const auto first = EnsureLinkAuthority(*directory_, kNow);
  ASSERT_TRUE(first.ok()) << first.error().message;
  const auto second = EnsureLinkAuthority(*directory_, kNow + 24h);
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(first->fingerprint(), second->fingerprint());
  const auto mode = std::filesystem::status(directory_->Sub("link-ca.pem")).permissions();
  EXPECT_EQ(mode & (std::filesystem::perms::group_all | std::filesystem::perms::others_all),
            std::filesystem::perms::none);
}

TEST_F(LinkAuthorityTest, ADamagedFileIsNotReplaced) {
  ASSERT_TRUE(directory_->WriteSecret("link-ca.pem", "something else").ok());
  const auto read = EnsureLinkAuthority(*directory_, kNow);
  EXPECT_EQ(read.code(), ErrorCode::kInvalid);
  EXPECT_NE(read.error().message.find("link-ca.pem"), std::string::npos);
  EXPECT_EQ(*directory_->ReadSecret("link-ca.pem"), "something else");
}

TEST_F(LinkAuthorityTest, SignsTheMemberUntilItExpires) {
  const auto authority = EnsureLinkAuthority(*directory_, kNow);
  ASSERT_TRUE(authority.ok());
  const auto identity = NewMemberIdentity(*authority, MemberId("m1"), kNow);
  ASSERT_TRUE(identity.ok()) << identity.error().message;
  EXPECT_TRUE(tls::CheckPair(identity->certificate, identity->key).ok());
  EXPECT_TRUE(
      tls::CheckIssued(identity->certificate, authority->certificate(), kNow + 24h * 365).ok());
  EXPECT_EQ(NewMemberIdentity(*authority, MemberId("m1"), kNow + 24h * 3660).code(),
            ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace carillon::scheduler
