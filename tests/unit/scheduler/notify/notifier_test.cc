#include "scheduler/notify/notifier.h"

#include <algorithm>

#include "scheduler/notify/late_watch.h"
#include "tests/unit/scheduler/notify/notice_doubles.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

constexpr const char* kSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

std::string HeaderOf(const NoticePost& post, const std::string& name) {
  for (const auto& [key, value] : post.headers) {
    if (key == name) return value;
  }
  return {};
}

struct FakeSecrets : NotifySecrets {
  Result<std::string> WebhookSecrets() const override { return webhook; }
  Result<std::string> MailPassword() const override { return std::string("password"); }

  Result<std::string> webhook = std::string(kSecret);
};

class NotifierTest : public test::RoomTest {
 protected:
  static NotifyOptions Both() {
    NotifyOptions options{.webhook_url = "http://127.0.0.1:1/hook",
                          .mail_server = "127.0.0.1:25",
                          .mail_from = "c@d.example"};
    options.defaults = {
        .on = {NoticeKind::kFailed, NoticeKind::kMissed, NoticeKind::kLate, NoticeKind::kRecovered},
        .late_after = 1min,
        .repeat_after = 1h,
        .mail_to = {"a@b.example"}};
    return options;
  }
  static NotifyOptions OnlyWebhook() {
    NotifyOptions options = Both();
    options.mail_server.clear();
    return options;
  }
  void Use(NotifyOptions options) {
    sender_ = std::make_unique<NoticeSender>(clock_, transport_, secrets_, std::move(options));
    notifier_ = std::make_unique<Notifier>(Notifier::Ports{.clock = clock_,
                                                           .store = faults_.notices,
                                                           .cluster = cluster_,
                                                           .segments = table_,
                                                           .fences = fences_,
                                                           .sender = *sender_,
                                                           .metrics = metrics_});
    notifier_->SetConsoleUrl("http://here");
  }
  // Steps until the notifier waits.
  void Settle() {
    SampleClock();
    for (int i = 0; i < 1000; ++i) {
      if (notifier_->Step(clock_.Steady()) > clock_.Steady()) return;
    }
    FAIL() << "it does not come to rest";
  }
  void AdvanceAndSettle(Duration by) {
    clock_.Advance(by);
    Settle();
  }
  void End(const StoredJob& job, RunState state) {
    const RunRow row = Execute(job);
    Claim(row, ++token_);
    ResultReport report{.key = row.key,
                        .segment = row.segment,
                        .job_no = row.job_no,
                        .attempt = row.attempt,
                        .token = {1, token_},
                        .executor = ExecutorId("x1")};
    clock_.Advance(1ms);
    report.result = {.state = state, .ended = clock_.Wall()};
    const auto effects = stores_.firing.ApplyResults(
        {report}, table_.View()->FenceFor({row.segment}), clock_.Wall());
    ASSERT_TRUE(effects.ok());
  }
  std::vector<Delivery> Deliveries() {
    auto all = stores_.notices.ListDeliveries({.limit = 1000}).value();
    std::reverse(all.begin(), all.end());
    return all;
  }
  double Count(const std::string& name, const std::string& label) {
    return static_cast<double>(metrics_.counter(name, label).value());
  }

  FakeTransport transport_;
  FakeSecrets secrets_;
  std::unique_ptr<NoticeSender> sender_;
  std::unique_ptr<Notifier> notifier_;
  uint64_t token_ = 0;
};

TEST_F(NotifierTest, ChannelsAreSeenAsTheLastNoticeFoundThem) {
  Use(OnlyWebhook());
  ASSERT_EQ(sender_->Channels().size(), 1u) << "those that are set up";
  EXPECT_EQ(sender_->Channels()[0].last, std::nullopt);
  transport_.webhook_answer = 503;
  sender_->SendTest();
  EXPECT_EQ(sender_->Channels()[0].last, SendVerdict::kTryAgain);
  clock_.Advance(1s);
  transport_.webhook_answer = 204;
  EXPECT_EQ(sender_->Send({.channel = DeliveryChannel::kWebhook}).verdict, SendVerdict::kDelivered);
  EXPECT_EQ(sender_->Channels()[0].last, SendVerdict::kDelivered);
  EXPECT_EQ(sender_->Channels()[0].at, clock_.Wall());
}

