#include "executor/journal/attempt_codec.h"

#include "common/domain/run/result_detail.h"

namespace carillon::executor {
namespace {

constexpr uint32_t kEnvEntriesMax = 4096;
constexpr int64_t kNoExitCode = INT64_MIN;

RunState GetRunState(ByteReader& in) {
  const uint8_t raw = in.U8();
  if (raw > static_cast<uint8_t>(RunState::kSkipped)) {
    in.Fail();
    return RunState::kLost;
  }
  return static_cast<RunState>(raw);
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
  out.U32(static_cast<uint32_t>(start.env.size()));
  for (const auto& [name, value] : start.env) {
    out.Text(name);
    out.Text(value);
  }
  out.I64(start.timeout.count());
  out.I64(start.kill_grace.count());
  out.I64(start.lease_end.time_since_epoch().count());
  out.U8(start.kill_at_lease_end ? 1 : 0);
  out.U64(start.output_bytes_max);
  out.Text(start.job_id.value());
}

StartAttempt GetStart(ByteReader& in) {
  StartAttempt start;
  start.attempt = GetHeld(in);
  start.command = in.Text();
  const uint32_t count = in.U32();
  if (count > kEnvEntriesMax) in.Fail();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    std::string name = in.Text();
    start.env[std::move(name)] = in.Text();
  }
  start.timeout = Duration(in.I64());
  start.kill_grace = Duration(in.I64());
  start.lease_end = SteadyTime(Duration(in.I64()));
  start.kill_at_lease_end = in.U8() != 0;
  start.output_bytes_max = in.U64();
  start.job_id = JobId(in.Text());
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
  return ended;
}

void PutEndedOutputs(ByteWriter& out, const AttemptEnded& ended) {
  PutEnded(out, ended);
  const Outputs& outputs = ended.result.outputs;
  out.U32(static_cast<uint32_t>(outputs.size()));
  for (const auto& [name, value] : outputs) {
    out.Text(name);
    out.Text(value);
  }
}

AttemptEnded GetEndedOutputs(ByteReader& in) {
  AttemptEnded ended = GetEnded(in);
  const uint32_t count = in.U32();
  if (count > kOutputsMax) in.Fail();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    std::string name = in.Text();
    ended.result.outputs[std::move(name)] = in.Text();
  }
  return ended;
}

void PutEndedWhole(ByteWriter& out, const AttemptEnded& ended) {
  PutEndedOutputs(out, ended);
  out.Text(DetailToText(ended.result));
}

AttemptEnded GetEndedWhole(ByteReader& in) {
  AttemptEnded ended = GetEndedOutputs(in);
  ReadDetail(in.Text(), ended.result);
  return ended;
}

void PutStoredEnd(ByteWriter& out, const AttemptEnded& ended) {
  if (!DetailToText(ended.result).empty()) {
    out.U32(kStoredDetailVersion);
    return PutEndedWhole(out, ended);
  }
  if (ended.result.outputs.empty()) {
    out.U32(kAttemptCodecVersion);
    return PutEnded(out, ended);
  }
  out.U32(kStoredOutputsVersion);
  PutEndedOutputs(out, ended);
}

AttemptEnded GetStoredEnd(ByteReader& in) {
  const uint32_t version = in.U32();
  if (version == kAttemptCodecVersion) return GetEnded(in);
  if (version == kStoredOutputsVersion) return GetEndedOutputs(in);
  if (version == kStoredDetailVersion) return GetEndedWhole(in);
  in.Fail();
  return {};
}

}  // namespace carillon::executor
