// Messages between daemon and warden on the warden's unix socket.
//
// A frame is a length (4 bytes, of what follows), a type (1 byte) and a payload. The daemon speaks
// first, with Hello; the warden answers Welcome, or Refused and disconnects.
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
// The version that a warden sends in its Welcome says what the warden can do. From this version on
// a warden sends logs, once the daemon has sent Follow.
inline constexpr uint32_t kWardenReportsLogs = 2;
// From this version on a warden accepts StartMasked.
inline constexpr uint32_t kWardenMasks = 3;
// From this version on a warden accepts Kill.
inline constexpr uint32_t kWardenKills = 4;
// From this version on a warden answers Ping.
inline constexpr uint32_t kWardenAnswers = 5;
// From this version on a warden accepts TakeOutputs, and then sends ends with their outputs.
inline constexpr uint32_t kWardenSendsOutputs = 6;
// From this version on a warden accepts StartScript.
inline constexpr uint32_t kWardenRunsScripts = 7;
// From this version on a warden accepts TakeWhole, and then sends ends with outputs and usage.
inline constexpr uint32_t kWardenSendsUsage = 8;
// From this version on a warden accepts StartIsolated, and answers AskIsolation.
inline constexpr uint32_t kWardenIsolates = 9;
// From this version on a warden accepts Note.
inline constexpr uint32_t kWardenTakesNotes = 10;

// From this version on a warden accepts StartContainer and UseEngine.
inline constexpr uint32_t kWardenRunsContainers = 11;

namespace warden_message {

// ---- daemon -> warden
struct Hello {
  uint32_t version = kWardenProtocolVersion;
};
struct Start {
  StartAttempt start;
};
struct Renew {
  SteadyTime lease_end;
  std::vector<HeldAttempt> attempts;
};
struct Cancel {
  HeldAttempt attempt;
};
struct List {
  uint64_t request = 0;
};
struct Forget {
  std::vector<HeldAttempt> attempts;
};
// The daemon stops for good: a warden that holds nothing need not wait for the daemon.
struct Leave {};

// ---- warden -> daemon
struct Welcome {
  uint32_t version = kWardenRunsContainers;
  int64_t pid = 0;
};
struct Refused {
  std::string text;
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

// ---- logs; only with a peer that knows them, see kWardenReportsLogs
// daemon -> warden
struct Follow {
  uint64_t log_bytes_max = 0;  // bytes of one attempt's log
};
struct OutputKept {
  std::vector<StoredOutput> confirmed;
};
// warden -> daemon
struct Output {
  AttemptOutput output;
};

// ---- secrets; only with a peer that knows them, see kWardenMasks
// daemon -> warden: a Start with values that the output of the attempt must not show
struct StartMasked {
  StartAttempt start;
};

// ---- only with a peer that knows it, see kWardenKills
// daemon -> warden: a Cancel without grace, which also cuts a running grace short
struct Kill {
  HeldAttempt attempt;
};

// ---- only with a peer that knows it, see kWardenAnswers
// daemon -> warden
struct Ping {};
// warden -> daemon
struct Pong {};

// ---- outputs; only with a peer that knows them, see kWardenSendsOutputs
// daemon -> warden, before the first List
struct TakeOutputs {};
// warden -> daemon: an Ended or ListEnded of an attempt that has outputs
struct EndedOutputs {
  AttemptEnded ended;
};
struct ListEndedOutputs {
  uint64_t request = 0;
  AttemptEnded ended;
};

// ---- scripts; only with a peer that knows them, see kWardenRunsScripts
// daemon -> warden: a StartMasked of a script
struct StartScript {
  StartAttempt start;
};

// ---- usage; only with a peer that knows it, see kWardenSendsUsage
// daemon -> warden, before the first List
struct TakeWhole {};
// warden -> daemon: an Ended or ListEnded with everything that is known
struct EndedWhole {
  AttemptEnded ended;
};
struct ListEndedWhole {
  uint64_t request = 0;
  AttemptEnded ended;
};

// ---- isolation; only with a peer that knows it, see kWardenIsolates
// daemon -> warden: a start with limits or of another user, with everything else that it may have
struct StartIsolated {
  StartAttempt start;
};
// daemon -> warden
struct AskIsolation {};
// warden -> daemon: what it can isolate on this host, and why not more
struct Isolation {
  uint64_t features = 0;  // Features::bits
  std::vector<HostCheck> checks;
};

// ---- only with a peer that knows it, see kWardenTakesNotes
// daemon -> warden: a line by Carillon for the log of a running attempt
struct Note {
  HeldAttempt attempt;
  std::string text;
};

// ---- containers; only with a peer that knows them, see kWardenRunsContainers
// daemon -> warden
struct StartContainer {
  StartAttempt start;
};
// daemon -> warden, at once after Welcome: the engine at which the warden removes what is left of
// its containers
struct UseEngine {
  std::string engine;  // absolute path
};

}  // namespace warden_message

using WardenMessage = std::variant<
    warden_message::Hello, warden_message::Start, warden_message::Renew, warden_message::Cancel,
    warden_message::List, warden_message::Forget, warden_message::Leave, warden_message::Welcome,
    warden_message::Refused, warden_message::Started, warden_message::Ended,
    warden_message::ListRunning, warden_message::ListEnded, warden_message::ListEnd,
    warden_message::Readiness, warden_message::Follow, warden_message::OutputKept,
    warden_message::Output, warden_message::StartMasked, warden_message::Kill, warden_message::Ping,
    warden_message::Pong, warden_message::TakeOutputs, warden_message::EndedOutputs,
    warden_message::ListEndedOutputs, warden_message::StartScript, warden_message::TakeWhole,
    warden_message::EndedWhole, warden_message::ListEndedWhole, warden_message::StartIsolated,
    warden_message::AskIsolation, warden_message::Isolation, warden_message::Note,
    warden_message::StartContainer, warden_message::UseEngine>;

// The parts of an end that the daemon takes. Ended and ListEnded carry the result without outputs
// and usage.
enum class EndParts { kResult, kOutputs, kWhole };
// The message in which such a daemon gets this end.
WardenMessage WithParts(WardenMessage message, EndParts parts);

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

}  // namespace carillon::executor
