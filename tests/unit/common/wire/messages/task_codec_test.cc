#include "common/wire/messages/task_codec.h"

#include <gtest/gtest.h>

#include "carillon/v1/task.pb.h"
#include "tests/unit/common/wire/wire_samples.h"

namespace carillon {
namespace {

v1::Task ValidTask() {
  Rng rng(1);
  v1::TaskBundle bundle;
  EXPECT_TRUE(bundle.ParseFromString(EncodeTasks({test::RandomTask(rng)})));
  return bundle.tasks(0);
}

v1::TaskResult ValidResult() {
  Rng rng(1);
  v1::ResultBundle bundle;
  EXPECT_TRUE(bundle.ParseFromString(EncodeResults({test::RandomResult(rng)})));
  return bundle.results(0);
}

template <typename Change>
bool TaskIsCorruptAfter(Change change) {
  v1::TaskBundle bundle;
  *bundle.add_tasks() = ValidTask();
  change(*bundle.mutable_tasks(0));
  const auto tasks = DecodeTasks(bundle.SerializeAsString());
  return !tasks.ok() && tasks.code() == ErrorCode::kCorrupt;
}

template <typename Change>
bool ResultIsCorruptAfter(Change change) {
  v1::ResultBundle bundle;
  *bundle.add_results() = ValidResult();
  change(*bundle.mutable_results(0));
  const auto results = DecodeResults(bundle.SerializeAsString());
  return !results.ok() && results.code() == ErrorCode::kCorrupt;
}

TEST(TaskCodecTest, TasksComeBackEqual) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    std::vector<TaskMessage> tasks;
    for (size_t n = rng.Below(5); n > 0; --n) tasks.push_back(test::RandomTask(rng));
    const auto decoded = DecodeTasks(EncodeTasks(tasks));
    ASSERT_TRUE(decoded.ok()) << "seed " << seed << ": " << decoded.error().message;
    EXPECT_EQ(*decoded, tasks) << "seed " << seed;
    if (tasks.empty()) continue;
    tasks.resize(1);
    const auto text = DecodeTasks(EncodeTasks(tasks, BusFormat::kJson));
    ASSERT_TRUE(text.ok()) << "seed " << seed << ": " << text.error().message;
    EXPECT_EQ(*text, tasks) << "seed " << seed;
  }
}

// One that cannot be read would spoil its whole bundle.
TEST(TaskCodecTest, TheLongestRequestsComeBack) {
  Rng rng(3);
  TaskMessage task = test::RandomTask(rng);
  task.type = JobType::kHttp;
  task.interpreter.reset();
  task.args.clear();
  task.http = test::RandomCall(rng);
  const auto longest = [](size_t bytes) {
    SecretText text{{.text = std::string(bytes, 'x')}};
    for (size_t i = 0; i < kJobSecretsMax; ++i) text.push_back({.secret = std::string(63, 's')});
    return text;
  };
  task.http->headers["X-Long"] = longest(kHttpHeaderBytesMax);
  task.http->body = longest(kHttpBodyBytesMax);
  task.http->url.resize(kHttpUrlBytesMax, 'x');
  const auto decoded = DecodeTasks(EncodeTasks({task}));
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(decoded->at(0), task);
}

TEST(TaskCodecTest, JsonHasTheNamesUsersKnowAndTakesWhatAPersonWrites) {
  TaskMessage task;
  task.key = {.fire = FromUnixMicros(1), .schedule_id = ScheduleId(2)};
  task.job_id = JobId("nightly");
  task.member = MemberId("scheduler-1");
  task.command = "echo \"\u00e4\"";
  const std::string text = EncodeTasks({task}, BusFormat::kJson);
  for (const char* part :
       {"\"task_id\":\"", "\"job_id\":\"nightly\"", "\"command\":\"echo \\\"\u00e4\\\"\"",
        "\"timeout\":3600", "\"retry_count\":0", "\"retry_interval\":60", "\"priority\":0",
        "\"create_time\":\"1970-01-01T00:00:00.000000Z\""}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  const auto result = DecodeResults(
      "{\"task_id\": \"" + EncodeRunId(task.key) +
      "\", \"job_id\": \"nightly\", \"executor_id\": \"host-1\", \"status\": \"FAILED\", "
      "\"exit_code\": 3, \"output\": \"aGVsbG8=\", \"attempt\": 1, \"later\": {\"a\": [1]}, "
      "\"claim_token\": \"0123456789abcdef0123456789abcdef\"}");
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->front().report.result.exit_code, 3);
  EXPECT_EQ(result->front().report.result.output, "hello");
}