TEST_F(NotifierTest, AFailureGoesThroughBothChannelsOnce) {
  Use(Both());
  const StoredJob job = CreateNoop("job");
  End(job, RunState::kCompleted);
  End(job, RunState::kFailed);
  Settle();
  AdvanceAndSettle(1h);
  ASSERT_EQ(transport_.posts.size(), 1u);
  ASSERT_EQ(transport_.mails.size(), 1u);
  const NoticePost& post = transport_.posts[0];
  EXPECT_EQ(post.url, "http://127.0.0.1:1/hook");
  EXPECT_NE(post.body.find("run.failed"), std::string::npos);
  EXPECT_NE(post.body.find("http://here/runs/"), std::string::npos);
  const Delivery delivery = Deliveries().at(0);
  EXPECT_EQ(HeaderOf(post, "webhook-id"), NoticeIdText(delivery.notice_id));
  EXPECT_TRUE(HeaderOf(post, "webhook-signature").starts_with("v1,"));
  EXPECT_EQ(transport_.mails[0].to, std::vector<std::string>{"a@b.example"});
  for (const Delivery& one : Deliveries()) EXPECT_EQ(one.state, DeliveryState::kDelivered);
}

TEST_F(NotifierTest, WhatFailsIsTriedAgainLaterAndTheSame) {
  Use(OnlyWebhook());
  transport_.webhook_answer = 503;
  End(CreateNoop("job"), RunState::kFailed);
  Settle();
  AdvanceAndSettle(9s);
  ASSERT_EQ(transport_.posts.size(), 1u);
  EXPECT_EQ(Deliveries().at(0).status, 503);
  AdvanceAndSettle(1s);
  ASSERT_EQ(transport_.posts.size(), 2u);
  transport_.webhook_answer = 204;
  AdvanceAndSettle(30s);
  ASSERT_EQ(transport_.posts.size(), 3u);
  AdvanceAndSettle(24h);
  EXPECT_EQ(transport_.posts.size(), 3u);
  EXPECT_EQ(transport_.posts[0].body, transport_.posts[2].body);
  EXPECT_EQ(HeaderOf(transport_.posts[0], "webhook-id"),
            HeaderOf(transport_.posts[2], "webhook-id"));
  EXPECT_EQ(Deliveries().at(0).attempts, 3);
}

TEST_F(NotifierTest, AStoreThatForgetsDoesNotMakeItComeAgain) {
  Use(OnlyWebhook());
  faults_.plan.Arm("RecordDelivery", ErrorCode::kUnavailable, 3);
  End(CreateNoop("job"), RunState::kFailed);
  Settle();
  for (int i = 0; i < 5; ++i) AdvanceAndSettle(1s);
  EXPECT_EQ(transport_.posts.size(), 1u);
  EXPECT_EQ(Deliveries().at(0).state, DeliveryState::kDelivered);
}

TEST_F(NotifierTest, AWriteWithoutAnAnswerDoesNotSuspendTheFiring) {
  Use(OnlyWebhook());
  faults_.plan.Arm("RecordDelivery", ErrorCode::kTimeout);
  End(CreateNoop("job"), RunState::kFailed);
  const auto owned = table_.View()->ActiveSegments();
  Settle();
  EXPECT_EQ(table_.View()->ActiveSegments(), owned);
  EXPECT_EQ(Count("carillon_store_errors_total", "timeout"), 1);
}

TEST_F(NotifierTest, AWriteThatIsFencedOffLooksWhoseTheSegmentsAre) {
  Use(OnlyWebhook());
  transport_.during_post = [this] { TakeAll("m2"); };
  End(CreateNoop("job"), RunState::kFailed);
  Settle();
  EXPECT_EQ(table_.View()->Find(Deliveries().at(0).segment), nullptr);
}

TEST_F(NotifierTest, WhatIsAskedForAnewIsSentThoughTheLastTryWasNotRecorded) {
  Use(OnlyWebhook());
  faults_.plan.Arm("RecordDelivery", ErrorCode::kUnavailable);
  End(CreateNoop("job"), RunState::kFailed);
  Settle();
  ASSERT_EQ(transport_.posts.size(), 1u);
  clock_.Advance(1ms);
  ASSERT_TRUE(stores_.notices.ResendDelivery(Deliveries().at(0).id, clock_.Wall()).ok());
  AdvanceAndSettle(1s);
  EXPECT_EQ(transport_.posts.size(), 2u);
  EXPECT_EQ(Deliveries().at(0).state, DeliveryState::kDelivered);
}

TEST_F(NotifierTest, WhatIsAskedForAnewDuringATryIsSentAgain) {
  Use(OnlyWebhook());
  transport_.during_post = [this] {
    clock_.Advance(1ms);
    ASSERT_TRUE(stores_.notices.ResendDelivery(Deliveries().at(0).id, clock_.Wall()).ok());
    transport_.during_post = nullptr;
  };
  End(CreateNoop("job"), RunState::kFailed);
  Settle();
  AdvanceAndSettle(1s);
  EXPECT_EQ(transport_.posts.size(), 2u);
  EXPECT_EQ(Deliveries().at(0).state, DeliveryState::kDelivered);
}

