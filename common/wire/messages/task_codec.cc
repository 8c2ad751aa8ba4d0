#include "common/wire/messages/task_codec.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>

#include "carillon/v1/task.pb.h"
#include "common/base/ascii.h"
#include "common/base/charset.h"
#include "common/base/check.h"
#include "common/domain/executor_state.h"
#include "common/domain/job/job_types.h"
#include "common/domain/job/retry.h"
#include "common/domain/job_text.h"
#include "common/domain/run/retry_conditions.h"
#include "common/domain/trace.h"
#include "common/wire/json/job/job_json.h"
#include "common/wire/messages/bundle_items.h"
#include "common/wire/messages/container_codec.h"
#include "common/wire/messages/decode_checks.h"
#include "common/wire/messages/http_codec.h"
#include "common/wire/messages/isolation_codec.h"

namespace carillon {
namespace {

// Limits of a decoder. Where templates or Carillon's own variables make a value longer, they are
// wider than the limits of a job. They never exceed what the receiver can handle.
constexpr size_t kBundleBytesMax = 32u << 20;
constexpr size_t kOutputBytesMax = 256u << 10;
constexpr size_t kErrorBytesMax = 4096;
constexpr size_t kReasonBytesMax = 64;
constexpr uint32_t kAttemptMax = 1'000'000;
constexpr uint32_t kShardsMax = 1u << 20;
constexpr uint32_t kTimeoutMax_s = 604'800;
constexpr uint32_t kRetriesMax = 100;
constexpr uint32_t kRetryIntervalMax_s = 86'400;
constexpr uint32_t kPriorityMax = 100;
constexpr uint32_t kKillGraceMax_s = 3'600;
constexpr int64_t kLastMicros = (int64_t{1} << 56) - 1;  // the largest time in a RunKey

Error Corrupt(std::string_view what) {
  return {ErrorCode::kCorrupt, "bus payload: " + std::string(what)};
}

bool IsReason(std::string_view reason) {
  if (reason.size() > kReasonBytesMax) return false;
  for (char c : reason) {
    if (!(c >= 'a' && c <= 'z') && !IsDigit(c) && c != '_') return false;
  }
  return true;
}

Result<SecretVariables> DecodeSecretEnv(const v1::Task& from) {
  SecretVariables variables;
  for (const auto& [name, text] : from.secret_env()) {
    if (!wire::IsEnvironmentName(name) || from.env().contains(name))
      return Corrupt("environment entry");
    auto pieces = wire::DecodeSecretText(text, wire::kEnvironmentBytesMax);
    if (!pieces) return Corrupt("environment entry");
    variables[name] = std::move(*pieces);
  }
  return variables;
}

void EncodeSecretEnv(const SecretVariables& variables, v1::Task& to) {
  for (const auto& [name, pieces] : variables) {
    wire::EncodeSecretText(pieces, (*to.mutable_secret_env())[name]);
  }
}

Status CheckNumbers(const v1::Task& from) {
  if (from.attempt() < 1 || from.attempt() > kAttemptMax) return Corrupt("attempt");
  if (from.segment() > wire::kSegmentMax) return Corrupt("segment");
  if (from.job_no() > static_cast<uint64_t>(INT64_MAX)) return Corrupt("job_no");
  if (from.def_version() < 0) return Corrupt("def_version");
  if (from.due_us() < 0 || from.due_us() > kLastMicros) return Corrupt("due_us");
  if (from.timeout() < 1 || from.timeout() > kTimeoutMax_s) return Corrupt("timeout");
  if (from.retry_count() > kRetriesMax) return Corrupt("retry_count");
  if (from.retry_interval() > kRetryIntervalMax_s) return Corrupt("retry_interval");
  if (from.priority() > kPriorityMax) return Corrupt("priority");
  if (from.kill_grace() > kKillGraceMax_s) return Corrupt("kill_grace");
  if (from.shard_total() < 1 || from.shard_total() > kShardsMax) return Corrupt("shard_total");
  return {};
}

Status DecodeNames(const v1::Task& from, TaskMessage& task) {
  const auto key = DecodeRunId(from.task_id());
  const auto created = ParseRfc3339(from.create_time());
  const auto type = ParseName<JobType>(from.type());
  const auto overlap = ParseName<OverlapPolicy>(from.overlap_policy());
  const auto on_lost = ParseName<OnLost>(from.on_lost());
  if (!key.ok()) return Corrupt("task_id");
  if (!ValidateJobId(from.job_id()).ok()) return Corrupt("job_id");
  if (!wire::IsMemberId(from.member())) return Corrupt("member");
  if (!created.ok()) return Corrupt("create_time");
  if (!type.ok() || !overlap.ok() || !on_lost.ok()) return Corrupt("type or policy");
  if (RunnerOf(*type) == Runner::kScheduler) return Corrupt("type");
  if (key->shard > from.shard_total()) return Corrupt("shard");
  if (from.shard_index() != ShardIndexOf(*key)) return Corrupt("shard_index");
  task.key = *key;
  task.job_id = JobId(from.job_id());
  task.member = MemberId(from.member());
  task.created = *created;
  task.type = *type;
  task.overlap = *overlap;
  task.on_lost = *on_lost;
  return {};
}

Status DecodeScript(const v1::Task& from, TaskMessage& task) {
  if (task.type != JobType::kScript) return {};
  const auto interpreter = ParseInterpreter(from.interpreter());
  if (!interpreter.ok()) return Corrupt("interpreter");
  if (static_cast<size_t>(from.args_size()) > kScriptArgsMax) return Corrupt("too many arguments");
  task.args = {from.args().begin(), from.args().end()};
  task.interpreter = *interpreter;
  return {};
}

Status DecodeIsolation(const v1::Task& from, TaskMessage& task) {
  if (!StartsProcess(task.type)) return {};
  if (from.has_limits()) {
    task.limits = wire::DecodeLimits(from.limits());
    if (!task.limits) return Corrupt("limits");
  }
  if (!from.run_as().empty() && !IsUserName(from.run_as())) return Corrupt("run_as");
  task.run_as = from.run_as();
  const std::string& directory = from.working_directory();
  if (!directory.empty() && !WorkingDirectoryFault(directory).empty())
    return Corrupt("working_directory");
  task.working_directory = directory;
  if (!from.output_encoding().empty() && !IsCharset(from.output_encoding()))
    return Corrupt("output_encoding");
  task.output_encoding = from.output_encoding();
  return {};
}

Result<TaskMessage> DecodeTask(const v1::Task& from) {
  TaskMessage task;
  CARILLON_TRY(CheckNumbers(from));
  CARILLON_TRY(DecodeNames(from, task));
  task.job_no = JobNo(from.job_no());
  task.segment = SegmentId(from.segment());
  task.attempt = static_cast<int>(from.attempt());
  task.def_version = from.def_version();
  task.due = FromUnixMicros(from.due_us());
  task.command = from.command();
  task.env = {from.env().begin(), from.env().end()};
  CARILLON_TRY(DecodeScript(from, task));
  if (task.type == JobType::kContainer) task.container = wire::DecodeContainer(from.container());
  if (task.type == JobType::kContainer && !task.container) return Corrupt("container");
  CARILLON_TRY(DecodeIsolation(from, task));
  if (task.type == JobType::kHttp) task.http = wire::DecodeHttpCall(from.http());
  if (task.type == JobType::kHttp && !task.http) return Corrupt("http");
  if (task.type == JobType::kHandler) {
    if (!IsFullHandlerName(from.handler())) return Corrupt("handler");
    task.handler = HandlerCall{.name = from.handler(), .parameters_json = from.parameters_json()};
  }
  CARILLON_ASSIGN_OR_RETURN(task.secret_env, DecodeSecretEnv(from));
  task.timeout_s = from.timeout();
  task.kill_grace_s = from.kill_grace();
  task.retry_count = from.retry_count();
  task.retry_interval_s = from.retry_interval();
  task.priority = static_cast<int>(from.priority());
  task.shard_total = from.shard_total();
  if (!from.trace_id().empty() && !IsTraceId(from.trace_id())) return Corrupt("trace_id");
  task.trace_id = from.trace_id();
  if (const Status checked = CheckTask(task); !checked.ok())
    return Corrupt(checked.error().message);
  return task;
}

// The parts of an invalid task that its claim and result need. nullopt: some are invalid.
std::optional<TaskMessage> RestOf(const v1::Task& from, const Error& error) {
  const auto key = DecodeRunId(from.task_id());
  const bool known = key.ok() && ValidateJobId(from.job_id()).ok() &&
                     wire::IsMemberId(from.member()) && from.attempt() >= 1 &&
                     from.attempt() <= kAttemptMax && from.segment() <= wire::kSegmentMax &&
                     from.job_no() <= static_cast<uint64_t>(INT64_MAX) && from.def_version() >= 0;
  if (!known) return std::nullopt;
  TaskMessage task;
  task.key = *key;
  task.job_id = JobId(from.job_id());
  task.job_no = JobNo(from.job_no());
  task.segment = SegmentId(from.segment());
  task.attempt = static_cast<int>(from.attempt());
  task.def_version = from.def_version();
  task.member = MemberId(from.member());
  task.type = JobType::kNoop;
  task.priority = static_cast<int>(std::min(from.priority(), kPriorityMax));
  task.unreadable = error.message;
  return task;
}

void EncodeTask(const TaskMessage& task, v1::Task& to) {
  to.set_task_id(EncodeRunId(task.key));
  to.set_job_id(task.job_id.value());
  to.set_command(task.command);
  if (task.interpreter) to.set_interpreter(std::string(Name(*task.interpreter)));
  for (const std::string& arg : task.args) to.add_args(arg);
  if (task.limits) wire::EncodeLimits(*task.limits, *to.mutable_limits());
  to.set_run_as(task.run_as);
  to.set_working_directory(task.working_directory);
  to.set_output_encoding(task.output_encoding);
  if (task.container) wire::EncodeContainer(*task.container, *to.mutable_container());
  if (task.http) wire::EncodeHttpCall(*task.http, *to.mutable_http());
  if (task.handler) {
    to.set_handler(task.handler->name);
    to.set_parameters_json(task.handler->parameters_json);
  }
  to.set_timeout(static_cast<uint32_t>(task.timeout_s));
  to.set_retry_count(static_cast<uint32_t>(task.retry_count));
  to.set_retry_interval(static_cast<uint32_t>(task.retry_interval_s));
  to.set_priority(static_cast<uint32_t>(task.priority));
  to.set_create_time(FormatRfc3339(task.created));
  to.set_type(std::string(Name(task.type)));
  to.set_attempt(static_cast<uint32_t>(task.attempt));
  to.set_job_no(task.job_no.value());
  to.set_segment(task.segment.value());
  to.set_def_version(task.def_version);
  to.set_member(task.member.value());
  to.set_due_us(ToUnixMicros(task.due));
  for (const auto& [name, value] : task.env) (*to.mutable_env())[name] = value;
  EncodeSecretEnv(task.secret_env, to);
  to.set_kill_grace(static_cast<uint32_t>(task.kill_grace_s));
  to.set_overlap_policy(std::string(Name(task.overlap)));
  to.set_on_lost(std::string(Name(task.on_lost)));
  to.set_shard_index(ShardIndexOf(task.key));
  to.set_shard_total(task.shard_total);
  to.set_trace_id(task.trace_id);
}

// Converts a time that may be missing: zero here, empty on the wire.
std::string FormatOrEmpty(WallTime t) { return t == WallTime{} ? "" : FormatRfc3339(t); }
Result<WallTime> ParseOrZero(const std::string& text) {
  if (text.empty()) return WallTime{};
  return ParseRfc3339(text);
}

// Valid UTF-8 of at most `bytes_max` bytes, cut between characters.
std::string Clip(std::string_view text, size_t bytes_max) {
  std::string valid = ToValidUtf8(text);
  if (valid.size() <= bytes_max) return valid;
  size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(valid[end]) & 0xC0) == 0x80) --end;
  valid.resize(end);
  return valid;
}

