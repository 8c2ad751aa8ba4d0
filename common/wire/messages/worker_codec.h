// Encodes and decodes the messages between an executor and the workers of its host
// (proto/carillon/v1/worker.proto).
//
// Errors   Decode: kCorrupt for bytes that are no message, and for a Hello with a name that is none
//          or a list above its limit. Another wrong item is dropped, and said in `dropped`. Never
//          throws.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/run/outputs.h"
#include "common/domain/run/run.h"

namespace carillon {

inline constexpr uint32_t kWorkerProtocol = 1;
inline constexpr size_t kWorkerBatchMax = 256;  // items of one kind in one message

// An attempt in these messages: bytes that the executor made and that the worker only repeats.
using WorkerTicket = std::string;

// ---- worker -> executor

struct WorkerDone {
  WorkerTicket ticket;
  RunState state = RunState::kCompleted;
  std::string error = {};
  Outputs outputs = {};
  bool never_began = false;  // kLost: the function was not called
  // kFailed, as in AttemptResult:
  std::string code = {};
  bool no_retry = false;
  std::optional<Duration> retry_after = {};
};
struct WorkerLogLine {
  WorkerTicket ticket;
  WallTime time;
  bool error = false;  // standard error
  std::string text;    // without the line's end
};
struct WorkerHello {
  uint32_t protocol = kWorkerProtocol;
  std::string app;
  std::string version = {};
  std::string sdk = {};
  std::string instance = {};            // random bytes
  std::map<std::string, int> handlers;  // attempts at once, by the name without the application
  std::vector<WorkerTicket> held = {};
  std::vector<WorkerDone> done = {};
  std::map<WorkerTicket, std::vector<std::string>> masked = {};
  bool draining = false;  // as the message says that has it
};
struct WorkerSave {
  WorkerTicket ticket;
  std::optional<std::string> progress = {};    // progress_text.h
  std::optional<std::string> checkpoint = {};  // any bytes
};
// An item that was left out.
struct WorkerDropped {
  WorkerTicket ticket;  // empty: it was the ticket that was wrong
  std::string what = {};
};
struct FromWorkerMessage {
  std::optional<WorkerHello> hello = {};
  std::vector<WorkerSave> saves = {};
  std::vector<WorkerLogLine> logs = {};
  std::vector<WorkerDone> done = {};
  bool draining = false;
  std::vector<WorkerDropped> dropped = {};  // only decoded
};

std::string EncodeFromWorker(const FromWorkerMessage& message);
Result<FromWorkerMessage> DecodeFromWorker(std::string_view bytes);

// ---- executor -> worker

// Times without `wall` are microseconds of CLOCK_MONOTONIC.
struct WorkerRun {
  uint64_t session = 0;
  WorkerTicket ticket;
  std::string handler;  // without the application
  RunKey key;
  int attempt = 1;
  JobId job_id = {};
  uint32_t shard_total = 1;
  std::string parameters_json = "{}";
  std::map<std::string, std::string> env = {};
  int64_t deadline_us = 0;
  int64_t lease_end_us = 0;
  std::string trace_id = {};
  std::vector<std::string> masked = {};
  std::optional<std::string> checkpoint = {};
};
struct WorkerLease {
  std::vector<WorkerTicket> tickets;
  int64_t end_us = 0;
};
struct WorkerAsk {
  enum class Why { kCancel, kTimeout };
  WorkerTicket ticket;
  Why why = Why::kCancel;
};
struct ToWorkerMessage {
  std::optional<uint64_t> welcome = {};  // the number of the session
  std::vector<WorkerRun> runs = {};
  std::vector<WorkerLease> leases = {};
  std::vector<WorkerAsk> asks = {};
  std::vector<WorkerTicket> done_stored = {};
  bool drained = false;

  bool empty() const {
    return !welcome && runs.empty() && leases.empty() && asks.empty() && done_stored.empty() &&
           !drained;
  }
};

std::string EncodeToWorker(const ToWorkerMessage& message);

}  // namespace carillon