TEST_F(NotifierTest, WordsOfAServerAreKeptAsUtf8) {
  Use(OnlyWebhook());
  transport_.webhook_answer = Error{ErrorCode::kUnavailable, "no \xff " + std::string(1000, 'x')};
  End(CreateNoop("job"), RunState::kFailed);
  Settle();
  const std::string error = Deliveries().at(0).error;
  EXPECT_TRUE(error.starts_with("no \xef\xbf\xbd x")) << error;
  EXPECT_LT(error.size(), 600u);
}

TEST_F(NotifierTest, WhatWasFoundUnderAnEarlierEpochIsLookedAtAgain) {
  Use(OnlyWebhook());
  for (int i = 0; i < 3; ++i) End(CreateNoop("job" + std::to_string(i)), RunState::kFailed);
  SampleClock();
  notifier_->Step(clock_.Steady());
  ASSERT_EQ(transport_.posts.size(), 1u);
  const auto view = table_.View();
  table_.Drop(view->FenceFor(view->Segments()), DropCause::kReassigned);
  TakeAll();
  for (int i = 0; i < 3; ++i) notifier_->Step(clock_.Steady());
  EXPECT_EQ(transport_.posts.size(), 1u);
  AdvanceAndSettle(1s);
  EXPECT_EQ(transport_.posts.size(), 3u);
}

TEST_F(NotifierTest, ItIsGivenUpAfterADayOrWhenTheReceiverIsGone) {
  Use(OnlyWebhook());
  transport_.webhook_answer = 500;
  const StoredJob job = CreateNoop("job");
  End(job, RunState::kFailed);
  for (int hour = 0; hour < 26; ++hour) AdvanceAndSettle(1h);
  EXPECT_EQ(Deliveries().at(0).state, DeliveryState::kGivenUp);
  const size_t tried = transport_.posts.size();
  AdvanceAndSettle(5h);
  EXPECT_EQ(transport_.posts.size(), tried);
  transport_.webhook_answer = 410;
  End(job, RunState::kFailed);
  Settle();
  AdvanceAndSettle(1s);
  EXPECT_EQ(Deliveries().at(1).state, DeliveryState::kGivenUp);
  EXPECT_EQ(Deliveries().at(1).attempts, 1);
  ASSERT_TRUE(stores_.notices.ResendDelivery(Deliveries().at(0).id, clock_.Wall()).ok());
  transport_.webhook_answer = 200;
  AdvanceAndSettle(1s);
  EXPECT_EQ(Deliveries().at(0).state, DeliveryState::kDelivered);
}

TEST_F(NotifierTest, AChannelWithoutAnAnswerRestsAndKeepsNobodyElseBack) {
  Use(Both());
  transport_.webhook_answer = Error{ErrorCode::kTimeout, "test"};
  for (int i = 0; i < 5; ++i) End(CreateNoop("job" + std::to_string(i)), RunState::kFailed);
  Settle();
  EXPECT_EQ(transport_.posts.size(), 1u);
  EXPECT_EQ(transport_.mails.size(), 5u);
  transport_.webhook_answer = 200;
  AdvanceAndSettle(5s);
  EXPECT_EQ(transport_.posts.size(), 5u) << "those that waited are not tries";
  AdvanceAndSettle(5s);
  EXPECT_EQ(transport_.posts.size(), 6u);
}

TEST_F(NotifierTest, MoreThanABatchThatWaitsForAChannelKeepsNobodyElseBack) {
  constexpr size_t kJobs = 3 * Notifier::kBatch;
  Use(Both());
  transport_.webhook_answer = Error{ErrorCode::kTimeout, "test"};
  for (size_t i = 0; i < kJobs; ++i) {
    End(CreateNoop("job" + std::to_string(i)), RunState::kFailed);
  }
  Settle();
  for (int i = 0; i < 10; ++i) AdvanceAndSettle(1s);
  EXPECT_EQ(transport_.mails.size(), kJobs);
  EXPECT_LE(transport_.posts.size(), 3u);
}