bool IsAttemptEnd(RunState state) {
  return state == RunState::kCompleted || state == RunState::kFailed ||
         state == RunState::kTimedOut || state == RunState::kCancelled || state == RunState::kLost;
}

Status DecodeAttemptResult(const v1::TaskResult& from, AttemptResult& result) {
  const auto state = ParseRunState(from.status());
  const auto started = ParseOrZero(from.start_time());
  const auto ended = ParseOrZero(from.end_time());
  if (!state.ok() || !IsAttemptEnd(*state)) return Corrupt("status");
  if (!started.ok() || !ended.ok()) return Corrupt("start_time or end_time");
  if (from.output().size() > kOutputBytesMax) return Corrupt("output is too long");
  if (from.error().size() > kErrorBytesMax) return Corrupt("error is too long");
  if (!IsReason(from.reason())) return Corrupt("reason");
  result.state = *state;
  result.reason = from.reason();
  result.error = from.error();
  if (from.has_exit_code()) result.exit_code = from.exit_code();
  result.started = *started;
  result.ended = *ended;
  result.output = from.output();
  result.output_truncated = from.output_truncated();
  if (from.outputs_size() > static_cast<int>(kOutputsMax)) return Corrupt("too many outputs");
  for (const v1::Output& output : from.outputs()) {
    if (!result.outputs.emplace(output.name(), output.value()).second) return Corrupt("outputs");
  }
  if (from.has_usage()) {
    const v1::Usage& used = from.usage();
    result.usage = {.cpu_us = used.cpu_us(),
                    .memory_bytes = used.memory_bytes(),
                    .read_bytes = used.read_bytes(),
                    .written_bytes = used.written_bytes()};
    if (!UsageFromText(UsageToText(*result.usage))) return Corrupt("usage");
  }
  if (from.has_http_status()) {
    if (from.http_status() < 100 || from.http_status() > 599) return Corrupt("http_status");
    result.http_status = static_cast<int>(from.http_status());
  }
  if (from.has_retry_after()) {
    if (std::chrono::seconds(from.retry_after()) > kRetryAfterMax) return Corrupt("retry_after");
    result.retry_after = std::chrono::seconds(from.retry_after());
  }
  if (!from.error_code().empty() && !IsErrorCode(from.error_code())) return Corrupt("error_code");
  result.error_code = from.error_code();
  result.no_retry = from.no_retry();
  auto not_enforced = wire::DecodeNotEnforced(from);
  if (!not_enforced) return Corrupt("limits_not_enforced");
  result.limits_not_enforced = *std::move(not_enforced);
  result.saved = from.saved();
  // Only a process that exited by itself has outputs, or a function that returned.
  const bool exited = result.state == RunState::kCompleted ||
                      (result.exit_code && result.state == RunState::kFailed);
  if (!result.outputs.empty() && !exited) return Corrupt("outputs without an exit");
  if (!CheckOutputs(result.outputs).ok()) return Corrupt("outputs");
  return {};
}