TEST(TaskCodecTest, JsonThatIsNoneIsCorrupt) {
  for (const std::string& text :
       {std::string("{"), std::string("{}"), std::string("{\"task_id\": 7}"),
        std::string("{\"task_id\": \"\xFF\"}"), std::string("{\"env\": []}"),
        std::string("{\"timeout\": \"soon\"}"), std::string("{}{}"),
        std::string(100'000, '{') + std::string(100'000, '}'),
        "{\"later\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}"}) {
    const auto tasks = DecodeTasks(text);
    ASSERT_FALSE(tasks.ok()) << text.substr(0, 40);
    EXPECT_EQ(tasks.code(), ErrorCode::kCorrupt);
    EXPECT_EQ(DecodeResults(text).code(), ErrorCode::kCorrupt);
  }
}

TEST(TaskCodecTest, ResultsComeBackEqual) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    const ResultMessage sent = test::RandomResult(rng);
    const auto decoded = DecodeResults(EncodeResults({sent}));
    ASSERT_TRUE(decoded.ok()) << "seed " << seed << ": " << decoded.error().message;
    ASSERT_EQ(decoded->size(), 1u);
    const ResultMessage& got = decoded->front();
    EXPECT_EQ(got.job_id, sent.job_id);
    EXPECT_EQ(got.report.key, sent.report.key);
    EXPECT_EQ(got.report.segment, sent.report.segment);
    EXPECT_EQ(got.report.job_no, sent.report.job_no);
    EXPECT_EQ(got.report.attempt, sent.report.attempt);
    EXPECT_EQ(got.report.token, sent.report.token);
    EXPECT_EQ(got.report.executor, sent.report.executor);
    EXPECT_EQ(got.report.result, sent.report.result) << "seed " << seed;
    const auto text = DecodeResults(EncodeResults({sent}, BusFormat::kJson));
    ASSERT_TRUE(text.ok()) << "seed " << seed << ": " << text.error().message;
    EXPECT_EQ(EncodeResults(*text), EncodeResults({sent})) << "seed " << seed;
  }
}

TEST(TaskCodecTest, TaskCarriesTheNamesUsersKnow) {
  Rng rng(3);
  TaskMessage task = test::RandomTask(rng);
  task.key = {.fire = FromUnixMicros(1'700'000'000'000'000), .schedule_id = ScheduleId(7)};
  task.created = FromUnixMicros(1'700'000'000'000'001);
  v1::TaskBundle bundle;
  ASSERT_TRUE(bundle.ParseFromString(EncodeTasks({task})));
  EXPECT_EQ(bundle.tasks(0).task_id(), EncodeRunId(task.key));
  EXPECT_EQ(bundle.tasks(0).create_time(), "2023-11-14T22:13:20.000001Z");
  EXPECT_EQ(bundle.tasks(0).command(), task.command);
}

TEST(TaskCodecTest, RefusesAnyTaskFieldOutOfItsRange) {
  EXPECT_FALSE(TaskIsCorruptAfter([](v1::Task&) {}));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_task_id("SHORT"); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_job_id("Upper"); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_job_id(""); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_timeout(0); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_timeout(604'801); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_retry_count(101); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_retry_interval(86'401); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_priority(101); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_create_time("yesterday"); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_type("http2"); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_attempt(0); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_attempt(1'000'001); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_job_no(uint64_t{1} << 63); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_segment(65'536); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_def_version(-1); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_member(""); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_member("a b"); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_due_us(-1); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_due_us(int64_t{1} << 56); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_kill_grace(3'601); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_overlap_policy("maybe"); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_on_lost(""); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_shard_total(0); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_shard_total((1u << 20) + 1); }));
}

