#include "scheduler/api/logs/log_routes.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/domain/parts/run_part.h"
#include "common/domain/run_id.h"
#include "common/domain/workflow/node_key.h"
#include "common/wire/json/job/job_json.h"
#include "scheduler/api/call/path_ids.h"
#include "scheduler/api/call/sse_response.h"
#include "scheduler/api/http/byte_range.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/api/http/short_hash.h"
#include "scheduler/api/logs/log_follower.h"
#include "scheduler/api/logs/log_reads.h"
#include "scheduler/api/logs/log_text.h"

namespace carillon::scheduler {
namespace {

constexpr int64_t kLinesMax = 1'000'000;
constexpr size_t kAnswerBytesMax = 32u << 20;
constexpr size_t kReadBytes = 2u << 20;
constexpr size_t kCharacterBytesMax = 4;  // UTF-8

Problem NoAttempt() {
  return NotFound("The run has no such attempt. GET the run to see its attempts.");
}

Outcome<std::optional<LogStream>> ReadStream(const Query& query) {
  const std::string text = query.Text("stream").value_or("all");
  if (text == "all") return std::optional<LogStream>();
  if (text == "stdout") return std::optional(LogStream::kStdout);
  if (text == "stderr") return std::optional(LogStream::kStderr);
  return InvalidField("?stream", "unknown_value", "Must be all, stdout or stderr.");
}

// The result of this attempt; null: the run has no such attempt.
const AttemptResult* ResultOf(const RunDetail& run, int64_t attempt) {
  if (attempt == run.row.attempt) return &run.result;
  for (const RunAttempt& earlier : run.attempts) {
    if (earlier.attempt == attempt) return &earlier.result;
  }
  return nullptr;
}

bool WantsNdjson(const HttpRequest& request) {
  const std::string* accept = request.Header("accept");
  return accept != nullptr && accept->find("application/x-ndjson") != std::string::npos;
}

struct Wanted {
  RunKey key;
  int attempt = 1;
  std::optional<LogStream> only;
  uint64_t offset = 0;        // seq of the last entry that is left out at the beginning
  int64_t limit = INT64_MAX;  // entries; by default only `bytes_max` limits them
  LogFormat format = LogFormat::kText;
  size_t bytes_max = kAnswerBytesMax;
  bool over = false;  // the attempt has ended, so missing pieces are unlikely to arrive
};

struct Part {
  std::string text;
  uint64_t last_seq = 0;  // of the last entry examined
  bool marked = false;    // contains an entry that says that output is missing
  bool whole = true;      // reaches the end of the stored log
};

// Reads a part of the log. `end` is the seq of the last entry that was stored when the request
// began. If the first read does not reach the end of the part, takes a place of LogReads.
Outcome<Part> ReadPart(const Call& call, const Wanted& wanted, uint64_t end) {
  Part part{.last_seq = wanted.offset};
  std::optional<LogStream> before_it;
  const auto append = [&](const NumberedEntry& entry) {
    if (wanted.format == LogFormat::kText) EndOtherLine(part.text, before_it, entry.entry.stream);
    before_it = entry.entry.stream;
    AppendLogEntry(part.text, entry, wanted.format);
  };
  int64_t left = wanted.limit;
  std::unique_ptr<LogReads::Place> place;
  for (;;) {
    const size_t bytes = place == nullptr ? LogReads::kShortLogBytes : kReadBytes;
    CARILLON_ASSIGN_OR_RETURN(
        const auto chunks,
        call.stores.logs.ReadLog(wanted.key, wanted.attempt, part.last_seq + 1, bytes));
    const uint64_t before = part.last_seq;
    for (const LogChunk& chunk : chunks) {
      if (chunk.first_seq > part.last_seq + 1) {
        if (!wanted.over && !IsRestart(chunk.first_seq, part.last_seq)) {
          part.whole = false;
          return part;
        }
        part.marked = true;
        append(MissingBefore(chunk.first_seq, part.last_seq));
        part.last_seq = chunk.first_seq - 1;
      }
      for (const NumberedEntry& entry : EntriesOf(chunk)) {
        if (entry.seq <= part.last_seq) continue;
        if (left == 0 || part.text.size() >= wanted.bytes_max) {
          part.whole = false;
          return part;
        }
        part.last_seq = entry.seq;
        part.marked = part.marked || SaysMissing(entry.entry);
        if (!IsShown(entry.entry, wanted.only)) continue;
        append(entry);
        --left;
      }
    }
    if (part.last_seq == before || part.last_seq >= end) return part;
    if (left == 0 || part.text.size() >= wanted.bytes_max) {
      part.whole = false;
      return part;
    }
    if (place == nullptr) {
      CARILLON_ASSIGN_OR_RETURN(place, call.services.log_reads.Enter(call.caller.Account()));
    }
  }
}

HttpResponse LogResponse(std::string text, LogFormat format, bool truncated) {
  HttpResponse response{.status = 200};
  response.headers = {{"Content-Type", format == LogFormat::kNdjson ? "application/x-ndjson"
                                                                    : "text/plain; charset=utf-8"},
                      {"X-Output-Truncated", truncated ? "true" : "false"}};
  response.body = format == LogFormat::kText ? ToValidUtf8(text) : std::move(text);
  if (format == LogFormat::kText) response.headers.emplace_back("Accept-Ranges", "bytes");
  return response;
}

// Returns the ETag of the text of a complete log, because this text does not change any more.
// Otherwise returns an empty text.
std::string TagOf(const Wanted& wanted, const LogExtent& extent) {
  if (wanted.format != LogFormat::kText || !extent.settled()) return {};
  const std::string only = wanted.only ? std::string(Name(*wanted.only)) : "all";
  return "\"" +
         ShortHash(fmt::format("{} {} {} {} {} {}", EncodeRunId(wanted.key), wanted.attempt, only,
                               wanted.offset, wanted.limit, extent.last_seq)) +
         "\"";
}

// Returns the range to answer with; nullopt = the whole text. The whole text is sent in
// these cases:
// - If-Range has another tag, or a date. Dates are not supported.
// - There is an If-None-Match, because it is compared with the tag of the whole text.
std::optional<ByteRange> RangeOf(const HttpRequest& request, const std::string& tag) {
  const std::string* condition = request.Header("if-range");
  if (condition != nullptr && (tag.empty() || *condition != tag)) return std::nullopt;
  if (request.Header("if-none-match") != nullptr) return std::nullopt;
  return ReadByteRange(request);
}

// Answers with a range of the log. `text` is the beginning of the log, at least up to the end of
// the range or of the log. `total` is "*" if the length of the log is unknown or still grows.
HttpResponse RangeResponse(const std::string& text, const ByteRange& range,
                           const std::string& total) {
  const auto span = range.Within(text.size());
  HttpResponse response{.status = 206, .headers = {{"Accept-Ranges", "bytes"}}};
  response.headers.emplace_back("Content-Type", "text/plain; charset=utf-8");
  response.headers.emplace_back("Content-Range", fmt::format("bytes {}-{}/{}", span->offset,
                                                             span->offset + span->size - 1, total));
  response.body = text.substr(span->offset, span->size);
  return response;
}

Problem OutsideRange(size_t length) {
  Problem problem{.status = 416,
                  .code = "range_not_satisfiable",
                  .detail = fmt::format("The log has {} bytes so far.", length)};
  problem.headers.emplace_back("Content-Range", fmt::format("bytes */{}", length));
  return problem;
}

// The offset at which the last `tail` entries begin.
uint64_t OffsetOfTail(const LogExtent& extent, int64_t tail) {
  const auto count = static_cast<uint64_t>(tail);
  return extent.last_seq > count ? extent.last_seq - count : 0;
}

// The runs that have the logs of a run which has none of its own, because it runs nothing itself;
// empty if it does, has not begun, or the store does not tell. Its job may have another type now.
std::string_view LogsAreIn(const Call& call, const RunDetail& run) {
  if (IsInParts(run.row)) return "shards";
  if (IsRunningWorkflow(run.row)) return "nodes";
  if (!run.row.executor.empty()) return "";
  return call.stores.workflows.GetWorkflowRun(run.row.key).ok() ? "nodes" : "";
}

// Answers with the wanted part of the log. If there is no log, answers with the output.
Reply ReadLog(const Call& call, const Wanted& wanted, const LogExtent& extent,
              const AttemptResult& result) {
  if (extent.last_seq == 0) {
    // No log was stored: show the output that came with the result.
    std::string text;
    AppendOutput(text, result.output, wanted.offset, wanted.format);
    return LogResponse(std::move(text), wanted.format, result.output_truncated);
  }
  CARILLON_ASSIGN_OR_RETURN(Part part, ReadPart(call, wanted, extent.last_seq));
  HttpResponse response = LogResponse(std::move(part.text), wanted.format, part.marked);
  response.headers.emplace_back("X-Log-Last-Seq", std::to_string(part.last_seq));
  response.headers.emplace_back("X-Log-Complete", part.whole && extent.complete ? "true" : "false");
  return response;
}

}  // namespace

Reply RunLogs(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const RunKey key, PathRunKey(call));
  CARILLON_ASSIGN_OR_RETURN(
      const Query query,
      Query::Read(call.request, {"attempt", "stream", "offset", "limit", "tail"}));
  CARILLON_ASSIGN_OR_RETURN(const auto attempt,
                            query.Number("attempt", {.low = 1, .high = kAttemptMax}));
  CARILLON_ASSIGN_OR_RETURN(const auto only, ReadStream(query));
  CARILLON_ASSIGN_OR_RETURN(const auto offset,
                            query.Number("offset", {.low = 0, .high = INT64_MAX - 1}));
  CARILLON_ASSIGN_OR_RETURN(const auto limit, query.Number("limit", {.low = 1, .high = kLinesMax}));
  CARILLON_ASSIGN_OR_RETURN(const auto tail, query.Number("tail", {.low = 1, .high = kLinesMax}));
  if (tail && offset) {
    return InvalidField("?tail", "bad_value", "tail and offset cannot be combined.");
  }
  CARILLON_ASSIGN_OR_RETURN(const RunDetail run, call.stores.runs.GetRun(key));
  Wanted wanted{.key = key,
                .attempt = static_cast<int>(attempt.value_or(run.row.attempt)),
                .only = only,
                .offset = static_cast<uint64_t>(offset.value_or(0)),
                .limit = limit.value_or(INT64_MAX),
                .format = WantsNdjson(call.request) ? LogFormat::kNdjson : LogFormat::kText};
  const AttemptResult* result = ResultOf(run, wanted.attempt);
  if (result == nullptr) return NoAttempt();
  wanted.over = wanted.attempt != run.row.attempt || IsFinal(run.row.state) ||
                run.row.state == RunState::kHeld;
  CARILLON_ASSIGN_OR_RETURN(const LogExtent extent,
                            call.stores.logs.GetLogExtent(key, wanted.attempt));
  if (tail) wanted.offset = OffsetOfTail(extent, *tail);
  const std::string tag = TagOf(wanted, extent);
  const auto range = wanted.format == LogFormat::kText ? RangeOf(call.request, tag) : std::nullopt;
  // The log is read from its beginning to find the start of the range. It is read up to the end of
  // the range and one character more. The last entry that is read may be cut within a character.
  // The extra bytes keep this character outside of the range.
  if (range && !range->suffix && range->last < kAnswerBytesMax) {
    wanted.bytes_max = std::min<size_t>(kAnswerBytesMax, range->last + 1 + kCharacterBytesMax);
  }
  CARILLON_ASSIGN_OR_RETURN(HttpResponse response, ReadLog(call, wanted, extent, *result));
  if (!tag.empty()) response.headers.emplace_back("ETag", tag);
  if (response.body.empty() && extent.last_seq == 0 && !run.kept) {
    const std::string_view elsewhere = LogsAreIn(call, run);
    if (!elsewhere.empty()) response.headers.emplace_back("X-Log-In", elsewhere);
  }
  if (run.kept && extent.last_seq == 0) response.headers.emplace_back("X-Log-Removed", "true");
  if (!range) return response;
  const std::string& text = response.body;
  const bool cut = text.size() >= wanted.bytes_max;
  if (cut && range->suffix) return response;  // a suffix counts from the end, which was not read
  if (!range->Within(text.size())) return OutsideRange(text.size());
  HttpResponse part =
      RangeResponse(text, *range, tag.empty() || cut ? "*" : std::to_string(text.size()));
  if (!tag.empty()) part.headers.emplace_back("ETag", tag);
  return part;
}