Result<ResultMessage> DecodeResult(const v1::TaskResult& from) {
  ResultMessage message;
  const auto key = DecodeRunId(from.task_id());
  const auto token = ParseClaimToken(from.claim_token());
  if (!key.ok()) return Corrupt("task_id");
  if (!ValidateJobId(from.job_id()).ok()) return Corrupt("job_id");
  if (!IsExecutorId(from.executor_id())) return Corrupt("executor_id");
  // Rows that were never claimed have the empty token; no result may match them.
  if (!token.ok() || token->empty()) return Corrupt("claim_token");
  if (from.attempt() < 1 || from.attempt() > kAttemptMax) return Corrupt("attempt");
  if (from.segment() > wire::kSegmentMax) return Corrupt("segment");
  if (from.job_no() > static_cast<uint64_t>(INT64_MAX)) return Corrupt("job_no");
  CARILLON_TRY(DecodeAttemptResult(from, message.report.result));
  message.job_id = JobId(from.job_id());
  message.report.key = *key;
  message.report.segment = SegmentId(from.segment());
  message.report.job_no = JobNo(from.job_no());
  message.report.attempt = static_cast<int>(from.attempt());
  message.report.token = *token;
  message.report.executor = ExecutorId(from.executor_id());
  return message;
}

void EncodeResult(const ResultMessage& message, v1::TaskResult& to) {
  const ResultReport& report = message.report;
  const AttemptResult& result = report.result;
  to.set_task_id(EncodeRunId(report.key));
  to.set_job_id(message.job_id.value());
  to.set_executor_id(report.executor.value());
  to.set_status(std::string(Name(result.state)));
  to.set_start_time(FormatOrEmpty(result.started));
  to.set_end_time(FormatOrEmpty(result.ended));
  to.set_output(result.output);
  to.set_error(Clip(result.error, kErrorBytesMax));
  if (result.exit_code) to.set_exit_code(*result.exit_code);
  to.set_reason(result.reason);
  to.set_attempt(static_cast<uint32_t>(report.attempt));
  to.set_job_no(report.job_no.value());
  to.set_segment(report.segment.value());
  to.set_claim_token(FormatClaimToken(report.token));
  to.set_output_truncated(result.output_truncated);
  if (result.usage) {
    to.mutable_usage()->set_cpu_us(result.usage->cpu_us);
    to.mutable_usage()->set_memory_bytes(result.usage->memory_bytes);
    to.mutable_usage()->set_read_bytes(result.usage->read_bytes);
    to.mutable_usage()->set_written_bytes(result.usage->written_bytes);
  }
  if (result.http_status) to.set_http_status(static_cast<uint32_t>(*result.http_status));
  if (result.retry_after) {
    to.set_retry_after(static_cast<uint32_t>(*result.retry_after / std::chrono::seconds(1)));
  }
  to.set_error_code(result.error_code);
  to.set_no_retry(result.no_retry);
  for (const std::string& name : result.limits_not_enforced) to.add_limits_not_enforced(name);
  to.set_saved(result.saved);
  for (const auto& [name, value] : result.outputs) {
    v1::Output& output = *to.add_outputs();
    output.set_name(name);
    output.set_value(value);
  }
}

