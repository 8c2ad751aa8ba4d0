#include "scheduler/notify/notice_mail.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "common/domain/results/exit_code.h"
#include "common/domain/run/streak.h"
#include "common/wire/base64.h"
#include "common/wire/json/notice_json.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kLineBytes = 76;         // bytes of base64 in a line of a body
constexpr size_t kEncodedWordBytes = 45;  // bytes of text in an encoded word of at most 75 bytes
constexpr std::string_view kNewLine = "\r\n";

std::string Title(NoticeKind kind) {
  switch (kind) {
    case NoticeKind::kFailed: return "Failed";
    case NoticeKind::kMissed: return "Missed";
    case NoticeKind::kLate: return "Late";
    case NoticeKind::kRecovered: return "Recovered";
    case NoticeKind::kJobPaused: return "Paused";
    case NoticeKind::kShed: return "Overload";
    case NoticeKind::kApproval: return "Approval";
  }
  return "Notice";
}

std::string SentenceOf(const OpenNotice& open) {
  const Notice& notice = open.notice;
  switch (notice.kind) {
    case NoticeKind::kFailed:
      return fmt::format("A run of job {} ended as {}; no retries are left.", open.job_id.value(),
                         Name(notice.state));
    case NoticeKind::kMissed:
      return fmt::format("{} fires of job {} were missed and will not run.", notice.fires,
                         open.job_id.value());
    case NoticeKind::kLate: return fmt::format("A run of job {} is late.", open.job_id.value());
    case NoticeKind::kRecovered:
      return fmt::format("Job {} has succeeded again.", open.job_id.value());
    case NoticeKind::kJobPaused:
      return fmt::format("Job {} was paused: {}. It starts nothing until somebody resumes it.",
                         open.job_id.value(), StreakSentence(notice.fires));
    case NoticeKind::kApproval:
      return fmt::format("A run of the workflow {} waits for a decision.", open.job_id.value());
    case NoticeKind::kShed:
      return fmt::format(
          "Due runs wait too long (overload.levels), so those of low priority are skipped; a run "
          "of job {} was the first.",
          open.job_id.value());
  }
  return {};
}

bool IsPlain(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; }) &&
         text.find("=?") == std::string::npos;
}

// The number of bytes from `from` on that fit into an encoded word without splitting a character.
size_t WordBytes(const std::string& text, size_t from) {
  size_t end = std::min(from + kEncodedWordBytes, text.size());
  const auto continues = [&](size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  while (end > from + 1 && continues(end)) --end;
  return end - from;
}

void AddLine(std::string& text, std::string_view name, const std::string& value) {
  if (!value.empty()) text += fmt::format("{:<12}{}\n", name, value);
}

void AddApproval(std::string& text, const RunDetail& run) {
  if (run.node) {
    AddLine(text, "Node", run.node->node);
    AddLine(text, "Workflow", EncodeRunId(run.node->workflow_run));
  }
  if (run.until != WallTime{}) AddLine(text, "Expires", FormatRfc3339(run.until));
  const std::string message = ApprovalMessageOf(run);
  if (!message.empty()) text += "\n" + message + "\n";
}

}  // namespace

std::string EncodeHeader(const std::string& text) {
  if (IsPlain(text)) return text;
  std::string out;
  for (size_t from = 0; from < text.size();) {
    const size_t bytes = WordBytes(text, from);
    if (!out.empty()) out += "\r\n ";
    out += "=?UTF-8?B?" + Base64(std::string_view(text).substr(from, bytes)) + "?=";
    from += bytes;
  }
  return out;
}

std::string MailDate(WallTime time) {
  namespace chr = std::chrono;
  constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed",
                                                     "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto seconds = chr::floor<chr::seconds>(chr::sys_time<Duration>(time.time_since_epoch()));
  const auto days = chr::floor<chr::days>(seconds);
  const chr::year_month_day date(days);
  const chr::hh_mm_ss clock(seconds - days);
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} +0000",
                     kDays.at(chr::weekday(days).c_encoding()), unsigned(date.day()),
                     kMonths.at(unsigned(date.month()) - 1), int(date.year()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string SubjectOf(const OpenNotice& notice) {
  return fmt::format("[Carillon] {}: {}", Title(notice.notice.kind), notice.job_name);
}

std::string TextOf(const OpenNotice& open, const std::string& link) {
  const Notice& notice = open.notice;
  std::string text = SentenceOf(open) + "\n\n";
  AddLine(text, "Job", fmt::format("{} ({})", open.job_name, open.job_id.value()));
  if (notice.kind == NoticeKind::kMissed) {
    AddLine(text, "From", FormatRfc3339(notice.key.fire));
    AddLine(text, "To", FormatRfc3339(notice.until));
  } else {
    AddLine(text, "Run", EncodeRunId(notice.key));
    AddLine(text, "Fire time", FormatRfc3339(notice.key.fire));
    AddLine(text, "State", std::string(Name(notice.state)));
    AddLine(text, "Attempts", std::to_string(TriesOf(notice)));
  }
  AddLine(text, "Reason", notice.reason);
  if (open.run && notice.kind == NoticeKind::kApproval) {
    AddApproval(text, *open.run);
  } else if (open.run) {
    if (open.run->result.exit_code) {
      AddLine(text, "Exit code", ExitCodeText(*open.run->result.exit_code));
    }
    AddLine(text, "Executor", open.run->row.executor.value());
  }
  if (open.memory.held_back > 0) {
    text += fmt::format("\n{} more notifications of this kind were held back since the last one.\n",
                        open.memory.held_back);
  }
  if (!link.empty()) text += "\n" + link + "\n";
  return text;
}

std::string ComposeMail(const MailEnvelope& envelope, const std::string& subject,
                        const std::string& text) {
  std::string mail;
  const auto header = [&mail](std::string_view name, std::string_view value) {
    mail += fmt::format("{}: {}{}", name, value, kNewLine);
  };
  std::string to;
  for (const std::string& one : envelope.to) to += (to.empty() ? "" : ",\r\n ") + one;
  header("Date", MailDate(envelope.date));
  header("From", "Carillon <" + envelope.from + ">");
  header("To", to);
  header("Subject", EncodeHeader(subject));
  header("Message-ID",
         fmt::format("<{}@{}>", envelope.id, envelope.from.substr(envelope.from.find('@') + 1)));
  header("Auto-Submitted", "auto-generated");
  header("MIME-Version", "1.0");
  header("Content-Type", "text/plain; charset=utf-8");
  header("Content-Transfer-Encoding", "base64");
  mail += kNewLine;
  const std::string body = Base64(text);
  for (size_t from = 0; from < body.size(); from += kLineBytes) {
    mail += body.substr(from, kLineBytes);
    mail += kNewLine;
  }
  return mail;
}

}  // namespace carillon::scheduler