TEST(TaskCodecTest, RefusesAShardBeyondTheTotal) {
  Rng rng(1);
  TaskMessage task = test::RandomTask(rng);
  task.key.shard = 2;
  task.shard_total = 3;
  EXPECT_TRUE(DecodeTasks(EncodeTasks({task})).ok());
  task.shard_total = 2;
  EXPECT_EQ(DecodeTasks(EncodeTasks({task})).value().front().shard_total, 2u);
  task.shard_total = 1;
  EXPECT_EQ(DecodeTasks(EncodeTasks({task})).code(), ErrorCode::kCorrupt);
}

TEST(TaskCodecTest, RefusesAnIndexThatIsNotThatOfItsRun) {
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { t.set_shard_index(t.shard_index() + 1); }));
}

TEST(TaskCodecTest, RefusesAnEncodingThatItDoesNotKnow) {
  const auto encoded_in = [](const char* name) {
    return [name](v1::Task& t) {
      t.set_type("shell");
      t.set_command("true");
      t.set_output_encoding(name);
    };
  };
  EXPECT_FALSE(TaskIsCorruptAfter(encoded_in("GBK")));
  EXPECT_TRUE(TaskIsCorruptAfter(encoded_in("gbk//x")));
}

TEST(TaskCodecTest, RefusesTextThatAProcessWouldSeeCutShort) {
  const std::string nul("a\0b", 3);
  EXPECT_TRUE(TaskIsCorruptAfter([&](v1::Task& t) { t.set_command(nul); }));
  EXPECT_TRUE(TaskIsCorruptAfter([&](v1::Task& t) { (*t.mutable_env())["A"] = nul; }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { (*t.mutable_env())["A=B"] = ""; }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { (*t.mutable_env())[""] = ""; }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) { (*t.mutable_env())["1A"] = ""; }));
}

TEST(TaskCodecTest, BoundsCommandAndEnvironment) {
  const std::string most(256u << 10, 'x');
  EXPECT_FALSE(TaskIsCorruptAfter([&](v1::Task& t) { t.set_command(most); }));
  EXPECT_TRUE(TaskIsCorruptAfter([&](v1::Task& t) { t.set_command(most + "x"); }));
  EXPECT_TRUE(TaskIsCorruptAfter(
      [](v1::Task& t) { (*t.mutable_env())["A"] = std::string(1u << 20, 'x'); }));
  EXPECT_TRUE(TaskIsCorruptAfter([](v1::Task& t) {
    for (int i = 0; i < 257; ++i) (*t.mutable_env())["E" + std::to_string(i)] = "";
  }));
}