// The first byte of a JSON record. No bundle begins with it, because in Protobuf it would begin a
// group, and the messages of Carillon have no groups.
constexpr char kJsonBegin = '{';

std::string ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string text;
  const auto printed = google::protobuf::util::MessageToJsonString(message, &text, options);
  CARILLON_CHECK(printed.ok(), printed.ToString());
  return text;
}

bool IsJson(std::string_view bytes) { return !bytes.empty() && bytes.front() == kJsonBegin; }

// Decodes the only item of a JSON record, on `arena`.
template <typename Item>
Result<const Item*> JsonItem(std::string_view bytes, google::protobuf::Arena& arena) {
  if (!CountUtf8(bytes)) return Corrupt("JSON that is not UTF-8");
  auto* item = google::protobuf::Arena::CreateMessage<Item>(&arena);
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;  // fields of later versions, as in binary records
  const google::protobuf::StringPiece text(bytes.data(), bytes.size());
  const auto parsed = google::protobuf::util::JsonStringToMessage(text, item, options);
  if (!parsed.ok()) return Corrupt("not this JSON: " + parsed.ToString().substr(0, 200));
  return item;
}

// Parses the items of a record, on `arena`, except those of segments for which `wanted` is false.
// Null stands for an unreadable item.
template <typename Item>
Result<std::vector<const Item*>> ItemsOf(std::string_view bytes, google::protobuf::Arena& arena,
                                         const std::function<bool(SegmentId)>& wanted = {}) {
  if (bytes.size() > kBundleBytesMax) return Corrupt("too long");
  wire::SilenceProtobuf();
  std::vector<const Item*> items;
  if (IsJson(bytes)) {
    CARILLON_ASSIGN_OR_RETURN(const Item* item, JsonItem<Item>(bytes, arena));
    const bool readable = item->segment() <= wire::kSegmentMax;
    const bool left_out = readable && wanted && !wanted(SegmentId(item->segment()));
    if (!left_out) items.push_back(item);
    return items;
  }
  CARILLON_ASSIGN_OR_RETURN(const auto parts,
                            wire::ItemsOfBundle(bytes, Item::kSegmentFieldNumber));
  if (parts.size() > kBundleTasksMax) return Corrupt("too many in a bundle");
  for (const wire::BundleItem& part : parts) {
    if (part.segment && wanted && !wanted(*part.segment)) continue;
    auto* item = google::protobuf::Arena::CreateMessage<Item>(&arena);
    const auto size = static_cast<int>(part.bytes.size());
    items.push_back(item->ParseFromArray(part.bytes.data(), size) ? item : nullptr);
  }
  return items;
}

