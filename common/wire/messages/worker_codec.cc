#include "common/wire/messages/worker_codec.h"

#include <algorithm>

#include "carillon/v1/worker.pb.h"
#include "common/domain/job/job.h"
#include "common/domain/job/retry.h"
#include "common/domain/run/retry_conditions.h"
#include "common/domain/run/run_save.h"
#include "common/domain/run_id.h"
#include "common/wire/json/job/job_json.h"

namespace carillon {
namespace {

constexpr size_t kWorkerMessageBytesMax = 16u << 20;
constexpr size_t kWorkerTicketBytesMax = 256;
constexpr size_t kWorkerTextBytesMax = 64;
constexpr size_t kInstanceBytesMin = 16;
constexpr size_t kInstanceBytesMax = 64;
constexpr size_t kDoneErrorBytesMax = 4096;
constexpr size_t kLogLineBytesMax = 16u << 10;
constexpr uint32_t kHandlerConcurrencyMax = 10'000;
constexpr int kHelloAttemptsMax = 20'000;  // in a Hello

Error BadWorkerMessage(std::string_view what) {
  return {ErrorCode::kCorrupt, "worker: wrong " + std::string(what)};
}

std::optional<RunState> StateOf(worker::v1::Done::State state) {
  switch (state) {
    case worker::v1::Done::COMPLETED: return RunState::kCompleted;
    case worker::v1::Done::FAILED: return RunState::kFailed;
    case worker::v1::Done::CANCELLED: return RunState::kCancelled;
    case worker::v1::Done::TIMED_OUT: return RunState::kTimedOut;
    case worker::v1::Done::LOST: return RunState::kLost;
    default: return std::nullopt;
  }
}

worker::v1::Done::State StateOf(RunState state) {
  switch (state) {
    case RunState::kCompleted: return worker::v1::Done::COMPLETED;
    case RunState::kCancelled: return worker::v1::Done::CANCELLED;
    case RunState::kTimedOut: return worker::v1::Done::TIMED_OUT;
    case RunState::kLost: return worker::v1::Done::LOST;
    default: return worker::v1::Done::FAILED;
  }
}

bool IsTicket(std::string_view ticket) {
  return !ticket.empty() && ticket.size() <= kWorkerTicketBytesMax;
}

void Drop(std::vector<WorkerDropped>& dropped, const std::string& ticket, std::string_view what) {
  if (dropped.size() >= kWorkerBatchMax) return;  // they say enough
  dropped.push_back(
      {.ticket = IsTicket(ticket) ? ticket : WorkerTicket(), .what = std::string(what)});
}

// The end of a function is never dropped, because nothing else would end its attempt.
void DecodeDone(const worker::v1::Done& from, std::vector<WorkerDone>& all,
                std::vector<WorkerDropped>& dropped) {
  if (!IsTicket(from.ticket())) return Drop(dropped, from.ticket(), "an end with a wrong ticket");
  const auto state = StateOf(from.state());
  WorkerDone& done = all.emplace_back(
      WorkerDone{.ticket = from.ticket(), .state = state.value_or(RunState::kFailed)});
  done.error = ToValidUtf8(from.error().substr(0, kDoneErrorBytesMax));
  done.outputs = {from.outputs().begin(), from.outputs().end()};
  done.never_began = done.state == RunState::kLost && from.never_began();
  if (done.state == RunState::kFailed) {
    if (IsErrorCode(from.code())) done.code = from.code();
    if (done.code != from.code()) Drop(dropped, from.ticket(), "a wrong code of an error");
    done.no_retry = from.no_retry();
    if (from.has_retry_after()) {
      done.retry_after =
          std::min<Duration>(std::chrono::seconds(from.retry_after()), kRetryAfterMax);
    }
  }
  if (!state) done.error = "the worker reported an end of an unknown kind";
}

void EncodeDone(const WorkerDone& from, worker::v1::Done& to) {
  to.set_ticket(from.ticket);
  to.set_state(StateOf(from.state));
  to.set_error(from.error);
  for (const auto& [name, value] : from.outputs) (*to.mutable_outputs())[name] = value;
  to.set_never_began(from.never_began);
  to.set_code(from.code);
  to.set_no_retry(from.no_retry);
  if (from.retry_after) {
    to.set_retry_after(static_cast<uint32_t>(*from.retry_after / std::chrono::seconds(1)));
  }
}

Result<WorkerHello> DecodeHello(const worker::v1::Hello& from,
                                std::vector<WorkerDropped>& dropped) {
  WorkerHello hello{.protocol = from.protocol(),
                    .app = from.app(),
                    .version = from.version().substr(0, kWorkerTextBytesMax),
                    .sdk = from.sdk().substr(0, kWorkerTextBytesMax),
                    .instance = from.instance()};
  // The rest may have another layout. The receiver refuses it with both numbers.
  if (hello.protocol != kWorkerProtocol) return hello;
  if (!IsHandlerApp(hello.app)) return BadWorkerMessage("name of the application");
  if (hello.instance.size() < kInstanceBytesMin || hello.instance.size() > kInstanceBytesMax) {
    return BadWorkerMessage("instance");
  }
  if (static_cast<size_t>(from.handlers_size()) > kWorkerBatchMax) {
    return BadWorkerMessage("number of handlers");
  }
  for (const worker::v1::HandlerOffer& offer : from.handlers()) {
    if (!IsHandlerName(offer.name())) return BadWorkerMessage("name of a handler");
    if (offer.concurrency() < 1 || offer.concurrency() > kHandlerConcurrencyMax) {
      return BadWorkerMessage("concurrency of a handler");
    }
    hello.handlers[offer.name()] = static_cast<int>(offer.concurrency());
  }
  if (from.held_size() > kHelloAttemptsMax || from.done_size() > kHelloAttemptsMax) {
    return BadWorkerMessage("number of attempts");
  }
  for (const std::string& ticket : from.held()) {
    if (IsTicket(ticket)) {
      hello.held.push_back(ticket);
    } else {
      Drop(dropped, ticket, "a wrong ticket");
    }
  }
  for (const worker::v1::Done& done : from.done()) DecodeDone(done, hello.done, dropped);
  for (const worker::v1::Masked& masked : from.masked()) {
    hello.masked[masked.ticket()] = {masked.values().begin(), masked.values().end()};
  }
  return hello;
}

void EncodeHello(const WorkerHello& from, worker::v1::Hello& to) {
  to.set_protocol(from.protocol);
  to.set_app(from.app);
  to.set_version(from.version);
  to.set_sdk(from.sdk);
  to.set_instance(from.instance);
  for (const auto& [name, concurrency] : from.handlers) {
    worker::v1::HandlerOffer& offer = *to.add_handlers();
    offer.set_name(name);
    offer.set_concurrency(static_cast<uint32_t>(concurrency));
  }
  for (const WorkerTicket& ticket : from.held) to.add_held(ticket);
  for (const WorkerDone& done : from.done) EncodeDone(done, *to.add_done());
  for (const auto& [ticket, values] : from.masked) {
    worker::v1::Masked& masked = *to.add_masked();
    masked.set_ticket(ticket);
    for (const std::string& value : values) masked.add_values(value);
  }
}

void EncodeRun(const WorkerRun& from, worker::v1::Run& to) {
  to.set_session(from.session);
  to.set_ticket(from.ticket);
  to.set_handler(from.handler);
  to.set_run_id(EncodeRunId(from.key));
  to.set_attempt(static_cast<uint32_t>(from.attempt));
  to.set_job_id(from.job_id.value());
  to.set_fire_wall_us(ToUnixMicros(from.key.fire));
  to.set_shard_index(ShardIndexOf(from.key));
  to.set_shard_total(from.shard_total);
  to.set_parameters_json(from.parameters_json);
  for (const auto& [name, value] : from.env) (*to.mutable_env())[name] = value;
  to.set_deadline_us(from.deadline_us);
  to.set_lease_end_us(from.lease_end_us);
  to.set_trace_id(from.trace_id);
  for (const std::string& value : from.masked) to.add_masked(value);
  if (from.checkpoint) to.set_checkpoint(*from.checkpoint);
}

void DecodeWorkerSave(const worker::v1::Save& from, FromWorkerMessage& message) {
  if (!IsTicket(from.ticket()))
    return Drop(message.dropped, from.ticket(), "a save with a wrong ticket");
  WorkerSave save{.ticket = from.ticket()};
  if (from.progress().size() > kProgressBytesMax) {
    Drop(message.dropped, from.ticket(), "a progress with too many bytes");
  } else if (from.has_progress()) {
    save.progress = from.progress();
  }
  if (from.checkpoint().size() > kCheckpointBytesMax) {
    Drop(message.dropped, from.ticket(), "a checkpoint with too many bytes");
  } else if (from.has_checkpoint()) {
    save.checkpoint = from.checkpoint();
  }
  if (save.progress || save.checkpoint) message.saves.push_back(std::move(save));
}

void DecodeLogLine(const worker::v1::LogLine& from, FromWorkerMessage& message) {
  if (!IsTicket(from.ticket()))
    return Drop(message.dropped, from.ticket(), "a line with a wrong ticket");
  message.logs.push_back({.ticket = from.ticket(),
                          .time = FromUnixMicros(from.wall_us()),
                          .error = from.error(),
                          .text = from.text().substr(0, kLogLineBytesMax)});
}

}  // namespace

std::string EncodeFromWorker(const FromWorkerMessage& message) {
  worker::v1::FromWorker to;
  if (message.hello) EncodeHello(*message.hello, *to.mutable_hello());
  for (const WorkerLogLine& line : message.logs) {
    worker::v1::LogLine& log = *to.add_logs();
    log.set_ticket(line.ticket);
    log.set_wall_us(ToUnixMicros(line.time));
    log.set_error(line.error);
    log.set_text(line.text);
  }
  for (const WorkerSave& save : message.saves) {
    worker::v1::Save& out = *to.add_saves();
    out.set_ticket(save.ticket);
    if (save.progress) out.set_progress(*save.progress);
    if (save.checkpoint) out.set_checkpoint(*save.checkpoint);
  }
  for (const WorkerDone& done : message.done) EncodeDone(done, *to.add_done());
  to.set_draining(message.draining);
  return to.SerializeAsString();
}

Result<FromWorkerMessage> DecodeFromWorker(std::string_view bytes) {
  worker::v1::FromWorker from;
  if (bytes.size() > kWorkerMessageBytesMax ||
      !from.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return BadWorkerMessage("message");
  }
  FromWorkerMessage message{.draining = from.draining()};
  if (from.has_hello()) {
    CARILLON_ASSIGN_OR_RETURN(message.hello, DecodeHello(from.hello(), message.dropped));
  }
  for (int i = 0; i < from.saves_size(); ++i) {
    if (static_cast<size_t>(i) < kWorkerBatchMax) {
      DecodeWorkerSave(from.saves(i), message);
    } else {
      Drop(message.dropped, from.saves(i).ticket(), "a save, one of too many in a message");
    }
  }
  for (int i = 0; i < from.logs_size(); ++i) {
    if (static_cast<size_t>(i) < kWorkerBatchMax) {
      DecodeLogLine(from.logs(i), message);
    } else {
      Drop(message.dropped, from.logs(i).ticket(), "a line, one of too many in a message");
    }
  }
  for (const worker::v1::Done& done : from.done()) DecodeDone(done, message.done, message.dropped);
  return message;
}

std::string EncodeToWorker(const ToWorkerMessage& message) {
  worker::v1::ToWorker to;
  if (message.welcome) to.mutable_welcome()->set_session(*message.welcome);
  for (const WorkerRun& run : message.runs) EncodeRun(run, *to.add_runs());
  for (const WorkerLease& lease : message.leases) {
    worker::v1::Lease& out = *to.add_leases();
    for (const WorkerTicket& ticket : lease.tickets) out.add_tickets(ticket);
    out.set_end_us(lease.end_us);
  }
  for (const WorkerAsk& ask : message.asks) {
    worker::v1::Ask& out = *to.add_asks();
    out.set_ticket(ask.ticket);
    out.set_why(ask.why == WorkerAsk::Why::kCancel ? worker::v1::Ask::CANCEL
                                                   : worker::v1::Ask::TIMEOUT);
  }
  for (const WorkerTicket& ticket : message.done_stored) to.add_done_stored(ticket);
  to.set_drained(message.drained);
  return to.SerializeAsString();
}

}  // namespace carillon
