// Messages between daemon and warden on the warden's unix socket.
//
// A frame is a length (4 bytes, of what follows), a type (1 byte) and a payload. The daemon speaks
// first, with Hello; the warden answers Welcome. If it speaks another version, it answers Refused
// and closes the connection.
//
// Errors   Decoding: kCorrupt for a frame above kFrameBytesMax, an unknown type, or a malformed
//          payload. The side that receives such a frame closes the connection.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/result.h"
#include "common/domain/host_check.h"
#include "common/ports/executor_host.h"

namespace carillon::executor {

inline constexpr uint32_t kWardenProtocolVersion = 1;
inline constexpr size_t kFrameBytesMax = 4u << 20;
inline constexpr size_t kHeldPerFrameMax = 4096;

namespace warden_message {

// ---- the same types and layouts in every version
// daemon -> warden
struct Hello {
  uint32_t version = kWardenProtocolVersion;
};
// warden -> daemon
struct Refused {
  std::string text;
};

// ---- daemon -> warden
struct Start {
  StartAttempt start;
};
struct Renew {
  SteadyTime lease_end;
  std::vector<HeldAttempt> attempts;
};
struct Cancel {
  HeldAttempt attempt;
  CancelMode mode = CancelMode::kGraceful;
};
struct List {
  uint64_t request = 0;
};
struct Forget {
  std::vector<HeldAttempt> attempts;
};
// The daemon stops for good: a warden that holds nothing need not wait for the daemon.
struct Leave {};
struct Ping {};
// The daemon takes logs from now on.
struct Follow {
  uint64_t log_bytes_max = 0;  // bytes of one attempt's log
};
struct OutputKept {
  std::vector<StoredOutput> confirmed;
};
// A line by Carillon for the log of a running attempt.
struct Note {
  HeldAttempt attempt;
  std::string text;
};
// At once after Welcome: the engine at which the warden removes what is left of its containers.
struct UseEngine {
  std::string engine;  // absolute path
};

// ---- warden -> daemon
struct Welcome {
  int64_t pid = 0;
  uint64_t features = 0;               // Features::bits: what the warden can do on this host
  uint64_t unreadable = 0;             // places of its journal that it cannot read
  std::vector<HostCheck> checks = {};  // why it can do no more
};
struct Started {
  AttemptStarted started;
};
struct Ended {
  AttemptEnded ended;
};
// The answer to List: any number of ListRunning and ListEnded, then ListEnd. A running attempt
// whose command has not begun has a zero start time.
struct ListRunning {
  uint64_t request = 0;
  AttemptStarted running;
};
struct ListEnded {
  uint64_t request = 0;
  AttemptEnded ended;
};
struct ListEnd {
  uint64_t request = 0;
};
// Says whether one more start could be recorded; sent after Welcome and on every change.
struct Readiness {
  bool ready = true;
  std::string text;
};
struct Pong {};
struct Output {
  AttemptOutput output;
};

}  // namespace warden_message

using WardenMessage =
    std::variant<warden_message::Hello, warden_message::Refused, warden_message::Start,
                 warden_message::Renew, warden_message::Cancel, warden_message::List,
                 warden_message::Forget, warden_message::Leave, warden_message::Ping,
                 warden_message::Follow, warden_message::OutputKept, warden_message::Note,
                 warden_message::UseEngine, warden_message::Welcome, warden_message::Started,
                 warden_message::Ended, warden_message::ListRunning, warden_message::ListEnded,
                 warden_message::ListEnd, warden_message::Readiness, warden_message::Pong,
                 warden_message::Output>;

std::string EncodeFrame(const WardenMessage& message);

// Splits a stream of bytes into messages.
class FrameReader {
 public:
  void Feed(std::string_view bytes) { buffer_.append(bytes); }
  // The next complete message; false if there is none yet.
  Result<bool> Next(WardenMessage* message);

 private:
  std::string buffer_;
  size_t consumed_ = 0;
};

// The frames that a socket has not taken yet.
class FrameWriter {
 public:
  void Add(const WardenMessage& message) { unsent_.append(EncodeFrame(message)); }
  // Writes as much as the socket takes. False: the connection is gone.
  bool Write(int socket);
  bool empty() const { return unsent_.empty(); }
  size_t bytes() const { return unsent_.size(); }

 private:
  std::string unsent_;
};

}  // namespace carillon::executor