// Decodes each item. Errors go to `unreadable`; without it, the first one is returned.
template <typename Item, typename Decode>
auto DecodeEach(const std::vector<const Item*>& items, const Decode& decode,
                std::vector<Error>* unreadable)
    -> Result<std::vector<typename decltype(decode(*items.front()))::value_type>> {
  std::vector<typename decltype(decode(*items.front()))::value_type> decoded;
  decoded.reserve(items.size());
  for (const Item* item : items) {
    auto one = item != nullptr ? decode(*item) : Corrupt("an item of a bundle");
    if (one.ok()) {
      decoded.push_back(std::move(one).value());
    } else if (unreadable != nullptr) {
      unreadable->push_back(one.error());
    } else {
      return one.error();
    }
  }
  return decoded;
}

}  // namespace

BusFormat BusFormatOf(std::string_view name) {
  return name == "json" ? BusFormat::kJson : BusFormat::kBinary;
}

std::string EncodeTasks(const std::vector<TaskMessage>& tasks, BusFormat format) {
  google::protobuf::Arena arena;
  auto* bundle = google::protobuf::Arena::CreateMessage<v1::TaskBundle>(&arena);
  for (const TaskMessage& task : tasks) EncodeTask(task, *bundle->add_tasks());
  if (format == BusFormat::kBinary) return bundle->SerializeAsString();
  CARILLON_CHECK(tasks.size() == 1, "one task in a JSON record");
  return ToJson(bundle->tasks(0));
}

