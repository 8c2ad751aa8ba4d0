#include "executor/journal/attempt_codec.h"

#include <bit>

#include "common/domain/results/result_detail.h"

namespace carillon::executor {
namespace {

constexpr uint32_t kTextsMax = 4096;
constexpr uint32_t kGroupsMax = 65'536;  // of Linux
constexpr int64_t kNoExitCode = INT64_MIN;

RunState GetRunState(ByteReader& in) {
  const uint8_t raw = in.U8();
  if (raw > static_cast<uint8_t>(RunState::kSkipped)) {
    in.Fail();
    return RunState::kLost;
  }
  return static_cast<RunState>(raw);
}

void PutPairs(ByteWriter& out, const std::map<std::string, std::string>& pairs) {
  out.U32(static_cast<uint32_t>(pairs.size()));
  for (const auto& [name, value] : pairs) {
    out.Text(name);
    out.Text(value);
  }
}

void GetPairs(ByteReader& in, size_t max, std::map<std::string, std::string>& pairs) {
  const uint32_t count = in.U32();
  if (count > max) in.Fail();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    std::string name = in.Text();
    pairs[std::move(name)] = in.Text();
  }
}

void PutTexts(ByteWriter& out, const std::vector<std::string>& texts) {
  out.U32(static_cast<uint32_t>(texts.size()));
  for (const std::string& text : texts) out.Text(text);
}

std::vector<std::string> GetTexts(ByteReader& in) {
  std::vector<std::string> texts;
  const uint32_t count = in.U32();
  if (count > kTextsMax) in.Fail();
  for (uint32_t i = 0; i < count && in.ok(); ++i) texts.push_back(in.Text());
  return texts;
}

void PutScript(ByteWriter& out, const StartAttempt::Script& script) {
  out.Text(script.interpreter);
  out.Text(script.suffix);
  PutTexts(out, script.args);
}

StartAttempt::Script GetScript(ByteReader& in) {
  StartAttempt::Script script;
  script.interpreter = in.Text();
  script.suffix = in.Text();
  script.args = GetTexts(in);
  return script;
}

void PutLimits(ByteWriter& out, const Limits& limits) {
  out.I64(limits.memory_mb);
  out.U64(std::bit_cast<uint64_t>(limits.cpu));
  out.I64(limits.pids);
  out.I64(limits.open_files);
  out.I64(limits.file_size_mb);
  out.U8(limits.enforce == Enforce::kBestEffort ? 1 : 0);
}

Limits GetLimits(ByteReader& in) {
  Limits limits;
  limits.memory_mb = in.I64();
  limits.cpu = std::bit_cast<double>(in.U64());
  limits.pids = in.I64();
  limits.open_files = in.I64();
  limits.file_size_mb = in.I64();
  limits.enforce = in.U8() != 0 ? Enforce::kBestEffort : Enforce::kRequired;
  if (!CheckLimits(limits).ok()) in.Fail();
  return limits;
}

void PutContainer(ByteWriter& out, const StartAttempt::Container& container) {
  const ContainerDefinition& definition = container.definition;
  out.Text(container.engine);
  out.Text(definition.image);
  PutTexts(out, definition.command);
  PutTexts(out, definition.args);
  out.Text(Name(definition.network));
  out.U8(definition.read_only ? 1 : 0);
  out.Text(definition.user);
  out.Text(Name(definition.pull));
}

StartAttempt::Container GetContainer(ByteReader& in) {
  StartAttempt::Container container;
  ContainerDefinition& definition = container.definition;
  container.engine = in.Text();
  definition.image = in.Text();
  definition.command = GetTexts(in);
  definition.args = GetTexts(in);
  const auto network = ParseName<ContainerNetwork>(in.Text());
  definition.read_only = in.U8() != 0;
  definition.user = in.Text();
  const auto pull = ParseName<ContainerPull>(in.Text());
  if (!network.ok() || !pull.ok() || !IsRenderedContainer(definition)) {
    in.Fail();
    return container;
  }
  definition.network = *network;
  definition.pull = *pull;
  return container;
}

void PutUser(ByteWriter& out, const ProcessUser& user) {
  out.Text(user.name);
  out.U32(user.uid);
  out.U32(user.gid);
  out.U32(static_cast<uint32_t>(user.groups.size()));
  for (const uint32_t group : user.groups) out.U32(group);
  out.Text(user.home);
}

ProcessUser GetUser(ByteReader& in) {
  ProcessUser user;
  user.name = in.Text();
  user.uid = in.U32();
  user.gid = in.U32();
  const uint32_t count = in.U32();
  if (count > kGroupsMax) in.Fail();
  for (uint32_t i = 0; i < count && in.ok(); ++i) user.groups.push_back(in.U32());
  user.home = in.Text();
  return user;
}

template <typename T>
void PutOptional(ByteWriter& out, const std::optional<T>& part,
                 void (*put)(ByteWriter&, const T&)) {
  out.U8(part ? 1 : 0);
  if (part) put(out, *part);
}

template <typename T>
void GetOptional(ByteReader& in, std::optional<T>& part, T (*get)(ByteReader&)) {
  if (in.U8() != 0) part = get(in);
}

}  // namespace