TEST(TaskCodecTest, RefusesAnyResultFieldOutOfItsRange) {
  EXPECT_FALSE(ResultIsCorruptAfter([](v1::TaskResult&) {}));
  EXPECT_TRUE(ResultIsCorruptAfter([](v1::TaskResult& r) { r.set_task_id(""); }));
  EXPECT_TRUE(ResultIsCorruptAfter([](v1::TaskResult& r) { r.set_job_id("no spaces"); }));
  EXPECT_TRUE(ResultIsCorruptAfter([](v1::TaskResult& r) { r.set_executor_id(""); }));
  EXPECT_TRUE(ResultIsCorruptAfter([](v1::TaskResult& r) { r.set_executor_id("a_b"); }));
  EXPECT_TRUE(ResultIsCorruptAfter([](v1::TaskResult& r) { r.set_status("PENDING"); }));
  EXPECT_TRUE(ResultIsCorruptAfter([](v1::TaskResult& r) { r.set_status("RUNNING"); }));
  EXPECT_TRUE(ResultIsCorruptAfter([](v1::TaskResult& r) { r.set_status("completed"); }));
  EXPECT_TRUE(ResultIsCorruptAfter([](v1::TaskResult& r) { r.set_start_time("0"); }));
  EXPECT_TRUE(ResultIsCorruptAfter([](v1::TaskResult& r) { r.set_end_time("1969-01-01"); }));
  EXPECT_TRUE(ResultIsCorruptAfter([](v1::TaskResult& r) { r.set_reason("Not A Code"); }));
  EXPECT_TRUE(ResultIsCorruptAfter([](v1::TaskResult& r) { r.set_attempt(0); }));
  EXPECT_TRUE(ResultIsCorruptAfter([](v1::TaskResult& r) { r.set_segment(1u << 20); }));
  EXPECT_TRUE(ResultIsCorruptAfter([](v1::TaskResult& r) { r.set_claim_token("12"); }));
  EXPECT_TRUE(
      ResultIsCorruptAfter([](v1::TaskResult& r) { r.set_output(std::string(300'000, 'x')); }));
  EXPECT_TRUE(
      ResultIsCorruptAfter([](v1::TaskResult& r) { r.set_error(std::string(5'000, 'x')); }));
}

TEST(TaskCodecTest, RefusesOutputsOfWhatDidNotEndByItself) {
  const auto refused = [](const std::string& status, bool with_code) {
    return ResultIsCorruptAfter([&](v1::TaskResult& r) {
      r.set_status(status);
      r.clear_exit_code();
      if (with_code) r.set_exit_code(0);
      r.clear_outputs();
      v1::Output& output = *r.add_outputs();
      output.set_name("rows");
      output.set_value("12");
    });
  };
  EXPECT_FALSE(refused("COMPLETED", true));
  EXPECT_FALSE(refused("FAILED", true));
  EXPECT_FALSE(refused("COMPLETED", false)) << "a function has no exit code";
  EXPECT_TRUE(refused("FAILED", false));
  EXPECT_TRUE(refused("LOST", false));
  EXPECT_TRUE(refused("LOST", true));
}

// Rows that were never claimed have the empty token, so a result with the empty token
// would match them.
TEST(TaskCodecTest, RefusesTheEmptyClaimToken) {
  EXPECT_TRUE(
      ResultIsCorruptAfter([](v1::TaskResult& r) { r.set_claim_token(FormatClaimToken({})); }));
}

TEST(TaskCodecTest, CutsALongErrorBetweenCharacters) {
  Rng rng(1);
  ResultMessage message = test::RandomResult(rng);
  for (int i = 0; i < 2000; ++i) message.report.result.error += "钟";
  const auto decoded = DecodeResults(EncodeResults({message}));
  ASSERT_TRUE(decoded.ok());
  const std::string& error = decoded->front().report.result.error;
  EXPECT_LE(error.size(), 4096u);
  EXPECT_GT(error.size(), 4090u);
  EXPECT_EQ(message.report.result.error.compare(0, error.size(), error), 0);
  EXPECT_EQ(error.size() % 3, message.report.result.error.size() % 3);
}

TEST(TaskCodecTest, RefusesABundleAboveItsLimit) {
  Rng rng(1);
  const std::vector<TaskMessage> tasks(kBundleTasksMax, test::RandomTask(rng));
  EXPECT_TRUE(DecodeTasks(EncodeTasks(tasks)).ok());
  auto more = tasks;
  more.push_back(tasks[0]);
  EXPECT_EQ(DecodeTasks(EncodeTasks(more)).code(), ErrorCode::kCorrupt);
  const std::vector<ResultMessage> results(kBundleTasksMax + 1, test::RandomResult(rng));
  EXPECT_EQ(DecodeResults(EncodeResults(results)).code(), ErrorCode::kCorrupt);
}

TEST(TaskCodecTest, OneBadTaskSpoilsItsBundleUnlessItIsLeftOut) {
  v1::TaskBundle bundle;
  *bundle.add_tasks() = ValidTask();
  *bundle.add_tasks() = ValidTask();
  bundle.mutable_tasks(1)->set_attempt(0);
  EXPECT_EQ(DecodeTasks(bundle.SerializeAsString()).code(), ErrorCode::kCorrupt);
  std::vector<UnreadableTask> unreadable;
  const auto tasks = DecodeTasks(bundle.SerializeAsString(), &unreadable);
  ASSERT_TRUE(tasks.ok());
  EXPECT_EQ(tasks->size(), 1u);
  ASSERT_EQ(unreadable.size(), 1u);
  EXPECT_EQ(unreadable[0].error.message, "bus payload: attempt");
  EXPECT_FALSE(unreadable[0].rest);
}

TEST(TaskCodecTest, OfAnUnreadableTaskItsClaimIsLeft) {
  const v1::Task valid = ValidTask();
  const auto left_of = [](const v1::Task& task) {
    v1::TaskBundle bundle;
    *bundle.add_tasks() = task;
    std::vector<UnreadableTask> unreadable;
    const auto tasks = DecodeTasks(bundle.SerializeAsString(), &unreadable);
    EXPECT_TRUE(tasks.ok() && tasks->empty());
    EXPECT_EQ(unreadable.size(), 1u);
    return unreadable.empty() ? UnreadableTask{} : unreadable[0];
  };
  v1::Task later = valid;  // of a later version
  later.set_type("teleport");
  const UnreadableTask left = left_of(later);
  ASSERT_TRUE(left.rest);
  EXPECT_EQ(EncodeRunId(left.rest->key), valid.task_id());
  EXPECT_EQ(left.rest->attempt, static_cast<int>(valid.attempt()));
  EXPECT_EQ(left.rest->member.value(), valid.member());
  EXPECT_EQ(left.rest->job_id.value(), valid.job_id());
  EXPECT_EQ(left.rest->type, JobType::kNoop);
  EXPECT_EQ(left.rest->unreadable, "bus payload: type or policy");
  EXPECT_TRUE(left.rest->command.empty());
  v1::Task priority = valid;
  priority.set_priority(1000);
  ASSERT_TRUE(left_of(priority).rest);
  EXPECT_EQ(left_of(priority).rest->priority, 100);
  for (const auto& spoil : std::vector<std::function<void(v1::Task&)>>{
           [](v1::Task& task) { task.set_task_id("x"); },
           [](v1::Task& task) { task.set_job_id("Not An Id"); },
           [](v1::Task& task) { task.set_member(""); }, [](v1::Task& task) { task.set_attempt(0); },
           [](v1::Task& task) { task.set_segment(1u << 16); },
           [](v1::Task& task) { task.set_job_no(uint64_t{1} << 63); },
           [](v1::Task& task) { task.set_def_version(-1); }}) {
    v1::Task spoiled = later;
    spoil(spoiled);
    EXPECT_FALSE(left_of(spoiled).rest) << spoiled.ShortDebugString();
  }
}

// A reader takes all that a writer accepts: otherwise an executor would get the task again
// and again.
TEST(TaskCodecTest, WriterAndReaderRefuseTheSameSizes) {
  Rng rng(1);
  TaskMessage task = test::RandomTask(rng);
  task.type = JobType::kShell;
  task.http.reset();
  task.handler.reset();
  task.container.reset();
  const auto refused = [&](const TaskMessage& one) {
    const bool by_writer = !CheckTask(one).ok();
    EXPECT_EQ(DecodeTasks(EncodeTasks({one})).ok(), !by_writer);
    return by_writer;
  };
  EXPECT_FALSE(refused(task));
  TaskMessage large = task;
  large.command = std::string(256u << 10, 'x');
  EXPECT_FALSE(refused(large));
  large.command += 'x';
  EXPECT_TRUE(refused(large));
  EXPECT_EQ(
      CheckTask(large).error().message,
      "with the values of this run the command has 262145 bytes, and at most 262144 are possible");
  large = task;
  large.env.clear();
  for (int i = 0; i < 256; ++i) large.env["V" + std::to_string(i)] = "1";
  EXPECT_FALSE(refused(large));
  large.env["W"] = "1";
  EXPECT_TRUE(refused(large));
  large.env = {{"V", std::string((1u << 20) - 1, 'x')}};
  EXPECT_FALSE(refused(large));
  large.env["V"] += 'x';
  EXPECT_TRUE(refused(large));
  large = task;
  large.secret_env = {{"S", {{.text = std::string(1u << 20, 'x')}}}};
  EXPECT_TRUE(refused(large));
  large = task;
  large.command = std::string("a\0b", 3);
  EXPECT_TRUE(refused(large));
}

TEST(TaskCodecTest, FieldsOfALaterVersionAreSkipped) {
  v1::TaskBundle bundle;
  *bundle.add_tasks() = ValidTask();
  auto* task = bundle.mutable_tasks(0);
  task->GetReflection()->MutableUnknownFields(task)->AddVarint(900, 7);
  EXPECT_TRUE(DecodeTasks(bundle.SerializeAsString()).ok());
}

TEST(TaskCodecTest, VariablesWithSecretsAreChecked) {
  const auto with = [](const std::string& name, const std::string& text,
                       const std::string& secret) {
    return [=](v1::Task& task) {
      v1::SecretText& variable = (*task.mutable_secret_env())[name];
      variable.add_pieces()->set_text(text);
      variable.add_pieces()->set_secret(secret);
    };
  };
  EXPECT_FALSE(TaskIsCorruptAfter(with("TOKEN", "x", "token")));
  EXPECT_TRUE(TaskIsCorruptAfter(with("1TOKEN", "x", "token")));
  EXPECT_TRUE(TaskIsCorruptAfter(with("TOKEN", std::string(1, 0), "token")));
  EXPECT_TRUE(TaskIsCorruptAfter(with("TOKEN", "x", "")));
  EXPECT_TRUE(TaskIsCorruptAfter(with("TOKEN", "x", "no name")));
  EXPECT_TRUE(TaskIsCorruptAfter(with("TOKEN", std::string(2 << 20, 'x'), "token")));
  EXPECT_TRUE(TaskIsCorruptAfter([&](v1::Task& task) {
    (*task.mutable_env())["TOKEN"] = "x";
    with("TOKEN", "x", "token")(task);
  })) << "which of the two holds?";
}

TEST(TaskCodecTest, AScriptThatCannotRunIsCorrupt) {
  const auto corrupt = [](const std::function<void(v1::Task&)>& change) {
    return TaskIsCorruptAfter([&](v1::Task& task) {
      task.set_type("script");
      task.set_interpreter("python3");
      change(task);
    });
  };
  EXPECT_FALSE(corrupt([](v1::Task& task) { task.add_args("a"); }));
  EXPECT_TRUE(corrupt([](v1::Task& task) { task.set_interpreter("ruby"); }));
  EXPECT_TRUE(corrupt([](v1::Task& task) { task.clear_interpreter(); }));
  EXPECT_TRUE(corrupt([](v1::Task& task) { task.add_args(std::string(1, '\0')); }));
  EXPECT_TRUE(corrupt([](v1::Task& task) {
    for (size_t i = 0; i <= kScriptArgsMax; ++i) task.add_args("a");
  }));
}

TEST(TaskCodecTest, AContainerThatCouldBecomeAnOptionIsCorrupt) {
  const auto corrupt = [](const std::function<void(v1::Container&)>& change) {
    return TaskIsCorruptAfter([&](v1::Task& task) {
      task.set_type("container");
      task.mutable_container()->set_image("alpine");
      task.mutable_container()->set_network("none");
      task.mutable_container()->set_pull("never");
      change(*task.mutable_container());
    });
  };
  EXPECT_FALSE(corrupt([](v1::Container& to) { to.add_args(std::string(40'000, 'x')); }))
      << "a long parameter";
  EXPECT_TRUE(corrupt([](v1::Container& to) { to.set_image("--privileged"); }));
  EXPECT_TRUE(corrupt([](v1::Container& to) { to.set_user("--privileged"); }));
  EXPECT_TRUE(corrupt([](v1::Container& to) { to.set_network("host"); }));
  EXPECT_TRUE(corrupt([](v1::Container& to) { to.set_pull("--x"); }));
  EXPECT_TRUE(corrupt([](v1::Container& to) { to.add_args(std::string(1, '\0')); }));
}

}  // namespace
}  // namespace carillon
