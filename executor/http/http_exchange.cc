#include "executor/http/http_exchange.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/http/body_text.h"
#include "executor/http/redirect.h"
#include "executor/http/response_judge.h"
#include "executor/leases/lease_watch.h"

namespace carillon::executor {
namespace {

constexpr size_t kLocationShownMax = 512;
constexpr size_t kStatusShownMax = 200;  // bytes of the answer to a question for the status

long long Seconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

}  // namespace

HttpExchange::HttpExchange(StartHttp start, CURL* handle, const Rules& rules, const Clock& clock)
    : start_(std::move(start)),
      handle_(handle),
      rules_(rules),
      clock_(clock),
      started_(clock.Wall()),
      deadline_(clock.Steady() + start_.timeout),
      log_(start_.masked, clock) {}

HttpExchange::~HttpExchange() = default;

bool HttpExchange::GoOnWithoutAddress(const std::string& why) {
  awaited_.reset();
  if (AskLater(why)) return true;
  Close(RunState::kFailed, reason::kHttpError, log_.Mask(why));
  return false;
}

bool HttpExchange::OnDone(CURLcode code) {
  const bool cut = code == CURLE_WRITE_ERROR && body_bytes_ > kUnpackedBytesMax;
  if (code == CURLE_BAD_CONTENT_ENCODING) {
    unpacking_failed_ = failure_[0] == '\0' ? curl_easy_strerror(code) : failure_.data();
    whole_body_ = false;
  }
  if (code != CURLE_OK && !cut && unpacking_failed_.empty()) return Fail(code);
  long status = 0;
  curl_easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &status);
  // No member takes a result with another status.
  if (status < 100 || status > 599) {
    Close(RunState::kFailed, reason::kHttpError,
          fmt::format("the server answered {}, which is no status", status));
    return false;
  }
  result_.http_status = static_cast<int>(status);
  const std::string* location = Header("location");
  if (IsRedirect(*result_.http_status) && location != nullptr && followed_ < start_.follow) {
    return Follow(*location);
  }
  return Judge();
}

bool HttpExchange::Follow(const std::string& location) {
  if (IsNoted()) NoteResponse();
  const Status followed = FollowRedirect(*result_.http_status, location, start_);
  if (!followed.ok()) {
    Fail(followed.error());
    return false;
  }
  ++followed_;
  resumes_ = SteadyTime{};
  return true;
}

// Makes text of the body.
void HttpExchange::ReadBody() {
  const std::string* type = Header("content-type");
  BodyText body = DecodeBody(std::move(body_), type == nullptr ? std::string_view() : *type);
  body_ = std::move(body.text);
  if (!body.note.empty()) log_.Note("* " + body.note);
  if (!unpacking_failed_.empty()) {
    log_.Note("* the body cannot be unpacked: " + unpacking_failed_);
  }
}

bool HttpExchange::Judge() {
  const int status = *result_.http_status;
  const bool busy = status == 429 || status >= 500;
  if (status_request_ && busy && AskLater(fmt::format("{}", status))) return true;
  ReadBody();
  const HttpAnswer answer{.status = status, .body = body_, .whole = whole_body_};
  const Result<bool> pending = start_.poll ? IsPending(*start_.poll, answer) : Result<bool>(false);
  if (pending.ok() && *pending) return Wait(answer);
  NoteResponse();
  result_ = JudgeAnswer(start_.expect, answer);
  if (!pending.ok() && result_.state == RunState::kCompleted) {
    result_ = {.state = RunState::kFailed,
               .reason = std::string(reason::kHttpBody),
               .error = pending.error().message,
               .http_status = status};
  }
  if (result_.reason == reason::kHttpBody && !unpacking_failed_.empty()) {
    result_.error = log_.Mask("the response cannot be unpacked: " + unpacking_failed_);
  }
  const std::string* location = Header("location");
  if (result_.reason == reason::kHttpStatus && IsRedirect(status) && location != nullptr &&
      followed_ > 0) {
    result_.error =
        log_.Mask(fmt::format("stopped after {} redirect{} (http.follow); the last was "
                              "a {} to {}",
                              followed_, followed_ == 1 ? "" : "s", status,
                              ShownUrl(location->substr(0, kLocationShownMax))));
  }
  if (result_.state == RunState::kFailed) {
    if (const std::string* header = Header("retry-after")) {
      result_.retry_after = RetryAfterOf(*header, clock_.Wall());
    }
  }
  const std::string_view kept = std::string_view(body_).substr(0, start_.output_bytes_max);
  result_.output_truncated = kept.size() < body_.size() || !whole_body_;
  result_.output = log_.Mask(kept);
  log_.NoteBody(result_.output);
  return false;
}

// The work is only accepted, or goes on.
bool HttpExchange::Wait(const HttpAnswer& answer) {
  status_failures_ = 0;
  if (status_request_) {
    Plan(fmt::format("{} {}", answer.status, answer.body.substr(0, kStatusShownMax)));
    return true;
  }
  NoteResponse();
  log_.NoteBody(log_.Mask(std::string_view(body_).substr(0, start_.output_bytes_max)));
  const std::string named = start_.poll->url_at.empty()
                                ? std::string()
                                : TextAt(start_.poll->url_at, answer).value_or(std::string());
  const std::string* location = Header("location");
  const Status found = AskForStatus(*start_.poll, named,
                                    location == nullptr ? std::string_view() : *location, start_);
  if (!found.ok()) {
    Fail(found.error());
    return false;
  }
  status_request_ = start_;
  Plan("the work is accepted");
  return true;
}

bool HttpExchange::IsNoted() const { return asked_ <= 10 || (asked_ & (asked_ - 1)) == 0; }