Result<std::vector<TaskMessage>> DecodeTasks(std::string_view bytes,
                                             std::vector<UnreadableTask>* unreadable) {
  google::protobuf::Arena arena;
  CARILLON_ASSIGN_OR_RETURN(const auto items, ItemsOf<v1::Task>(bytes, arena));
  if (unreadable == nullptr) return DecodeEach(items, DecodeTask, nullptr);
  std::vector<TaskMessage> tasks;
  tasks.reserve(items.size());
  for (const v1::Task* item : items) {
    auto task = item != nullptr ? DecodeTask(*item) : Corrupt("an item of a bundle");
    if (task.ok()) {
      tasks.push_back(std::move(task).value());
      continue;
    }
    UnreadableTask& left_out = unreadable->emplace_back(task.error());
    if (item != nullptr) left_out.rest = RestOf(*item, task.error());
  }
  return tasks;
}

std::string EncodeResults(const std::vector<ResultMessage>& results, BusFormat format) {
  google::protobuf::Arena arena;
  auto* bundle = google::protobuf::Arena::CreateMessage<v1::ResultBundle>(&arena);
  for (const ResultMessage& result : results) EncodeResult(result, *bundle->add_results());
  if (format == BusFormat::kBinary) return bundle->SerializeAsString();
  CARILLON_CHECK(results.size() == 1, "one result in a JSON record");
  return ToJson(bundle->results(0));
}

Result<std::vector<ResultMessage>> DecodeResults(std::string_view bytes,
                                                 std::vector<Error>* unreadable,
                                                 const std::function<bool(SegmentId)>& wanted) {
  google::protobuf::Arena arena;
  CARILLON_ASSIGN_OR_RETURN(const auto items, ItemsOf<v1::TaskResult>(bytes, arena, wanted));
  return DecodeEach(items, DecodeResult, unreadable);
}

}  // namespace carillon
