// The contract of NoticeStore for deliveries and their outcomes.
#pragma once

#include "tests/contract/store/notice_store_contract.h"

namespace carillon::test {

template <typename Factory>
class DeliveryContract : public NoticeStoreContract<Factory> {};
TYPED_TEST_SUITE(DeliveryContract, StoreFactories);

TYPED_TEST(DeliveryContract, DueAreThoseOfTheChannelsAskedForTheLongestDueFirst) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("j", s.Manual());
  for (uint64_t i = 0; i < 3; ++i) {
    const WallTime now = kT0 + i * 10s;
    this->Fail(s, job, fence, now, i + 1);
    ASSERT_OK(s.notices.DecideNotices({this->Told(this->OnlyOpen(s))}, fence, now + 2s));
  }
  const auto due = [&](const std::vector<DeliveryChannel>& channels, size_t limit) {
    return s.v(s.notices.ScanDeliveries(s.All(), channels, kT0 + 1min, limit));
  };
  EXPECT_EQ(due({DeliveryChannel::kWebhook, DeliveryChannel::kMail}, 10).size(), 6u);
  EXPECT_TRUE(due({}, 10).empty());
  const auto mails = due({DeliveryChannel::kMail}, 2);
  ASSERT_EQ(mails.size(), 2u);
  EXPECT_EQ(mails[0].channel, DeliveryChannel::kMail);
  EXPECT_EQ(mails[0].due, kT0 + 2s);
  EXPECT_EQ(mails[1].channel, DeliveryChannel::kMail);
  EXPECT_EQ(mails[1].due, kT0 + 12s);
}

TYPED_TEST(DeliveryContract, ADeliveryIsPutOffThenDoneAndSentAgainWhenAsked) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("j", s.Manual());
  this->Fail(s, job, fence, kT0, 1);
  NoticeDecision decision = this->Told(this->OnlyOpen(s));
  decision.deliveries.resize(1);
  ASSERT_OK(s.notices.DecideNotices({decision}, fence, kT0 + 2s));
  const Delivery made = this->Due(s, kT0 + 2s).at(0);
  ASSERT_OK(s.notices.RecordDelivery({.id = made.id,
                                      .segment = made.segment,
                                      .asked = made.asked,
                                      .state = DeliveryState::kPending,
                                      .attempts = 1,
                                      .due = kT0 + 12s,
                                      .status = 503,
                                      .error = "busy"},
                                     fence, kT0 + 2s));
  EXPECT_TRUE(this->Due(s, kT0 + 11s).empty());
  const Delivery again = this->Due(s, kT0 + 12s).at(0);
  EXPECT_EQ(again.attempts, 1);
  EXPECT_EQ(again.status, 503);
  EXPECT_EQ(again.error, "busy");
  EXPECT_EQ(again.message, made.message);
  ASSERT_OK(s.notices.RecordDelivery({.id = made.id,
                                      .segment = made.segment,
                                      .asked = made.asked,
                                      .state = DeliveryState::kDelivered,
                                      .attempts = 2,
                                      .status = 200},
                                     fence, kT0 + 13s));
  EXPECT_TRUE(this->Due(s, kT0 + 999s).empty());
  EXPECT_EQ(s.v(s.notices.ReadBacklog(s.All())).pending, 0);
  const Delivery listed = s.v(s.notices.ListDeliveries({})).at(0);
  EXPECT_EQ(listed.state, DeliveryState::kDelivered);
  EXPECT_EQ(listed.ended, kT0 + 13s);
  EXPECT_EQ(listed.error, "");
  const Delivery resent = s.v(s.notices.ResendDelivery(made.id, kT0 + 100s));
  EXPECT_EQ(resent.state, DeliveryState::kPending);
  EXPECT_EQ(resent.asked, kT0 + 100s);
  const Delivery due = this->Due(s, kT0 + 100s).at(0);
  EXPECT_EQ(due.message, made.message);
  EXPECT_EQ(due.attempts, 0);
  EXPECT_EQ(due.notice_id, made.notice_id);
  EXPECT_CODE(s.notices.ResendDelivery(made.id + 100, kT0), ErrorCode::kNotFound);
}