TEST_F(NotifierTest, ManyFailuresOfAJobAreOneMessageAnHour) {
  Use(OnlyWebhook());
  const StoredJob job = CreateNoop("job");
  for (int i = 0; i < 130; ++i) End(job, RunState::kFailed);  // more than a batch
  End(CreateNoop("other"), RunState::kFailed);
  Settle();
  AdvanceAndSettle(10s);
  ASSERT_EQ(transport_.posts.size(), 2u);
  EXPECT_NE(transport_.posts[0].body.find("\"held_back\":0"), std::string::npos);
  AdvanceAndSettle(59min);
  End(job, RunState::kFailed);
  AdvanceAndSettle(1s);
  EXPECT_EQ(transport_.posts.size(), 2u);
  AdvanceAndSettle(1min);
  End(job, RunState::kFailed);
  AdvanceAndSettle(1s);
  ASSERT_EQ(transport_.posts.size(), 3u);
  EXPECT_NE(transport_.posts[2].body.find("\"held_back\":130"), std::string::npos)
      << transport_.posts[2].body;
  EXPECT_EQ(Count("carillon_notices_total", "held_back"), 130);
}

TEST_F(NotifierTest, ASuccessAfterAToldFailureIsToldOnce) {
  Use(OnlyWebhook());
  const StoredJob job = CreateNoop("job");
  End(job, RunState::kFailed);
  Settle();
  clock_.Advance(1s);
  End(job, RunState::kCompleted);
  End(job, RunState::kCompleted);
  AdvanceAndSettle(Notifier::kRecoveryEvery);
  AdvanceAndSettle(Notifier::kRecoveryEvery);
  ASSERT_EQ(transport_.posts.size(), 2u);
  EXPECT_NE(transport_.posts[1].body.find("run.recovered"), std::string::npos);
  AdvanceAndSettle(1h);
  End(job, RunState::kCompleted);
  AdvanceAndSettle(1h);
  EXPECT_EQ(transport_.posts.size(), 2u);
}

TEST_F(NotifierTest, AFailureAfterARecoveryIsToldWithinTheHour) {
  Use(OnlyWebhook());
  const StoredJob job = CreateNoop("job");
  for (const RunState state : {RunState::kFailed, RunState::kCompleted, RunState::kFailed}) {
    End(job, state);
    AdvanceAndSettle(Notifier::kRecoveryEvery);
    AdvanceAndSettle(5min);
  }
  ASSERT_EQ(transport_.posts.size(), 3u);
  EXPECT_NE(transport_.posts[1].body.find("run.recovered"), std::string::npos);
  EXPECT_NE(transport_.posts[2].body.find("run.failed"), std::string::npos);
}

TEST_F(NotifierTest, AFlappingJobIsToldToFailOnceAMinute) {
  Use(OnlyWebhook());
  const StoredJob job = CreateNoop("job");
  constexpr int kRounds = 30;  // ten seconds each
  for (int i = 0; i < kRounds; ++i) {
    End(job, RunState::kFailed);
    AdvanceAndSettle(Notifier::kRecoveryEvery);
    End(job, RunState::kCompleted);
    AdvanceAndSettle(Notifier::kRecoveryEvery);
  }
  int failures = 0;
  for (const NoticePost& post : transport_.posts) {
    if (post.body.find("run.failed") != std::string::npos) ++failures;
  }
  EXPECT_EQ(failures, kRounds * 10 / 60);
  EXPECT_EQ(transport_.posts.size(), 2u * static_cast<size_t>(failures));
}

TEST_F(NotifierTest, NobodyIsToldWhatNobodyWants) {
  NotifyOptions options = OnlyWebhook();
  options.defaults.on = {NoticeKind::kLate};
  Use(options);
  End(CreateNoop("quiet"), RunState::kFailed);
  JobDefinition loud;
  loud.type = JobType::kNoop;
  loud.notify.on = std::vector{NoticeKind::kFailed};
  End(CreateJob("loud", loud), RunState::kFailed);
  Settle();
  ASSERT_EQ(transport_.posts.size(), 1u);
  EXPECT_NE(transport_.posts[0].body.find("loud"), std::string::npos);
  EXPECT_TRUE(stores_.notices.ScanNotices(table_.View()->ActiveSegments(), 10)->empty());
  EXPECT_EQ(Count("carillon_notices_total", "unwanted"), 1);
}

TEST_F(NotifierTest, WithoutChannelsNoticesDoNotPileUp) {
  Use({});
  End(CreateNoop("job"), RunState::kFailed);
  Settle();
  EXPECT_TRUE(stores_.notices.ScanNotices(table_.View()->ActiveSegments(), 10)->empty());
  EXPECT_TRUE(Deliveries().empty());
}

