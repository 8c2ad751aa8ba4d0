#include "common/wire/messages/control_codec.h"

#include <gtest/gtest.h>

#include "carillon/v1/control.pb.h"
#include "common/base/rng.h"

namespace carillon {
namespace {

const ExecutorId kExecutor("e1");
const Incarnation kFirstLife("00aa");

HeldAttempt Attempt(uint32_t n) {
  return {.key = {FromUnixMicros(1'700'000'000'000'000 + n), ScheduleId(7), n},
          .segment = SegmentId(n % 64),
          .job_no = JobNo(9),
          .attempt = 2,
          .token = *ParseClaimToken("000102030405060708090a0b0c0d0e0f")};
}

bool Same(const HeldAttempt& a, const HeldAttempt& b) {
  return a.key == b.key && a.segment == b.segment && a.job_no == b.job_no &&
         a.attempt == b.attempt && a.token == b.token;
}

template <typename Message>
Message FromExecutorAgain(const Message& message) {
  const auto decoded = DecodeFromExecutor(EncodeFromExecutor(message), kExecutor, kFirstLife);
  EXPECT_TRUE(decoded.ok());
  return decoded.ok() ? std::get<Message>(*decoded) : Message{};
}

template <typename Message>
Message ToExecutorAgain(const Message& message) {
  const auto decoded = DecodeToExecutor(EncodeToExecutor(message));
  EXPECT_TRUE(decoded.ok());
  return decoded.ok() ? std::get<Message>(std::get<ToExecutor>(*decoded)) : Message{};
}

TEST(ControlCodecTest, RegisterSaysWhoByTheStreamOnly) {
  Register sent;
  sent.record.id = ExecutorId("somebody-else");
  sent.record.host = "db3";
  sent.record.ops_port = 8642;
  sent.record.slots = 16;
  sent.record.version = "1.2.3";
  sent.record.labels = {{"zone", "a"}, {"disk", ""}};
  EXPECT_FALSE(FromExecutorAgain(sent).carries_records);
  sent.carries_records = true;
  EXPECT_TRUE(FromExecutorAgain(sent).carries_records);
  const ExecutorRecord got = FromExecutorAgain(sent).record;
  EXPECT_EQ(got.id, kExecutor);
  EXPECT_EQ(got.incarnation, kFirstLife);
  EXPECT_EQ(got.host, "db3");
  EXPECT_EQ(got.ops_port, 8642);
  EXPECT_EQ(got.slots, 16);
  EXPECT_EQ(got.version, "1.2.3");
  EXPECT_EQ(got.labels, sent.record.labels);
}

TEST(ControlCodecTest, TheReportOfAHostComesBackAsItWas) {
  Register sent;
  sent.record.checks = {{"user", HostCheckState::kPartly, "root", "Use another one."},
                        {"script:sh", HostCheckState::kWorks, "/bin/sh", ""}};
  EXPECT_EQ(FromExecutorAgain(sent).record.checks, sent.record.checks);
  v1::FromExecutor later;
  later.mutable_register_()->add_checks()->set_state("excellent");
  const auto left_out = DecodeFromExecutor(later.SerializeAsString(), kExecutor, kFirstLife);
  ASSERT_TRUE(left_out.ok());
  EXPECT_TRUE(std::get<Register>(*left_out).record.checks.empty());
  for (size_t i = 0; i < kHostChecksMax; ++i) later.mutable_register_()->add_checks();
  EXPECT_FALSE(DecodeFromExecutor(later.SerializeAsString(), kExecutor, kFirstLife).ok());
}

TEST(ControlCodecTest, HeartbeatComesBackAsItWas) {
  const Heartbeat sent{.sent_us = -5,
                       .running_count = 3,
                       .load = {.cpu = 0.5, .memory = 1, .disk = 0, .io = 0.25},
                       .free_slots = 1,
                       .free_light_slots = 4096,
                       .slots = 12,
                       .config_version = 7,
                       .features = {Feature::kScriptSh, Feature::kScriptPhp},
                       .handlers = {{"app/a", {.slots = 4, .free = 2}}, {"b/c.d", {.slots = 1}}},
                       .tasks_behind = 0,
                       .leaving = true,
                       .running = {Attempt(1), Attempt(2)},
                       .reporting = {Attempt(3)},
                       .trouble = "the warden does not respond",
                       .claiming = {Attempt(4), Attempt(5)},
                       .next_in = 15s};
  const Heartbeat got = FromExecutorAgain(sent);
  EXPECT_EQ(got.next_in, 15s);
  EXPECT_EQ(got.sent_us, -5);
  EXPECT_EQ(got.running_count, 3);
  EXPECT_EQ(got.load.cpu, 0.5);
  EXPECT_EQ(got.load.io, 0.25);
  EXPECT_EQ(got.free_slots, 1);
  EXPECT_EQ(got.free_light_slots, 4096);
  EXPECT_EQ(got.slots, 12);
  EXPECT_EQ(got.config_version, 7);
  EXPECT_EQ(got.tasks_behind, 0);
  EXPECT_EQ(got.features, sent.features);
  EXPECT_EQ(got.handlers, sent.handlers);
  EXPECT_TRUE(got.leaving);
  EXPECT_EQ(got.trouble, sent.trouble);
  EXPECT_FALSE(FromExecutorAgain(Heartbeat{}).leaving);
  EXPECT_EQ(FromExecutorAgain(Heartbeat{}).tasks_behind, std::nullopt) << "not known";
  ASSERT_EQ(got.running.size(), 2u);
  EXPECT_TRUE(Same(got.running[1], sent.running[1]));
  ASSERT_EQ(got.reporting.size(), 1u);
  EXPECT_TRUE(Same(got.reporting[0], sent.reporting[0]));
  ASSERT_EQ(got.claiming.size(), 2u);
  EXPECT_TRUE(Same(got.claiming[1], sent.claiming[1]));
}

TEST(ControlCodecTest, RecordsComeBackAsTheyWereInBothDirections) {
  const std::string bytes("a\0\xff", 3);
  const CarriedRecord sent{.topic = "carillon.logs",
                           .partition_key = UINT64_MAX,
                           .record = {.payload = bytes, .headers = {{"k", bytes}, {"empty", ""}}}};
  for (const CarriedRecord& got : {FromExecutorAgain(sent), ToExecutorAgain(sent)}) {
    EXPECT_EQ(got.topic, sent.topic);
    EXPECT_EQ(got.partition_key, sent.partition_key);
    EXPECT_EQ(got.record.payload, sent.record.payload);
    EXPECT_EQ(got.record.headers, sent.record.headers);
  }
  CarriedRecord wrong = sent;
  wrong.topic.clear();
  EXPECT_EQ(DecodeToExecutor(EncodeToExecutor(wrong)).code(), ErrorCode::kCorrupt);
  wrong = sent;
  for (int i = 0; i < 17; ++i) wrong.record.headers[std::to_string(i)] = "";
  EXPECT_EQ(DecodeFromExecutor(EncodeFromExecutor(wrong), kExecutor, kFirstLife).code(),
            ErrorCode::kCorrupt);
}

TEST(ControlCodecTest, LoadIsAShare) {
  Heartbeat sent;
  sent.load = {.cpu = -1, .memory = 7, .disk = std::numeric_limits<double>::quiet_NaN(), .io = 1};
  const ExecutorLoad got = FromExecutorAgain(sent).load;
  EXPECT_EQ(got.cpu, 0);
  EXPECT_EQ(got.memory, 0);
  EXPECT_EQ(got.disk, 0);
  EXPECT_EQ(got.io, 1);
}

TEST(ControlCodecTest, ClaimsComeBackAsTheStreamsOwn) {
  const HeldAttempt held = Attempt(4);
  ClaimBatch sent{.sent_us = 11, .batch_id = 12, .requests = {}};
  sent.requests.push_back({.key = held.key,
                           .segment = held.segment,
                           .job_no = held.job_no,
                           .attempt = held.attempt,
                           .def_version = 5,
                           .token = held.token,
                           .executor = ExecutorId("forged"),
                           .incarnation = Incarnation("forged"),
                           .overlap = {.policy = OverlapPolicy::kSkip}});
  const ClaimBatch got = FromExecutorAgain(sent);
  EXPECT_EQ(got.sent_us, 11);
  EXPECT_EQ(got.batch_id, 12u);
  ASSERT_EQ(got.requests.size(), 1u);
  const ClaimRequest& request = got.requests[0];
  EXPECT_EQ(request.key, held.key);
  EXPECT_EQ(request.token, held.token);
  EXPECT_EQ(request.def_version, 5);
  EXPECT_EQ(request.overlap.policy, OverlapPolicy::kSkip);
  EXPECT_EQ(request.executor, kExecutor);
  EXPECT_EQ(request.incarnation, kFirstLife);
}

TEST(ControlCodecTest, AnswersComeBackAsTheyWere) {
  const Registered registered =
      ToExecutorAgain(Registered{.accepted = false,
                                 .refusal = "second",
                                 .enabled = false,
                                 .draining = true,
                                 .cluster_time = FromUnixMicros(1'772'323'200'000'001),
                                 .heartbeat = 500ms,
                                 .quiet_heartbeat = 12s});
  EXPECT_EQ(registered.heartbeat, 500ms);
  EXPECT_EQ(registered.quiet_heartbeat, 12s);
  for (const Registered& wrong :
       {Registered{.heartbeat = -1ms}, Registered{.quiet_heartbeat = -1ms},
        Registered{.quiet_heartbeat = 1h + 1us}}) {
    EXPECT_EQ(DecodeToExecutor(EncodeToExecutor(wrong)).code(), ErrorCode::kCorrupt);
  }
  EXPECT_FALSE(registered.accepted);
  EXPECT_EQ(registered.refusal, "second");
  EXPECT_FALSE(registered.enabled);
  EXPECT_TRUE(registered.draining);
  EXPECT_EQ(registered.cluster_time, FromUnixMicros(1'772'323'200'000'001));
  EXPECT_EQ(ToExecutorAgain(Registered{}).cluster_time, std::nullopt) << "not known";

  const HeartbeatReply reply = ToExecutorAgain(HeartbeatReply{.sent_us = 3,
                                                              .lease = 1500ms,
                                                              .registered = false,
                                                              .renewed = {Attempt(1)},
                                                              .cluster_time = FromUnixMicros(7)});
  EXPECT_EQ(reply.sent_us, 3);
  EXPECT_EQ(reply.lease, 1500ms);
  EXPECT_FALSE(reply.registered);
  ASSERT_EQ(reply.renewed.size(), 1u);
  EXPECT_EQ(reply.cluster_time, FromUnixMicros(7));

  ClaimBatchReply claims{.batch_id = 1, .sent_us = 2, .lease = 20s, .items = {}};
  const HeldAttempt held = Attempt(6);
  for (int i = 0; i <= static_cast<int>(ClaimReason::kClusterPaused); ++i) {
    claims.items.push_back({.key = held.key,
                            .token = held.token,
                            .verdict = static_cast<ClaimVerdict>(i % 4),
                            .reason = static_cast<ClaimReason>(i)});
  }
  const ClaimBatchReply got = ToExecutorAgain(claims);
  ASSERT_EQ(got.items.size(), claims.items.size());
  for (size_t i = 0; i < got.items.size(); ++i) {
    EXPECT_EQ(got.items[i].verdict, claims.items[i].verdict);
    EXPECT_EQ(got.items[i].reason, claims.items[i].reason);
    EXPECT_EQ(got.items[i].token, held.token);
  }
  EXPECT_EQ(ToExecutorAgain(ResultsApplied{{Attempt(1)}}).applied.size(), 1u);
  const LogsStored stored = ToExecutorAgain(LogsStored{{{Attempt(1), 17}}});
  ASSERT_EQ(stored.stored.size(), 1u);
  EXPECT_EQ(stored.stored[0].first_seq, 17u);
  EXPECT_EQ(stored.stored[0].attempt.token, Attempt(1).token);
  EXPECT_EQ(ToExecutorAgain(CancelAttempts{{Attempt(1), Attempt(2)}}).attempts.size(), 2u);
  for (const CancelMode mode : {CancelMode::kGraceful, CancelMode::kKill}) {
    EXPECT_EQ(ToExecutorAgain(CancelAttempts{{Attempt(1)}, mode}).mode, mode);
  }
}

TEST(ControlCodecTest, SecretsComeBackAsTheyWere) {
  const HeldAttempt held = Attempt(6);
  ClaimBatchReply sent{.batch_id = 1, .sent_us = 2, .lease = 20s, .items = {}};
  sent.items.push_back({.key = held.key,
                        .token = held.token,
                        .verdict = ClaimVerdict::kAccepted,
                        .secrets = {{"db", "pässword\n"}, {"token", "hunter22"}}});
  sent.items.push_back({.key = held.key,
                        .token = held.token,
                        .verdict = ClaimVerdict::kAccepted,
                        .secret_failure = "secret_missing",
                        .secret_error = "unknown secret db"});
  const ClaimBatchReply got = ToExecutorAgain(sent);
  ASSERT_EQ(got.items.size(), 2u);
  EXPECT_EQ(got.items[0].secrets, sent.items[0].secrets);
  EXPECT_EQ(got.items[0].secret_failure, "");
  EXPECT_TRUE(got.items[1].secrets.empty());
  EXPECT_EQ(got.items[1].secret_failure, "secret_missing");
  EXPECT_EQ(got.items[1].secret_error, "unknown secret db");
  for (const SecretValues& wrong : {SecretValues{{"no name", "hunter22"}},
                                    SecretValues{{"db", std::string(kSecretBytesMax + 1, 'x')}}}) {
    sent.items[0].secrets = wrong;
    EXPECT_EQ(DecodeToExecutor(EncodeToExecutor(sent)).code(), ErrorCode::kCorrupt);
  }
}

TEST(ControlCodecTest, SettingsComeBackAsTheyWere) {
  const ClusterSettings sent{.version = INT64_MAX,
                             .values = {{"log.level", "debug"}, {"executor.slots", "3"}}};
  EXPECT_EQ(ToExecutorAgain(Registered{.settings = sent}).settings, sent);
  EXPECT_EQ(ToExecutorAgain(Registered{}).settings, ClusterSettings{});
  for (const ClusterSettings& wrong :
       {ClusterSettings{.version = -1},
        ClusterSettings{.version = 1, .values = {{"log.level", std::string(2000, 'x')}}}}) {
    EXPECT_EQ(DecodeToExecutor(EncodeToExecutor(Registered{.settings = wrong})).code(),
              ErrorCode::kCorrupt);
  }
  for (const Heartbeat& wrong : {Heartbeat{.config_version = -1}, Heartbeat{.tasks_behind = -1},
                                 Heartbeat{.next_in = -1us}, Heartbeat{.next_in = 1h + 1us}}) {
    EXPECT_EQ(DecodeFromExecutor(EncodeFromExecutor(wrong), kExecutor, kFirstLife).code(),
              ErrorCode::kCorrupt);
  }
}

TEST(ControlCodecTest, WelcomeNeedsAMemberAndAKey) {
  const Welcome welcome{MemberId("scheduler-1"), std::string(32, '\x7f')};
  const auto decoded = DecodeToExecutor(EncodeWelcome(welcome));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(std::get<Welcome>(*decoded), welcome);
  EXPECT_EQ(DecodeToExecutor(EncodeWelcome({MemberId(""), std::string(32, 'x')})).code(),
            ErrorCode::kCorrupt);
  EXPECT_EQ(DecodeToExecutor(EncodeWelcome({MemberId("m"), "short"})).code(), ErrorCode::kCorrupt);
}

TEST(ControlCodecTest, NoTokenIsNoClaim) {
  Heartbeat sent;
  sent.running = {Attempt(1)};
  sent.running[0].token = {};
  EXPECT_EQ(DecodeFromExecutor(EncodeFromExecutor(sent), kExecutor, kFirstLife).code(),
            ErrorCode::kCorrupt);
}

TEST(ControlCodecTest, EmptyAndForeignBytesAreRefused) {
  for (const std::string& bytes : {std::string(), std::string("\xff\xff"), std::string(40, 'x')}) {
    EXPECT_EQ(DecodeFromExecutor(bytes, kExecutor, kFirstLife).code(), ErrorCode::kCorrupt);
    EXPECT_EQ(DecodeToExecutor(bytes).code(), ErrorCode::kCorrupt);
  }
}

// After a bit flip a message is either refused or a valid message.
TEST(ControlCodecTest, MutatedBytesAreRefusedOrStable) {
  Rng rng(4);
  const std::string heartbeat = EncodeFromExecutor(
      Heartbeat{.sent_us = 1, .running = {Attempt(1), Attempt(2)}, .reporting = {Attempt(3)}});
  const std::string reply = EncodeToExecutor(HeartbeatReply{.sent_us = 1, .renewed = {Attempt(1)}});
  int accepted = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string one = heartbeat;
    std::string two = reply;
    one[rng.Below(one.size())] ^= static_cast<char>(1u << rng.Below(8));
    two[rng.Below(two.size())] ^= static_cast<char>(1u << rng.Below(8));
    const auto from = DecodeFromExecutor(one, kExecutor, kFirstLife);
    if (from.ok()) {
      ++accepted;
      EXPECT_TRUE(DecodeFromExecutor(EncodeFromExecutor(*from), kExecutor, kFirstLife).ok());
    }
    const auto to = DecodeToExecutor(two);
    if (to.ok() && std::holds_alternative<ToExecutor>(*to)) {
      EXPECT_TRUE(DecodeToExecutor(EncodeToExecutor(std::get<ToExecutor>(*to))).ok());
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 4000);
}

TEST(ControlCodecTest, AnEarlierExecutorThatTakesSecretsHasThatFeature) {
  v1::FromExecutor message;
  message.mutable_heartbeat()->set_takes_secrets(true);
  const auto got = DecodeFromExecutor(message.SerializeAsString(), kExecutor, kFirstLife);
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(std::get<Heartbeat>(*got).features, Features({Feature::kSecrets}));
}

TEST(ControlCodecTest, SavesComeBackAsTheyWere) {
  const HeldAttempt held = Attempt(3);
  RunSave save{.key = held.key,
               .segment = held.segment,
               .job_no = held.job_no,
               .attempt = held.attempt,
               .token = held.token,
               .seq = 7};
  save.progress = {.percent = 0, .text = "a"};
  save.checkpoint = std::string("\0\xff", 2);
  RunSave got = FromExecutorAgain(AttemptSave{save}).save;
  EXPECT_EQ(got.key, save.key);
  EXPECT_EQ(got.segment, save.segment);
  EXPECT_EQ(got.attempt, save.attempt);
  EXPECT_EQ(got.token, save.token);
  EXPECT_EQ(got.seq, 7u);
  EXPECT_EQ(got.progress, save.progress);
  EXPECT_EQ(got.checkpoint, save.checkpoint);
  save.progress->percent.reset();
  save.checkpoint.reset();
  got = FromExecutorAgain(AttemptSave{save}).save;
  EXPECT_EQ(got.progress, save.progress);
  EXPECT_EQ(got.checkpoint, std::nullopt);
  save.progress.reset();
  save.checkpoint = "";
  got = FromExecutorAgain(AttemptSave{save}).save;
  EXPECT_EQ(got.progress, std::nullopt);
  EXPECT_EQ(got.checkpoint, "");
  const SaveAnswer answer = ToExecutorAgain(SaveAnswer{.attempt = held, .seq = 7, .kept = false});
  EXPECT_TRUE(Same(answer.attempt, held));
  EXPECT_EQ(answer.seq, 7u);
  EXPECT_FALSE(answer.kept);
  EXPECT_TRUE(ToExecutorAgain(Registered{.takes_saves = true}).takes_saves);
}

TEST(ControlCodecTest, SavesBeyondTheLimitsAreRefused) {
  const HeldAttempt held = Attempt(3);
  const RunSave save{.key = held.key, .segment = held.segment, .token = held.token};
  const auto decodes = [](const RunSave& changed) {
    return DecodeFromExecutor(EncodeFromExecutor(AttemptSave{changed}), kExecutor, kFirstLife).ok();
  };
  EXPECT_TRUE(decodes(save));
  RunSave bad = save;
  bad.checkpoint = std::string(kCheckpointBytesMax + 1, 'x');
  EXPECT_FALSE(decodes(bad));
  bad = save;
  bad.progress = {.percent = 101};
  EXPECT_FALSE(decodes(bad));
  bad.progress = {.percent = 1, .text = std::string(kProgressBytesMax + 1, 'x')};
  EXPECT_FALSE(decodes(bad));
  bad = save;
  bad.attempt = 0;
  EXPECT_FALSE(decodes(bad));
}

TEST(ControlCodecTest, AnswerCarriesTheCheckpoint) {
  ClaimBatchReply sent;
  sent.items = {{.key = Attempt(1).key, .token = Attempt(1).token, .checkpoint = "\xff state"},
                {.key = Attempt(2).key, .token = Attempt(2).token}};
  const ClaimBatchReply got = ToExecutorAgain(sent);
  ASSERT_EQ(got.items.size(), 2u);
  EXPECT_EQ(got.items[0].checkpoint, "\xff state");
  EXPECT_EQ(got.items[1].checkpoint, std::nullopt);
}

}  // namespace
}  // namespace carillon