TYPED_TEST(DeliveryContract, ATryThatEndsAfterItWasAskedForAnewIsNotTheAnswerToThat) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  this->Fail(s, s.Create("j", s.Manual()), fence, kT0, 1);
  ASSERT_OK(s.notices.DecideNotices({this->Told(this->OnlyOpen(s))}, fence, kT0 + 2s));
  const Delivery made = this->Due(s, kT0 + 2s).at(0);
  s.v(s.notices.ResendDelivery(made.id, kT0 + 3s));
  ASSERT_OK(s.notices.RecordDelivery({.id = made.id,
                                      .segment = made.segment,
                                      .asked = made.asked,
                                      .state = DeliveryState::kDelivered,
                                      .attempts = 1,
                                      .status = 200},
                                     fence, kT0 + 4s));
  const auto due = this->Due(s, kT0 + 4s);
  ASSERT_EQ(due.size(), 2u);
  EXPECT_EQ(due[1].id, made.id);
  EXPECT_EQ(due[1].asked, kT0 + 3s);
  EXPECT_EQ(due[1].attempts, 0);
}

TYPED_TEST(DeliveryContract, AnOldOwnerRecordsNoDelivery) {
  StoreDriver s = this->driver();
  const Fence old = s.Take();
  this->Fail(s, s.Create("j", s.Manual()), old, kT0, 1);
  ASSERT_OK(s.notices.DecideNotices({this->Told(this->OnlyOpen(s))}, old, kT0 + 2s));
  const Delivery made = this->Due(s, kT0 + 2s).at(0);
  s.Take(2);
  EXPECT_CODE(s.notices.RecordDelivery({.id = made.id,
                                        .segment = made.segment,
                                        .asked = made.asked,
                                        .state = DeliveryState::kDelivered},
                                       old, kT0 + 3s),
              ErrorCode::kFenced);
  EXPECT_EQ(this->Due(s, kT0 + 3s).size(), 2u);
}

TYPED_TEST(DeliveryContract, DeliveriesAreListedNewestFirstByFilter) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob b = s.Create("b", s.Manual());
  uint64_t token = 0;
  for (const StoredJob& job : {a, b}) {
    this->Fail(s, job, fence, kT0, ++token);
    ASSERT_OK(s.notices.DecideNotices({this->Told(this->OnlyOpen(s))}, fence, kT0 + 2s));
  }
  const auto list = [&](const DeliveryFilter& filter) {
    std::vector<std::string> found;
    for (const Delivery& one : s.v(s.notices.ListDeliveries(filter))) {
      found.push_back(one.job_id.value() + " " + std::string(Name(one.channel)));
    }
    return found;
  };
  using Found = std::vector<std::string>;
  EXPECT_EQ(list({}), (Found{"b mail", "b webhook", "a mail", "a webhook"}));
  EXPECT_EQ(list({.job_id = JobId("a")}), (Found{"a mail", "a webhook"}));
  EXPECT_EQ(list({.state = DeliveryState::kDelivered}), Found{});
  EXPECT_EQ(list({.state = DeliveryState::kPending, .limit = 1}), Found{"b mail"});
  EXPECT_EQ(list({.kind = NoticeKind::kLate}), Found{});
  EXPECT_EQ(list({.kind = NoticeKind::kFailed, .limit = 3}).size(), 3u);
  const auto first = s.v(s.notices.ListDeliveries({.limit = 1}));
  EXPECT_EQ(list({.before_id = first.at(0).id}).at(0), "b webhook");
}

TYPED_TEST(DeliveryContract, OldOnesGoWithTheHistory) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("j", s.Manual());
  this->Fail(s, job, fence, kT0, 1);
  ASSERT_OK(s.notices.DecideNotices({this->Told(this->OnlyOpen(s))}, fence, kT0 + 2s));
  const auto due = this->Due(s, kT0 + 2s);
  ASSERT_EQ(due.size(), 2u);
  ASSERT_OK(s.notices.RecordDelivery({.id = due[0].id,
                                      .segment = due[0].segment,
                                      .asked = due[0].asked,
                                      .state = DeliveryState::kDelivered},
                                     fence, kT0 + 3s));
  s.v(s.housekeeping.Maintain(kT0 + 48h, {.runs = 24h}));
  const auto kept = s.v(s.notices.ListDeliveries({}));
  ASSERT_EQ(kept.size(), 1u) << "one is under way";
  EXPECT_EQ(kept[0].id, due[1].id);
}

}  // namespace carillon::test
