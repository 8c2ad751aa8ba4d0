#include "scheduler/server/secret_keys.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/support/process_wait.h"

namespace carillon::scheduler {
namespace {

class SecretKeysTest : public ::testing::Test {
 protected:
  // Replaces the file as an administrator does: writes a new file and renames it.
  void Write(const std::string& text, mode_t mode = 0600) {
    const std::string fresh = file_ + ".new";
    test::WriteFile(fresh, text);
    ASSERT_EQ(chmod(fresh.c_str(), mode), 0);
    ASSERT_EQ(rename(fresh.c_str(), file_.c_str()), 0);
  }
  static std::string IdOf(const std::string& key) { return Keyring::Parse(key)->current(); }

  test::ScratchDirectory scratch_;
  const std::string file_ = scratch_ / "secrets.key";
  const std::string first_ = Keyring::NewKey();
  const std::string second_ = Keyring::NewKey();
};

TEST_F(SecretKeysTest, AFileThatChangesIsReadAgain) {
  Write(first_ + "\n");
  const auto keys = SecretKeys::Open({.file = file_});
  ASSERT_TRUE(keys.ok()) << keys.error().message;
  EXPECT_EQ((*keys)->Keys()->current(), IdOf(first_));
  Write(second_ + "\n" + first_ + "\n");
  EXPECT_EQ((*keys)->Keys()->current(), IdOf(second_));
  EXPECT_TRUE((*keys)->Keys()->Has(IdOf(first_)));
}

TEST_F(SecretKeysTest, AFileThatIsNoGoodChangesNothingUntilItIs) {
  Write(first_);
  const auto keys = SecretKeys::Open({.file = file_});
  ASSERT_TRUE(keys.ok());
  Write("no key\n");
  EXPECT_EQ((*keys)->Keys()->current(), IdOf(first_));
  Write(second_, 0640);
  EXPECT_EQ((*keys)->Keys()->current(), IdOf(first_));
  unlink(file_.c_str());
  EXPECT_EQ((*keys)->Keys()->current(), IdOf(first_));
  Write(second_);
  EXPECT_EQ((*keys)->Keys()->current(), IdOf(second_));
}

TEST_F(SecretKeysTest, ABadFileAtTheStartIsRefusedWithoutItsText) {
  EXPECT_EQ(SecretKeys::Open({.file = file_}).code(), ErrorCode::kUnavailable);
  Write(first_, 0644);
  EXPECT_EQ(SecretKeys::Open({.file = file_}).code(), ErrorCode::kDenied);
  Write(first_.substr(4));
  const auto refused = SecretKeys::Open({.file = file_});
  EXPECT_EQ(refused.code(), ErrorCode::kInvalid);
  EXPECT_EQ(refused.error().message.find(first_.substr(8, 8)), std::string::npos);
}

TEST_F(SecretKeysTest, OrTheyComeFromTheEnvironment) {
  const auto keys = SecretKeys::Open({.environment = second_ + "," + first_});
  ASSERT_TRUE(keys.ok());
  EXPECT_EQ((*keys)->Keys()->current(), IdOf(second_));
  EXPECT_TRUE((*keys)->Keys()->Has(IdOf(first_)));
  EXPECT_EQ(SecretKeys::Open({.environment = "no key"}).code(), ErrorCode::kInvalid);
  Write(first_);
  EXPECT_EQ(SecretKeys::Open({.file = file_, .environment = first_}).code(), ErrorCode::kInvalid);
  EXPECT_EQ(SecretKeys::Open({}).value()->Keys(), nullptr);
}

TEST_F(SecretKeysTest, TheVariableIsNotInherited) {
  ASSERT_EQ(setenv("CARILLON_SECRETS_KEY", first_.c_str(), 1), 0);
  EXPECT_EQ(TakeSecretsEnvironment(), first_);
  EXPECT_EQ(getenv("CARILLON_SECRETS_KEY"), nullptr);
  EXPECT_EQ(TakeSecretsEnvironment(), "");
}

TEST_F(SecretKeysTest, ADirectoryGetsItsKeyOnce) {
  const auto directory = process::DataDirectory::Open(scratch_ / "data");
  ASSERT_TRUE(directory.ok());
  const auto made = EnsureSecretKeyFile(**directory);
  ASSERT_TRUE(made.ok());
  struct stat status {};
  ASSERT_EQ(stat(made->c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  const std::string text = test::ReadFile(*made);
  ASSERT_TRUE(EnsureSecretKeyFile(**directory).ok());
  EXPECT_EQ(test::ReadFile(*made), text);
  EXPECT_TRUE(SecretKeys::Open({.file = *made}).ok());
}

}  // namespace
}  // namespace carillon::scheduler