void HttpExchange::Plan(std::string_view why) {
  Duration wait = std::chrono::seconds(start_.poll->interval_s);
  if (const std::string* header = Header("retry-after")) {
    wait = std::max(wait, RetryAfterOf(*header, clock_.Wall()).value_or(wait));
  }
  if (IsNoted()) {
    log_.Note(fmt::format("* {}; its status is asked for in {} s", why, Seconds(wait)));
  }
  const SteadyTime lease_end = start_.lease_end;
  start_ = *status_request_;
  start_.lease_end = lease_end;
  followed_ = 0;
  ++asked_;
  resumes_ = clock_.Steady() + wait;
}

// A question for the status has failed. Returns whether it is asked again.
bool HttpExchange::AskLater(std::string_view why) {
  if (!status_request_ || ++status_failures_ > kStatusFailuresMax) return false;
  Plan(why);
  return true;
}

void HttpExchange::Fail(const Error& error) {
  const bool denied = error.code == ErrorCode::kDenied;
  Close(RunState::kFailed, denied ? reason::kHttpForbidden : reason::kHttpError,
        log_.Mask(error.message));
}

bool HttpExchange::Fail(CURLcode code) {
  // Its own limit was reached before CloseIfDue was called, because this thread was busy.
  if (code == CURLE_OPERATION_TIMEDOUT && CloseIfDue(clock_.Steady())) return false;
  if (!denied_.empty() && (code == CURLE_COULDNT_CONNECT || code == CURLE_ABORTED_BY_CALLBACK)) {
    Close(RunState::kFailed, reason::kHttpForbidden,
          fmt::format("this executor sends no requests to {} (executor.http_allow)", denied_));
    return false;
  }
  const std::string why = failure_[0] == '\0' ? curl_easy_strerror(code) : failure_.data();
  if (AskLater(why)) return true;
  Close(RunState::kFailed, reason::kHttpError, log_.Mask(why));
  return false;
}

void HttpExchange::Close(RunState state, std::string_view reason, std::string error) {
  const std::optional<int> status = result_.http_status;
  result_ = {.state = state, .reason = std::string(reason), .error = std::move(error)};
  result_.http_status = status;
  log_.Note(fmt::format("* {}", result_.error.empty() ? Name(state) : result_.error));
}

void HttpExchange::ExtendLease(SteadyTime lease_end) {
  start_.lease_end = RenewedEnd(start_.lease_end, lease_end);
}

SteadyTime HttpExchange::NextCheck() const {
  const SteadyTime next =
      std::min(deadline_, NextLeaseCheck({start_.lease_end, start_.close_at_lease_end}));
  if (resumes_) return std::min(next, *resumes_);
  return awaited_ ? std::min(next, awaited_->until) : next;
}

bool HttpExchange::CloseIfDue(SteadyTime now) {
  if (now >= deadline_) {
    Close(RunState::kTimedOut, reason::kTimeout,
          status_request_ ? "the accepted work was not over within the timeout"
                          : "the request took longer than its timeout");
    return true;
  }
  const WatchedLease lease{start_.lease_end, start_.close_at_lease_end};
  if (DecideWhileRunning(lease, now) == LeaseAction::kKill) {
    const bool sent = !awaited_ || followed_ > 0 || status_request_;
    Close(RunState::kLost, sent ? reason::kLeaseEnded : reason::kNotStarted,
          sent ? "the request was closed: its lease expired"
               : "its lease expired before the request was sent");
    return true;
  }
  if (!awaited_ || now < awaited_->until) return false;
  Close(RunState::kFailed, reason::kHttpError,
        log_.Mask(fmt::format("host {} was not resolved within {} s (connect_timeout)",
                              awaited_->host, Seconds(start_.connect_timeout))));
  return true;
}

const std::string* HttpExchange::Header(std::string_view name) const {
  for (const auto& [known, value] : answer_headers_) {
    if (known == name) return &value;
  }
  return nullptr;
}

void HttpExchange::NoteResponse() {
  log_.Note(fmt::format("< {}", *result_.http_status));
  for (const auto& [name, value] : answer_headers_) log_.NoteHeader(name, value);
  // libcurl does not know how long its addresses took.
  const double resolving = std::chrono::duration<double, std::milli>(resolving_).count();
  const auto milliseconds = [&](CURLINFO part) {
    curl_off_t us = 0;
    curl_easy_getinfo(handle_, part, &us);
    return us == 0 && part == CURLINFO_APPCONNECT_TIME_T
               ? 0.0
               : static_cast<double>(us) / 1000 + resolving;
  };
  log_.Note(fmt::format(
      "* {} bytes; name {:.1f} ms, connected {:.1f} ms, TLS {:.1f} ms, first byte {:.1f} ms, "
      "all {:.1f} ms",
      body_bytes_, milliseconds(CURLINFO_NAMELOOKUP_TIME_T), milliseconds(CURLINFO_CONNECT_TIME_T),
      milliseconds(CURLINFO_APPCONNECT_TIME_T), milliseconds(CURLINFO_STARTTRANSFER_TIME_T),
      milliseconds(CURLINFO_TOTAL_TIME_T)));
}

AttemptEnded HttpExchange::TakeEnded() {
  result_.started = started_;
  result_.ended = std::max(clock_.Wall(), started_);
  return {start_.attempt, std::move(result_), start_.job_id};
}

std::optional<AttemptOutput> HttpExchange::TakeLog(bool last) {
  std::optional<LogChunk> chunk = log_.Take(last);
  if (!chunk) return std::nullopt;
  return AttemptOutput{start_.attempt, start_.job_id, *std::move(chunk)};
}

}  // namespace carillon::executor