Reply StreamRunLogs(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const RunKey key, PathRunKey(call));
  CARILLON_ASSIGN_OR_RETURN(const Query query,
                            Query::Read(call.request, {"attempt", "stream", "tail"}));
  CARILLON_ASSIGN_OR_RETURN(const auto attempt,
                            query.Number("attempt", {.low = 1, .high = kAttemptMax}));
  CARILLON_ASSIGN_OR_RETURN(const auto only, ReadStream(query));
  CARILLON_ASSIGN_OR_RETURN(const auto tail, query.Number("tail", {.low = 1, .high = kLinesMax}));
  CARILLON_ASSIGN_OR_RETURN(const RunDetail run, call.stores.runs.GetRun(key));
  LogFollower::Wanted wanted{
      .key = key, .attempt = static_cast<int>(attempt.value_or(run.row.attempt)), .only = only};
  const auto seen = ParseEventId(LastEventIdOf(call.request));
  // A client that reconnects continues with the attempt of its last event, even if a later attempt
  // has begun meanwhile.
  if (seen && !attempt) wanted.attempt = seen->attempt.value_or(1);
  if (ResultOf(run, wanted.attempt) == nullptr) return NoAttempt();
  if (seen && seen->attempt.value_or(wanted.attempt) == wanted.attempt) {
    wanted.after_seq = seen->seq;
  } else if (tail) {
    CARILLON_ASSIGN_OR_RETURN(const LogExtent extent,
                              call.stores.logs.GetLogExtent(key, wanted.attempt));
    wanted.after_seq = OffsetOfTail(extent, *tail);
  }
  return EventStream(call, [&api = call.api, wanted] {
    return std::make_unique<LogFollower>(
        LogFollower::Ports{
            .runs = api.stores.runs, .logs = api.stores.logs, .cluster_now = api.cluster_now},
        wanted);
  });
}

}  // namespace carillon::scheduler
