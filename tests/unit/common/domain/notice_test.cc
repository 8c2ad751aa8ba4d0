#include "common/domain/notice.h"

#include <gtest/gtest.h>

namespace carillon {
namespace {

constexpr WallTime kT = FromUnixMicros(1'772'323'200'000'000);

TEST(NoticeTest, KindsAreReadFromAList) {
  const auto kinds = ParseNoticeKinds("failed, late,recovered,");
  ASSERT_TRUE(kinds.ok());
  EXPECT_EQ(*kinds, (std::vector<NoticeKind>{NoticeKind::kFailed, NoticeKind::kLate,
                                             NoticeKind::kRecovered}));
  EXPECT_TRUE(ParseNoticeKinds("")->empty());
  EXPECT_FALSE(ParseNoticeKinds("failed,Late").ok());
}

TEST(NoticeTest, AJobsListTakesThePlaceOfTheClusters) {
  const NotifyDefaults defaults{.on = {NoticeKind::kFailed, NoticeKind::kLate}, .late_after = 5min};
  EXPECT_TRUE(IsWanted(NoticeKind::kFailed, {}, defaults));
  EXPECT_FALSE(IsWanted(NoticeKind::kRecovered, {}, defaults));
  EXPECT_FALSE(IsWanted(NoticeKind::kFailed, {.on = std::vector<NoticeKind>{}}, defaults));
  const NotifyRules rules{.on = std::vector{NoticeKind::kRecovered}, .late_after_s = 7};
  EXPECT_TRUE(IsWanted(NoticeKind::kRecovered, rules, defaults));
  EXPECT_FALSE(IsWanted(NoticeKind::kFailed, rules, defaults));
  EXPECT_EQ(LateNoticeAfter({}, defaults), Duration(5min));
  EXPECT_EQ(LateNoticeAfter({.late_after_s = 7}, defaults), Duration(7s));
  EXPECT_EQ(LateNoticeAfter(rules, defaults), Duration::zero()) << "late is not wanted";
}

TEST(NoticeTest, SheddingIsOfTheClusterAndNoChoiceOfAJob) {
  const NotifyDefaults defaults{.on = {NoticeKind::kShed}};
  EXPECT_TRUE(IsWanted(NoticeKind::kShed, {.on = std::vector<NoticeKind>{}}, defaults));
  EXPECT_FALSE(IsWanted(NoticeKind::kShed, {}, {.on = {NoticeKind::kFailed}}));
  const Status refused =
      ValidateNotify({.on = std::vector{NoticeKind::kFailed, NoticeKind::kShed}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().pointer, "/notify/on/1");
}

TEST(NoticeTest, OneOfAKindIsToldInATime) {
  EXPECT_EQ(DecideNotice(NoticeKind::kFailed, {}, 1h, kT), NoticeVerdict::kTell);
  const NoticeMemory memory{.told = kT, .held_back = 3};
  EXPECT_EQ(DecideNotice(NoticeKind::kFailed, memory, 1h, kT + 1h - 1us), NoticeVerdict::kHoldBack);
  EXPECT_EQ(DecideNotice(NoticeKind::kFailed, memory, 1h, kT + 1h), NoticeVerdict::kTell);
  EXPECT_EQ(DecideNotice(NoticeKind::kRecovered, memory, 1h, kT + 1s), NoticeVerdict::kTell);
  EXPECT_EQ(DecideNotice(NoticeKind::kApproval, memory, 1h, kT + 1s), NoticeVerdict::kTell);
  EXPECT_EQ(DecideNotice(NoticeKind::kLate, memory, Duration::zero(), kT), NoticeVerdict::kTell);
}

TEST(NoticeTest, AFailureAfterARecoveryIsToldAgainButNotMoreThanOnceAMinute) {
  const NoticeMemory memory{.told = kT, .recovered = true};
  const auto decide = [&](Duration repeat_after, Duration later) {
    return DecideNotice(NoticeKind::kFailed, memory, repeat_after, kT + later);
  };
  EXPECT_EQ(decide(1h, 1min - 1us), NoticeVerdict::kHoldBack);
  EXPECT_EQ(decide(1h, 1min), NoticeVerdict::kTell);
  EXPECT_EQ(decide(10s, 10s), NoticeVerdict::kTell) << "who wants more gets more";
}

TEST(NoticeTest, TriesGrowRarerAndEndAfterADay) {
  const auto wait = [](int attempts) { return *NextDelivery(attempts, kT, kT) - kT; };
  EXPECT_EQ(wait(1), Duration(10s));
  EXPECT_EQ(wait(2), Duration(30s));
  EXPECT_EQ(wait(3), Duration(90s));
  EXPECT_EQ(wait(7), Duration(1h));
  EXPECT_EQ(wait(1'000'000), Duration(1h));
  EXPECT_TRUE(NextDelivery(30, kT, kT + 24h - 1us).has_value());
  EXPECT_FALSE(NextDelivery(1, kT, kT + 24h).has_value());
}

TEST(NoticeTest, AddressesCannotCarryAnythingElse) {
  for (const char* good : {"a@b", "first.last+tag@mail.example.org", "o'neil@x.example"}) {
    EXPECT_TRUE(IsMailAddress(good)) << good;
  }
  for (const char* bad : {"", "a", "@b", "a@", "a b@c", "a@b c", "a@b\r\nBcc: x@y", "a@b,c@d",
                          "<a@b>", "a@b@c", "-a@b", "\xc3\xbc@b", "a@b;c", "\"a\"@b"}) {
    EXPECT_FALSE(IsMailAddress(bad)) << bad;
  }
  EXPECT_FALSE(IsMailAddress("a@" + std::string(300, 'b')));
}

TEST(NoticeTest, RulesHaveBounds) {
  const auto pointer = [](const NotifyRules& rules) {
    const Status status = ValidateNotify(rules);
    return status.ok() ? std::string("ok") : status.error().pointer;
  };
  EXPECT_EQ(pointer({}), "ok");
  EXPECT_EQ(pointer({.on = std::vector{NoticeKind::kLate, NoticeKind::kLate}}), "/notify/on/1");
  EXPECT_EQ(pointer({.late_after_s = 0}), "/notify/late_after_s");
  EXPECT_EQ(pointer({.late_after_s = 604'801}), "/notify/late_after_s");
  EXPECT_EQ(pointer({.mail_to = {"a@b", "b"}}), "/notify/mail_to/1");
  EXPECT_EQ(pointer({.mail_to = std::vector<std::string>(21, "a@b")}), "/notify/mail_to");
}

}  // namespace
}  // namespace carillon
