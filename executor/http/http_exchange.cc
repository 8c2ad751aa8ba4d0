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

HttpExchange::HttpExchange(StartHttp start, CURL* handle, const HttpTransfer::Rules& rules,
                           const Clock& clock)
    : start_(std::move(start)),
      transfer_(handle, rules),
      clock_(clock),
      started_(clock.Wall()),
      deadline_(clock.Steady() + start_.timeout),
      log_(start_.masked, clock) {}

HttpExchange::~HttpExchange() = default;

bool HttpExchange::Prepare(SteadyTime now) {
  resumes_.reset();
  const bool judged = start_.expect.LooksAtBody() || start_.poll;
  const size_t kept = std::max(start_.output_bytes_max, judged ? kJudgedBytesMax : 0);
  const Status prepared = transfer_.Prepare(start_, now, deadline_, kept);
  if (!prepared.ok()) {
    Fail(prepared.error());
    // Another attempt would be the same.
    result_.no_retry = prepared.code() == ErrorCode::kInvalid;
    return false;
  }
  curl_easy_setopt(transfer_.handle(), CURLOPT_PRIVATE, this);
  if (IsNoted()) {
    const bool stated = followed_ == 0 && !status_request_;
    log_.Note(
        fmt::format("> {} {}", Name(start_.method), stated ? start_.url : ShownUrl(start_.url)));
  }
  return true;
}

bool HttpExchange::GoOnWithoutAddress(const std::string& why) {
  transfer_.ForgetName();
  if (AskLater(why)) return true;
  Close(RunState::kFailed, reason::kHttpError, log_.Mask(why));
  return false;
}

bool HttpExchange::OnDone(CURLcode code) {
  const Status done = transfer_.OnDone(code);
  if (!done.ok()) {
    // Its own limit was reached before CloseIfDue was called, because this thread was busy.
    if (done.code() == ErrorCode::kTimeout && CloseIfDue(clock_.Steady())) return false;
    if (done.code() != ErrorCode::kDenied && AskLater(done.error().message)) return true;
    Fail(done.error());
    return false;
  }
  const long status = transfer_.StatusCode();
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
  HttpTransfer::Received& received = transfer_.received();
  const std::string_view content_type = type == nullptr ? std::string_view() : *type;
  // A server may repeat a secret in the UTF-8 of the request, whatever charset it states.
  std::string masked = log_.Mask(received.body);
  const bool repeats = masked != received.body;
  BodyText body = DecodeBody(std::move(received.body), content_type);
  received.body = std::move(body.text);
  shown_body_.reset();
  if (repeats) shown_body_ = DecodeBody(std::move(masked), content_type).text;
  if (!body.note.empty()) log_.Note("* " + body.note);
  if (!received.unpacking_failed.empty()) {
    log_.Note("* the body cannot be unpacked: " + received.unpacking_failed);
  }
}

std::string_view HttpExchange::ShownBody() const {
  return shown_body_ ? *shown_body_ : transfer_.received().body;
}

bool HttpExchange::Judge() {
  const int status = *result_.http_status;
  const bool busy = status == 429 || status >= 500;
  if (status_request_ && busy && AskLater(fmt::format("{}", status))) return true;
  ReadBody();
  const HttpTransfer::Received& received = transfer_.received();
  const HttpAnswer answer{.status = status, .body = received.body, .whole = received.whole};
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
  if (result_.reason == reason::kHttpBody && !received.unpacking_failed.empty()) {
    result_.error = log_.Mask("the response cannot be unpacked: " + received.unpacking_failed);
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
  const std::string_view shown = ShownBody();
  const std::string_view kept = shown.substr(0, start_.output_bytes_max);
  result_.output_truncated = kept.size() < shown.size() || !answer.whole;
  result_.output = log_.Mask(kept);
  log_.NoteBody(result_.output);
  return false;
}

// The work is only accepted, or goes on.
bool HttpExchange::Wait(const HttpAnswer& answer) {
  status_failures_ = 0;
  if (status_request_) {
    Plan(fmt::format("{} {}", answer.status, ShownBody().substr(0, kStatusShownMax)));
    return true;
  }
  NoteResponse();
  log_.NoteBody(log_.Mask(ShownBody().substr(0, start_.output_bytes_max)));
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
  return awaited() ? std::min(next, awaited()->until) : next;
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
    const bool sent = !awaited() || followed_ > 0 || status_request_;
    Close(RunState::kLost, sent ? reason::kLeaseEnded : reason::kNotStarted,
          sent ? "the request was closed: its lease expired"
               : "its lease expired before the request was sent");
    return true;
  }
  return false;
}

std::optional<std::string> HttpExchange::Unresolved(SteadyTime now) const {
  if (!awaited() || now < awaited()->until) return std::nullopt;
  return fmt::format("host {} was not resolved within {} s (connect_timeout)", awaited()->host,
                     Seconds(start_.connect_timeout));
}

void HttpExchange::NoteResponse() {
  log_.Note(fmt::format("< {}", *result_.http_status));
  for (const auto& [name, value] : transfer_.received().headers) log_.NoteHeader(name, value);
  log_.Note("* " + transfer_.Figures());
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
