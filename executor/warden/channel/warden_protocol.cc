#include "executor/warden/channel/warden_protocol.h"

#include <sys/socket.h>

#include <cerrno>
#include <type_traits>

#include <fmt/format.h>

#include "executor/journal/attempt_codec.h"

namespace carillon::executor {
namespace {

using namespace warden_message;

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
  void operator()(const Cancel& m) {
    PutHeld(out, m.attempt);
    out.U8(m.mode == CancelMode::kKill ? 1 : 0);
  }
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
    out.I64(m.pid);
    out.U64(m.features);
    out.U64(m.unreadable);
    out.U32(static_cast<uint32_t>(m.checks.size()));
    for (const HostCheck& check : m.checks) PutCheck(out, check);
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
  void operator()(const UseEngine& m) { out.Text(m.engine); }
};

void Get(ByteReader& in, Hello& m) { m.version = in.U32(); }
void Get(ByteReader& in, Start& m) { m.start = GetStart(in); }
void Get(ByteReader& in, Renew& m) {
  m.lease_end = SteadyTime(Duration(in.I64()));
  m.attempts = GetHeldList(in);
}
void Get(ByteReader& in, Cancel& m) {
  m.attempt = GetHeld(in);
  m.mode = in.U8() != 0 ? CancelMode::kKill : CancelMode::kGraceful;
}
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
  m.pid = in.I64();
  m.features = in.U64();
  m.unreadable = in.U64();
  const uint32_t count = in.U32();
  if (count > kHostChecksMax) in.Fail();
  for (uint32_t i = 0; i < count && in.ok(); ++i) m.checks.push_back(GetCheck(in));
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
void Get(ByteReader& in, UseEngine& m) { m.engine = in.Text(); }
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

bool FrameWriter::Write(int socket) {
  size_t sent = 0;
  bool alive = true;
  while (sent < unsent_.size()) {
    const ssize_t n = send(socket, unsent_.data() + sent, unsent_.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      alive = errno == EAGAIN;
      break;
    }
    sent += static_cast<size_t>(n);
  }
  unsent_.erase(0, sent);
  return alive;
}

}  // namespace carillon::executor