TEST_F(NotifierTest, WithNobodyToMailToItIsNotTold) {
  NotifyOptions options = Both();
  options.webhook_url.clear();
  options.defaults.mail_to.clear();
  Use(options);
  const StoredJob job = CreateNoop("job");
  End(job, RunState::kFailed);
  Settle();
  EXPECT_EQ(Count("carillon_notices_total", "unwanted"), 1);
  EXPECT_EQ(Count("carillon_notices_total", "told"), 0);
  JobDefinition mailed = job.definition;
  mailed.notify.mail_to = {"a@b.example"};
  ASSERT_TRUE(
      stores_.jobs.ReplaceJob(job.job_id, job.version, mailed, {.now = clock_.Wall()}).ok());
  End(job, RunState::kFailed);
  AdvanceAndSettle(1s);
  EXPECT_EQ(transport_.mails.size(), 1u) << "nothing was told before";
}

TEST_F(NotifierTest, AnotherOwnersNoticesAreLeftAlone) {
  Use(OnlyWebhook());
  End(CreateNoop("job"), RunState::kFailed);
  TakeAll("m2");
  Settle();
  EXPECT_TRUE(transport_.posts.empty());
  EXPECT_TRUE(Deliveries().empty());
  TakeAll();
  AdvanceAndSettle(1s);
  EXPECT_EQ(transport_.posts.size(), 1u);
}

TEST_F(NotifierTest, AMissingSecretIsAFailedTryNotAnUnsignedMessage) {
  secrets_.webhook = Error{ErrorCode::kUnavailable, "cannot be read"};
  Use(OnlyWebhook());
  End(CreateNoop("job"), RunState::kFailed);
  Settle();
  EXPECT_TRUE(transport_.posts.empty());
  EXPECT_EQ(Deliveries().at(0).error, "cannot be read");
  EXPECT_EQ(Deliveries().at(0).attempts, 1);
}

TEST_F(NotifierTest, RunsAreNotLateBeforeTheyAreDue) {
  Use(OnlyWebhook());
  LateWatch watch({.firing = stores_.firing,
                   .notices = stores_.notices,
                   .cluster = cluster_,
                   .segments = table_,
                   .fences = fences_,
                   .metrics = metrics_},
                  [](const std::vector<const RunRow*>& runs) {
                    return std::vector<Duration>(runs.size(), 10s);
                  });
  const auto look = [&](Duration by) {
    clock_.Advance(by);
    SampleClock();
    watch.Step(clock_.Steady());
    Settle();
  };
  const StoredJob job = CreateRate("job", 24h);
  const ScheduleId id = job.schedules[0].schedule_id;
  const WallTime fire = clock_.Wall() + 24h;
  const WallTime due = fire + 30min;
  ASSERT_TRUE(stores_.firing
                  .Plan({.runs = {{.key = {.fire = fire, .schedule_id = id},
                                   .job_no = job.job_no,
                                   .segment = job.segment,
                                   .due = due,
                                   .def_version = job.version}},
                         .advances = {{.schedule_id = id,
                                       .segment = job.segment,
                                       .version = 1,
                                       .expected_next = fire,
                                       .next_fire = fire + 24h}}},
                        table_.View()->FenceFor({job.segment}), clock_.Wall())
                  .ok());
  look(24h + 29min);
  EXPECT_TRUE(transport_.posts.empty());
  look(1min + 11s);
  ASSERT_EQ(transport_.posts.size(), 1u);
  EXPECT_NE(transport_.posts[0].body.find("run.late"), std::string::npos);
}

TEST_F(NotifierTest, RunsThatWaitTooLongAreLateOnce) {
  Use(OnlyWebhook());
  int asked = 0;
  LateWatch watch({.firing = stores_.firing,
                   .notices = stores_.notices,
                   .cluster = cluster_,
                   .segments = table_,
                   .fences = fences_,
                   .metrics = metrics_},
                  [&asked](const std::vector<const RunRow*>& runs) {
                    asked += static_cast<int>(runs.size());
                    return std::vector<Duration>(runs.size(), 10s);
                  });
  const auto look = [&](Duration by) {
    clock_.Advance(by);
    SampleClock();
    watch.Step(clock_.Steady());
    Settle();
  };
  const RunRow row = Execute(CreateNoop("job"));
  look(5s);
  EXPECT_TRUE(transport_.posts.empty());
  look(6s);
  ASSERT_EQ(transport_.posts.size(), 1u);
  EXPECT_NE(transport_.posts[0].body.find("run.late"), std::string::npos);
  EXPECT_NE(transport_.posts[0].body.find(EncodeRunId(row.key)), std::string::npos);
  const int asked_before = asked;
  look(6s);
  look(6s);
  EXPECT_EQ(asked, asked_before) << "it is known to be late";
  look(2h);
  EXPECT_EQ(transport_.posts.size(), 1u);
}

}  // namespace
}  // namespace carillon::scheduler