void PutHeld(ByteWriter& out, const HeldAttempt& held) {
  out.I64(ToUnixMicros(held.key.fire));
  out.U64(held.key.schedule_id.value());
  out.U32(held.key.shard);
  out.U32(held.segment.value());
  out.U64(held.job_no.value());
  out.U32(static_cast<uint32_t>(held.attempt));
  out.U64(held.token.high);
  out.U64(held.token.low);
}

HeldAttempt GetHeld(ByteReader& in) {
  HeldAttempt held;
  held.key.fire = FromUnixMicros(in.I64());
  held.key.schedule_id = ScheduleId(in.U64());
  held.key.shard = in.U32();
  held.segment = SegmentId(in.U32());
  held.job_no = JobNo(in.U64());
  held.attempt = static_cast<int>(in.U32());
  held.token.high = in.U64();
  held.token.low = in.U64();
  return held;
}

void PutStart(ByteWriter& out, const StartAttempt& start) {
  PutHeld(out, start.attempt);
  out.Text(start.command);
  PutPairs(out, start.env);
  out.I64(start.timeout.count());
  out.I64(start.kill_grace.count());
  out.I64(start.lease_end.time_since_epoch().count());
  out.U8(start.kill_at_lease_end ? 1 : 0);
  out.U64(start.output_bytes_max);
  out.Text(start.job_id.value());
  PutTexts(out, start.masked);
  PutOptional(out, start.script, PutScript);
  PutOptional(out, start.container, PutContainer);
  PutOptional(out, start.limits, PutLimits);
  PutOptional(out, start.user, PutUser);
  // Only a warden that offers Feature::kWorkingDirectory or kOutputEncoding gets one.
  const bool encoded = !start.output_encoding.empty();
  if (encoded || !start.working_directory.empty()) out.Text(start.working_directory);
  if (encoded) out.Text(start.output_encoding);
}

StartAttempt GetStart(ByteReader& in) {
  StartAttempt start;
  start.attempt = GetHeld(in);
  start.command = in.Text();
  GetPairs(in, kTextsMax, start.env);
  start.timeout = Duration(in.I64());
  start.kill_grace = Duration(in.I64());
  start.lease_end = SteadyTime(Duration(in.I64()));
  start.kill_at_lease_end = in.U8() != 0;
  start.output_bytes_max = in.U64();
  start.job_id = JobId(in.Text());
  start.masked = GetTexts(in);
  GetOptional(in, start.script, GetScript);
  GetOptional(in, start.container, GetContainer);
  GetOptional(in, start.limits, GetLimits);
  GetOptional(in, start.user, GetUser);
  if (in.ok() && !in.Finished()) start.working_directory = in.Text();
  if (in.ok() && !in.Finished()) start.output_encoding = in.Text();
  return start;
}

void PutEnded(ByteWriter& out, const AttemptEnded& ended) {
  PutHeld(out, ended.attempt);
  out.Text(ended.job_id.value());
  const AttemptResult& result = ended.result;
  out.U8(static_cast<uint8_t>(result.state));
  out.Text(result.reason);
  out.Text(result.error);
  out.I64(result.exit_code ? *result.exit_code : kNoExitCode);
  out.I64(ToUnixMicros(result.started));
  out.I64(ToUnixMicros(result.ended));
  out.Text(result.output);
  out.U8(result.output_truncated ? 1 : 0);
  PutPairs(out, result.outputs);
  out.Text(DetailToText(result));
}

AttemptEnded GetEnded(ByteReader& in) {
  AttemptEnded ended;
  ended.attempt = GetHeld(in);
  ended.job_id = JobId(in.Text());
  AttemptResult& result = ended.result;
  result.state = GetRunState(in);
  result.reason = in.Text();
  result.error = in.Text();
  const int64_t exit_code = in.I64();
  if (exit_code != kNoExitCode) result.exit_code = static_cast<int>(exit_code);
  result.started = FromUnixMicros(in.I64());
  result.ended = FromUnixMicros(in.I64());
  result.output = in.Text();
  result.output_truncated = in.U8() != 0;
  GetPairs(in, kOutputsMax, result.outputs);
  ReadDetail(in.Text(), result);
  return ended;
}

void PutStoredEnd(ByteWriter& out, const AttemptEnded& ended) {
  out.U32(kAttemptCodecVersion);
  PutEnded(out, ended);
}

AttemptEnded GetStoredEnd(ByteReader& in) {
  if (in.U32() != kAttemptCodecVersion) in.Fail();
  return GetEnded(in);
}

}  // namespace carillon::executor
