#include "common/wire/messages/signature.h"

#include <gtest/gtest.h>

#include "tests/unit/common/wire/wire_samples.h"

namespace carillon::signature_test {
namespace {

const ExecutorId kSelf("executor-1");
const Incarnation kIncarnation("5f2a");
const WallTime kNow = FromUnixMicros(1'700'000'000'000'000);

Signer SignerOf(unsigned char fill) {
  std::array<unsigned char, 32> seed{};
  seed.fill(fill);
  return Signer::FromSeed(seed);
}

class SealedTasksTest : public ::testing::Test {
 protected:
  SealedTasksTest() {
    Rng rng(1);
    tasks_ = {test::RandomTask(rng), test::RandomTask(rng)};
    record_ = SealTasks(tasks_, {kSelf, kIncarnation, kNow + 5s}, signer_);
  }
  Rejection Open() const { return OpenAt(kNow); }
  Rejection OpenAt(WallTime now) const {
    const OpenedTasks opened = OpenTasks(record_, kSelf, kIncarnation, now, {signer_.public_key()});
    EXPECT_EQ(opened.tasks.empty(), opened.rejection != Rejection::kNone);
    return opened.rejection;
  }

  const Signer signer_ = SignerOf(7);
  std::vector<TaskMessage> tasks_;
  BusRecord record_;
};

TEST_F(SealedTasksTest, OpensWhatWasSealed) {
  const OpenedTasks opened = OpenTasks(record_, kSelf, kIncarnation, kNow, {signer_.public_key()});
  EXPECT_EQ(opened.rejection, Rejection::kNone);
  EXPECT_EQ(opened.tasks, tasks_);
}

TEST_F(SealedTasksTest, AnyOfTheKnownKeysWillDo) {
  EXPECT_EQ(OpenTasks(record_, kSelf, kIncarnation, kNow,
                      {SignerOf(1).public_key(), "short", signer_.public_key()})
                .rejection,
            Rejection::kNone);
}

TEST_F(SealedTasksTest, RecordForAnotherExecutorIsNotOurs) {
  record_.headers["carillon-target"] = "executor-2";
  EXPECT_EQ(Open(), Rejection::kOtherExecutor);
}

TEST_F(SealedTasksTest, RecordForAnEarlierStartOfThisExecutorIsRefused) {
  record_ = SealTasks(tasks_, {kSelf, Incarnation("0000"), kNow + 5s}, signer_);
  EXPECT_EQ(Open(), Rejection::kOtherIncarnation);
}

TEST_F(SealedTasksTest, ExpiryCountsFromItsInstantOn) {
  EXPECT_EQ(OpenAt(kNow + 5s - 1us), Rejection::kNone);
  EXPECT_EQ(OpenAt(kNow + 5s), Rejection::kExpired);
}

TEST_F(SealedTasksTest, RetargetedRecordIsRefused) {
  record_ = SealTasks(tasks_, {ExecutorId("executor-2"), kIncarnation, kNow + 5s}, signer_);
  record_.headers["carillon-target"] = kSelf.value();
  EXPECT_EQ(Open(), Rejection::kBadSignature);
}

TEST_F(SealedTasksTest, RecordReadressedToThisIncarnationIsRefused) {
  record_ = SealTasks(tasks_, {kSelf, Incarnation("0000"), kNow + 5s}, signer_);
  record_.headers["carillon-incarnation"] = kIncarnation.value();
  EXPECT_EQ(Open(), Rejection::kBadSignature);
}

TEST_F(SealedTasksTest, ProlongedRecordIsRefused) {
  record_.headers["carillon-expires-us"] = std::to_string(ToUnixMicros(kNow + 1h));
  EXPECT_EQ(Open(), Rejection::kBadSignature);
}

TEST_F(SealedTasksTest, EveryAlteredByteOfThePayloadIsNoticed) {
  const std::string payload = record_.payload;
  for (size_t i = 0; i < payload.size(); ++i) {
    record_.payload = payload;
    record_.payload[i] = static_cast<char>(record_.payload[i] ^ 1);
    ASSERT_EQ(Open(), Rejection::kBadSignature) << "byte " << i;
  }
}

TEST_F(SealedTasksTest, ForgedRecordIsRefused) {
  record_ = SealTasks(tasks_, {kSelf, kIncarnation, kNow + 5s}, SignerOf(9));
  EXPECT_EQ(Open(), Rejection::kBadSignature);
}

TEST_F(SealedTasksTest, WithoutKeysNothingIsTrusted) {
  EXPECT_EQ(OpenTasks(record_, kSelf, kIncarnation, kNow, {}).rejection, Rejection::kBadSignature);
}

TEST_F(SealedTasksTest, MissingOrUnreadableHeadersAreRefused) {
  const BusRecord sealed = record_;
  for (const auto& [name, value] : sealed.headers) {
    record_ = sealed;
    record_.headers.erase(name);
    EXPECT_EQ(Open(), Rejection::kBadHeaders) << name;
  }
  for (const auto& [name, value] :
       {std::pair{"carillon-expires-us", "soon"}, std::pair{"carillon-expires-us", "-1"},
        std::pair{"carillon-expires-us", "99999999999999999999"},
        std::pair{"carillon-signature", "abcd"}, std::pair{"carillon-signature", ""}}) {
    record_ = sealed;
    record_.headers[name] = value;
    EXPECT_EQ(Open(), Rejection::kBadHeaders) << name << '=' << value;
  }
}

TEST_F(SealedTasksTest, ATaskThatCannotBeReadIsLeftOut) {
  tasks_[0].attempt = 0;
  record_ = SealTasks(tasks_, {kSelf, kIncarnation, kNow + 5s}, signer_);
  const OpenedTasks opened = OpenTasks(record_, kSelf, kIncarnation, kNow, {signer_.public_key()});
  EXPECT_EQ(opened.rejection, Rejection::kNone);
  EXPECT_EQ(opened.tasks, std::vector<TaskMessage>{tasks_[1]});
  EXPECT_EQ(opened.unreadable.size(), 1u);
}

TEST(SignerTest, SeedDecidesTheKey) {
  EXPECT_EQ(SignerOf(1).public_key(), SignerOf(1).public_key());
  EXPECT_NE(SignerOf(1).public_key(), SignerOf(2).public_key());
  EXPECT_NE(Signer::Generate().public_key(), Signer::Generate().public_key());
}

// RFC 8032, section 7.1, test 2.
TEST(SignerTest, AgreesWithThePublishedVector) {
  const std::array<unsigned char, 32> seed = {0x4c, 0xcd, 0x08, 0x9b, 0x28, 0xff, 0x96, 0xda,
                                              0x9d, 0xb6, 0xc3, 0x46, 0xec, 0x11, 0x4e, 0x0f,
                                              0x5b, 0x8a, 0x31, 0x9f, 0x35, 0xab, 0xa6, 0x24,
                                              0xda, 0x8c, 0xf6, 0xed, 0x4f, 0xb8, 0xa6, 0xfb};
  const Signer signer = Signer::FromSeed(seed);
  const std::string signature = signer.Sign("\x72");
  EXPECT_EQ(static_cast<unsigned char>(signature[0]), 0x92);
  EXPECT_EQ(static_cast<unsigned char>(signature[1]), 0xa0);
  EXPECT_EQ(static_cast<unsigned char>(signature[63]), 0x00);
  EXPECT_EQ(static_cast<unsigned char>(signature[62]), 0x0c);
  EXPECT_TRUE(VerifySignature(signer.public_key(), "\x72", signature));
  EXPECT_FALSE(VerifySignature(signer.public_key(), "\x73", signature));
  EXPECT_FALSE(VerifySignature(signer.public_key(), "\x72", signature.substr(1)));
  EXPECT_FALSE(VerifySignature("", "\x72", signature));
}

}  // namespace
}  // namespace carillon::signature_test
