#include "executor/warden/channel/warden_protocol.h"

#include <bit>
#include <type_traits>

#include <fmt/format.h>

#include "executor/journal/attempt_codec.h"

namespace carillon::executor {
namespace {

using namespace warden_message;

constexpr size_t kTextsMax = 4096;
constexpr uint32_t kGroupsMax = 65'536;  // of Linux
// The type on the wire is the index of the message in WardenMessage plus one.
constexpr size_t kTypes = std::variant_size_v<WardenMessage>;

void PutHeldList(ByteWriter& out, const std::vector<HeldAttempt>& attempts) {
  out.U32(static_cast<uint32_t>(attempts.size()));
  for (const HeldAttempt& attempt : attempts) PutHeld(out, attempt);
}

std::vector<HeldAttempt> GetHeldList(ByteReader& in) {
  std::vector<HeldAttempt> attempts;
  const uint32_t count = in.U32();
  if (count > kHeldPerFrameMax) in.Fail();
  for (uint32_t i = 0; i < count && in.ok(); ++i) attempts.push_back(GetHeld(in));
  return attempts;
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

void PutStarted(ByteWriter& out, const AttemptStarted& started) {
  PutHeld(out, started.attempt);
  out.I64(ToUnixMicros(started.started));
}

AttemptStarted GetStarted(ByteReader& in) {
  AttemptStarted started;
  started.attempt = GetHeld(in);
  started.started = FromUnixMicros(in.I64());
  return started;
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

void PutCheck(ByteWriter& out, const HostCheck& check) {
  out.Text(check.name);
  out.U8(static_cast<uint8_t>(check.state));
  out.Text(check.detail);
  out.Text(check.cure);
}

HostCheck GetCheck(ByteReader& in) {
  HostCheck check;
  check.name = in.Text();
  const uint8_t state = in.U8();
  if (state > static_cast<uint8_t>(HostCheckState::kNo)) in.Fail();
  check.state = static_cast<HostCheckState>(state);
  check.detail = in.Text();
  check.cure = in.Text();
  return check;
}

struct Putter {
  ByteWriter& out;
  void operator()(const Hello& m) { out.U32(m.version); }
  void operator()(const Start& m) { PutStart(out, m.start); }
  void operator()(const Renew& m) {
    out.I64(m.lease_end.time_since_epoch().count());
    PutHeldList(out, m.attempts);
  }
  void operator()(const Cancel& m) { PutHeld(out, m.attempt); }
  void operator()(const Kill& m) { PutHeld(out, m.attempt); }
  void operator()(const Note& m) {
    PutHeld(out, m.attempt);
    out.Text(m.text);
  }
  void operator()(const List& m) { out.U64(m.request); }
  void operator()(const Forget& m) { PutHeldList(out, m.attempts); }
  void operator()(const Leave&) {}
  void operator()(const Ping&) {}
  void operator()(const Pong&) {}
  void operator()(const Welcome& m) {
    out.U32(m.version);
    out.I64(m.pid);
  }
  void operator()(const Refused& m) { out.Text(m.text); }
  void operator()(const Started& m) { PutStarted(out, m.started); }
  void operator()(const Ended& m) { PutEnded(out, m.ended); }
  void operator()(const ListRunning& m) {
    out.U64(m.request);
    PutStarted(out, m.running);
  }
  void operator()(const ListEnded& m) {
    out.U64(m.request);
    PutEnded(out, m.ended);
  }
  void operator()(const ListEnd& m) { out.U64(m.request); }
  void operator()(const Readiness& m) {
    out.U8(m.ready ? 1 : 0);
    out.Text(m.text);
  }
  void operator()(const Follow& m) { out.U64(m.log_bytes_max); }
  void operator()(const OutputKept& m) {
    out.U32(static_cast<uint32_t>(m.confirmed.size()));
    for (const StoredOutput& confirmed : m.confirmed) {
      PutHeld(out, confirmed.attempt);
      out.U64(confirmed.first_seq);
    }
  }
  void operator()(const Output& m) {
    PutHeld(out, m.output.attempt);
    out.Text(m.output.job_id.value());
    out.U64(m.output.chunk.first_seq);
    out.U32(m.output.chunk.count);
    out.U8(m.output.chunk.last ? 1 : 0);
    out.Text(m.output.chunk.entries);
  }
  void operator()(const StartMasked& m) {
    PutStart(out, m.start);
    PutTexts(out, m.start.masked);
  }
  void operator()(const TakeWhole&) {}
  void operator()(const EndedWhole& m) { PutEndedWhole(out, m.ended); }
  void operator()(const ListEndedWhole& m) {
    out.U64(m.request);
    PutEndedWhole(out, m.ended);
  }
  void operator()(const StartScript& m) {
    PutStart(out, m.start);
    PutTexts(out, m.start.masked);
    PutScript(out, *m.start.script);
  }
  void operator()(const StartIsolated& m) {
    PutStart(out, m.start);
    PutTexts(out, m.start.masked);
    out.U8(m.start.script ? 1 : 0);
    if (m.start.script) PutScript(out, *m.start.script);
    out.U8(m.start.limits ? 1 : 0);
    if (m.start.limits) PutLimits(out, *m.start.limits);
    out.U8(m.start.user ? 1 : 0);
    if (m.start.user) PutUser(out, *m.start.user);
  }
  void operator()(const StartContainer& m) {
    PutStart(out, m.start);
    PutTexts(out, m.start.masked);
    PutContainer(out, *m.start.container);
    out.U8(m.start.limits ? 1 : 0);
    if (m.start.limits) PutLimits(out, *m.start.limits);
  }
  void operator()(const UseEngine& m) { out.Text(m.engine); }
  void operator()(const AskIsolation&) {}
  void operator()(const Isolation& m) {
    out.U64(m.features);
    out.U32(static_cast<uint32_t>(m.checks.size()));
    for (const HostCheck& check : m.checks) PutCheck(out, check);
  }
  void operator()(const TakeOutputs&) {}
  void operator()(const EndedOutputs& m) { PutEndedOutputs(out, m.ended); }
  void operator()(const ListEndedOutputs& m) {
    out.U64(m.request);
    PutEndedOutputs(out, m.ended);
  }
};

void Get(ByteReader& in, Hello& m) { m.version = in.U32(); }
void Get(ByteReader& in, Start& m) { m.start = GetStart(in); }
void Get(ByteReader& in, Renew& m) {
  m.lease_end = SteadyTime(Duration(in.I64()));
  m.attempts = GetHeldList(in);
}
void Get(ByteReader& in, Cancel& m) { m.attempt = GetHeld(in); }
void Get(ByteReader& in, Kill& m) { m.attempt = GetHeld(in); }
void Get(ByteReader& in, Note& m) {
  m.attempt = GetHeld(in);
  m.text = in.Text();
}
void Get(ByteReader& in, List& m) { m.request = in.U64(); }
void Get(ByteReader& in, Forget& m) { m.attempts = GetHeldList(in); }
void Get(ByteReader&, Leave&) {}
void Get(ByteReader&, Ping&) {}
void Get(ByteReader&, Pong&) {}
void Get(ByteReader& in, Welcome& m) {
  m.version = in.U32();
  m.pid = in.I64();
}
void Get(ByteReader& in, Refused& m) { m.text = in.Text(); }
void Get(ByteReader& in, Started& m) { m.started = GetStarted(in); }
void Get(ByteReader& in, Ended& m) { m.ended = GetEnded(in); }
void Get(ByteReader& in, ListRunning& m) {
  m.request = in.U64();
  m.running = GetStarted(in);
}
void Get(ByteReader& in, ListEnded& m) {
  m.request = in.U64();
  m.ended = GetEnded(in);
}
void Get(ByteReader& in, Follow& m) { m.log_bytes_max = in.U64(); }
void Get(ByteReader& in, OutputKept& m) {
  const uint32_t count = in.U32();
  if (count > kHeldPerFrameMax) in.Fail();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    StoredOutput confirmed;
    confirmed.attempt = GetHeld(in);
    confirmed.first_seq = in.U64();
    m.confirmed.push_back(confirmed);
  }
}
void Get(ByteReader& in, Output& m) {
  m.output.attempt = GetHeld(in);
  m.output.job_id = JobId(in.Text());
  m.output.chunk.first_seq = in.U64();
  m.output.chunk.count = in.U32();
  m.output.chunk.last = in.U8() != 0;
  m.output.chunk.entries = in.Text();
}
void Get(ByteReader& in, StartMasked& m) {
  m.start = GetStart(in);
  m.start.masked = GetTexts(in);
}
void Get(ByteReader&, TakeWhole&) {}
void Get(ByteReader& in, EndedWhole& m) { m.ended = GetEndedWhole(in); }
void Get(ByteReader& in, ListEndedWhole& m) {
  m.request = in.U64();
  m.ended = GetEndedWhole(in);
}
void Get(ByteReader& in, StartScript& m) {
  m.start = GetStart(in);
  m.start.masked = GetTexts(in);
  m.start.script = GetScript(in);
}
void Get(ByteReader& in, StartIsolated& m) {
  m.start = GetStart(in);
  m.start.masked = GetTexts(in);
  if (in.U8() != 0) m.start.script = GetScript(in);
  if (in.U8() != 0) m.start.limits = GetLimits(in);
  if (in.U8() != 0) m.start.user = GetUser(in);
}
void Get(ByteReader& in, StartContainer& m) {
  m.start = GetStart(in);
  m.start.masked = GetTexts(in);
  m.start.container = GetContainer(in);
  if (in.U8() != 0) m.start.limits = GetLimits(in);
}
void Get(ByteReader& in, UseEngine& m) { m.engine = in.Text(); }
void Get(ByteReader&, AskIsolation&) {}
void Get(ByteReader& in, Isolation& m) {
  m.features = in.U64();
  const uint32_t count = in.U32();
  if (count > kHostChecksMax) in.Fail();
  for (uint32_t i = 0; i < count && in.ok(); ++i) m.checks.push_back(GetCheck(in));
}
void Get(ByteReader&, TakeOutputs&) {}
void Get(ByteReader& in, EndedOutputs& m) { m.ended = GetEndedOutputs(in); }
void Get(ByteReader& in, ListEndedOutputs& m) {
  m.request = in.U64();
  m.ended = GetEndedOutputs(in);
}
void Get(ByteReader& in, ListEnd& m) { m.request = in.U64(); }
void Get(ByteReader& in, Readiness& m) {
  m.ready = in.U8() != 0;
  m.text = in.Text();
}

template <size_t kIndex>
void GetAt(size_t index, ByteReader& in, WardenMessage* message) {
  if constexpr (kIndex < kTypes) {
    if (index != kIndex) return GetAt<kIndex + 1>(index, in, message);
    std::variant_alternative_t<kIndex, WardenMessage> typed;
    Get(in, typed);
    *message = std::move(typed);
  } else {
    in.Fail();
  }
}

}  // namespace

WardenMessage WithParts(WardenMessage message, EndParts parts) {
  if (parts == EndParts::kResult) return message;
  const bool whole = parts == EndParts::kWhole;
  if (auto* ended = std::get_if<Ended>(&message)) {
    if (whole) return EndedWhole{std::move(ended->ended)};
    if (!ended->ended.result.outputs.empty()) return EndedOutputs{std::move(ended->ended)};
  } else if (auto* listed = std::get_if<ListEnded>(&message)) {
    if (whole) return ListEndedWhole{listed->request, std::move(listed->ended)};
    if (!listed->ended.result.outputs.empty()) {
      return ListEndedOutputs{listed->request, std::move(listed->ended)};
    }
  }
  return message;
}

std::string EncodeFrame(const WardenMessage& message) {
  ByteWriter payload;
  payload.U8(static_cast<uint8_t>(message.index() + 1));
  std::visit(Putter{payload}, message);
  ByteWriter frame;
  frame.U32(static_cast<uint32_t>(payload.bytes().size()));
  return frame.Take() + payload.Take();
}

Result<bool> FrameReader::Next(WardenMessage* message) {
  const std::string_view left = std::string_view(buffer_).substr(consumed_);
  ByteReader length(left);
  const uint32_t size = length.U32();
  if (!length.ok()) return false;
  if (size == 0 || size > kFrameBytesMax) {
    return {ErrorCode::kCorrupt, fmt::format("warden: frame of {} bytes", size)};
  }
  if (left.size() < 4 + size_t{size}) return false;
  ByteReader payload(left.substr(4, size));
  const size_t type = payload.U8();
  GetAt<0>(type - 1, payload, message);
  if (!payload.Finished()) {
    return {ErrorCode::kCorrupt, fmt::format("warden: malformed frame of type {}", type)};
  }
  consumed_ += 4 + size_t{size};
  if (consumed_ > buffer_.size() / 2) {
    buffer_.erase(0, consumed_);
    consumed_ = 0;
  }
  return true;
}

}  // namespace carillon::executor
