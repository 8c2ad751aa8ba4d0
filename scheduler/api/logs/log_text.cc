#include "scheduler/api/logs/log_text.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/wire/json/job/job_json.h"
#include "scheduler/api/http/page.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

void AppendLine(std::string& out, uint64_t seq, const json& time, std::string_view stream,
                std::string_view text, LogFormat format, int attempt) {
  json line = {{"seq", seq}, {"t", time}, {"stream", stream}};
  const bool whole = !text.empty() && text.back() == '\n';
  if (whole) text.remove_suffix(1);
  line["line"] = ToValidUtf8(text);
  if (!whole) line["partial"] = true;
  if (format == LogFormat::kEvents) {
    out += "id: " + (attempt > 1 ? std::to_string(attempt) + "-" : "") + std::to_string(seq) +
           "\ndata: ";
  }
  out += line.dump();
  out += format == LogFormat::kEvents ? "\n\n" : "\n";
}

}  // namespace

void AppendLogEntry(std::string& out, const NumberedEntry& numbered, LogFormat format,
                    int attempt) {
  const LogEntry& entry = numbered.entry;
  if (format == LogFormat::kText) {
    if (entry.stream == LogStream::kCarillon) out += "[carillon: ";
    out += entry.text;
    if (entry.stream == LogStream::kCarillon) out.insert(out.size() - 1, "]");
    return;
  }
  AppendLine(out, numbered.seq, FormatRfc3339(entry.time), Name(entry.stream), entry.text, format,
             attempt);
}

void EndOtherLine(std::string& out, const std::optional<LogStream>& last, LogStream next) {
  if (last && *last != next && !out.empty() && out.back() != '\n') out += '\n';
}

void AppendOutput(std::string& out, std::string_view output, uint64_t after_seq, LogFormat format,
                  int attempt) {
  if (format == LogFormat::kText) {
    out += output;
    return;
  }
  for (uint64_t seq = 1; !output.empty(); ++seq) {
    const size_t newline = output.find('\n');
    const size_t size = newline == std::string_view::npos ? output.size() : newline + 1;
    if (seq > after_seq)
      AppendLine(out, seq, nullptr, "output", output.substr(0, size), format, attempt);
    output.remove_prefix(size);
  }
}

std::optional<EventId> ParseEventId(std::string_view text) {
  EventId id;
  const size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto attempt = ParseCursor(std::string(text.substr(0, dash)));
    if (!attempt || *attempt == 0 || *attempt > kAttemptMax) return std::nullopt;
    id.attempt = static_cast<int>(*attempt);
    text.remove_prefix(dash + 1);
  }
  const auto seq = ParseCursor(std::string(text));
  if (!seq) return std::nullopt;
  id.seq = *seq;
  return id;
}

bool SaysMissing(const LogEntry& entry) {
  if (entry.stream != LogStream::kCarillon) return false;
  const std::string_view text = std::string_view(entry.text).substr(0, entry.text.find(':'));
  constexpr std::string_view kWords[] = {"missing", "reached its limit", "cannot be stored",
                                         "cannot be read", "dropped"};
  return std::any_of(std::begin(kWords), std::end(kWords), [text](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

NumberedEntry MissingBefore(uint64_t first_seq, uint64_t last_seq) {
  return {first_seq - 1,
          {.stream = LogStream::kCarillon,
           .text = IsRestart(first_seq, last_seq)
                       ? "the executor was restarted here; entries may be missing\n"
                       : std::to_string(first_seq - last_seq - 1) + " entries are missing\n"}};
}

std::vector<NumberedEntry> EntriesOf(const LogChunk& chunk) {
  std::vector<NumberedEntry> numbered;
  auto entries = DecodeEntries(chunk.entries, chunk.count);
  if (!entries.ok()) {
    numbered.push_back({chunk.first_seq,
                        {.stream = LogStream::kCarillon,
                         .text = std::to_string(chunk.count) + " entries cannot be read\n"}});
    return numbered;
  }
  uint64_t seq = chunk.first_seq;
  for (LogEntry& entry : *entries) numbered.push_back({seq++, std::move(entry)});
  return numbered;
}

}  // namespace carillon::scheduler
