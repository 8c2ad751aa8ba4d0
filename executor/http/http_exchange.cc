#include "executor/http/http_exchange.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>

#include "common/base/lower_case.h"
#include "common/base/version.h"
#include "common/domain/job_text.h"
#include "common/domain/run_id.h"
#include "common/domain/trace.h"
#include "executor/http/curl_url.h"
#include "executor/http/own_address.h"
#include "executor/http/redirect.h"
#include "executor/http/response_judge.h"
#include "executor/leases/lease_watch.h"

namespace carillon::executor {
namespace {

HttpExchange& ExchangeOf(void* user) { return *static_cast<HttpExchange*>(user); }

long Milliseconds(Duration duration) {
  return static_cast<long>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

std::optional<IpAddress> AddressOf(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address.sa_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  } else if (address.sa_family == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  }
  if (bytes == nullptr ||
      inet_ntop(address.sa_family, bytes, text.data(), text.size()) == nullptr) {
    return std::nullopt;
  }
  return IpAddress::Parse(text.data());
}

// The name whose addresses a URL needs; nullopt if it has an address itself.
std::optional<HttpExchange::AwaitedName> NameIn(const std::string& text) {
  const CurlUrl url = MakeCurlUrl();
  if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return std::nullopt;
  HttpExchange::AwaitedName name;
  // An international name is looked up in its ASCII form.
  name.host = PartOf(url, CURLUPART_HOST, CURLU_PUNYCODE);
  name.port = PartOf(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
  if (name.host.empty() || name.host.front() == '[' || IpAddress::Parse(name.host))
    return std::nullopt;
  return name;
}

// Headers of a response that let whoever reads the log act as the caller. `name` is in lower case.
bool IsCredential(std::string_view name) {
  return name == "set-cookie" || name == "set-cookie2" || name == "www-authenticate" ||
         name == "proxy-authenticate" || name == "authorization" || name == "authentication-info";
}

bool SendsBody(const StartHttp& start) {
  return !start.body.empty() || start.method == HttpMethod::kPost ||
         start.method == HttpMethod::kPut || start.method == HttpMethod::kPatch;
}

}  // namespace

HttpExchange::HttpExchange(StartHttp start, CURL* handle, const Rules& rules, const Clock& clock)
    : start_(std::move(start)),
      handle_(handle),
      rules_(rules),
      clock_(clock),
      started_(clock.Wall()),
      deadline_(clock.Steady() + start_.timeout) {
  if (!start_.masked.empty()) patterns_ = std::make_shared<SecretPatterns>(start_.masked);
}

HttpExchange::~HttpExchange() = default;

Status HttpExchange::SetHeaders() {
  // No "Expect: 100-continue", which costs a round trip and which many servers do not know.
  HeaderList list(curl_slist_append(nullptr, "Expect:"));
  const auto add = [&](const std::string& name, const std::string& value) {
    // "Name;" makes libcurl send a header without a value.
    const std::string line = value.empty() ? name + ";" : fmt::format("{}: {}", name, value);
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    CARILLON_CHECK(longer != nullptr, "curl_slist_append");
    static_cast<void>(list.release());
    list.reset(longer);
  };
  bool has_type = false;
  bool has_agent = false;
  for (const auto& [name, value] : start_.headers) {
    if (std::any_of(value.begin(), value.end(), IsControl)) {
      return {ErrorCode::kInvalid,
              fmt::format("the header {} has a line break or control character", name)};
    }
    const std::string lower = LowerCase(name);
    has_type = has_type || lower == "content-type";
    has_agent = has_agent || lower == "user-agent";
    add(name, value);
  }
  if (!has_type && SendsBody(start_)) add("Content-Type", std::string(kHttpBodyType));
  if (!has_agent) add("User-Agent", fmt::format("carillon/{}", kVersion));
  // They let a server recognise another attempt of the same run.
  add("X-Carillon-Run-Id", EncodeRunId(start_.attempt.key));
  add("X-Carillon-Attempt", fmt::format("{}", start_.attempt.attempt));
  headers_ = std::move(list);
  return {};
}

Status HttpExchange::Prepare(SteadyTime now) {
  curl_easy_reset(handle_);
  CARILLON_TRY(SetHeaders());
  answer_headers_.clear();
  answer_header_bytes_ = 0;
  body_.clear();
  body_bytes_ = 0;
  denied_.clear();
  failure_[0] = '\0';
  SetRequest(now);
  resolving_ = Duration(0);
  awaited_ = NameIn(start_.url);
  if (awaited_) {
    awaited_->since = now;
    awaited_->until = now + start_.connect_timeout;
  }
  Note(fmt::format("> {} {}", Name(start_.method), start_.url));
  return {};
}

void HttpExchange::SetAddresses(const std::vector<std::string>& addresses, SteadyTime now) {
  std::string line = fmt::format("+{}:{}:", awaited_->host, awaited_->port);
  for (const std::string& address : addresses) {
    const bool v6 = address.find(':') != std::string::npos;
    line += fmt::format("{}{}{}{}", line.back() == ':' ? "" : ",", v6 ? "[" : "", address,
                        v6 ? "]" : "");
  }
  resolved_.reset(curl_slist_append(nullptr, line.c_str()));
  CARILLON_CHECK(resolved_ != nullptr, "curl_slist_append");
  curl_easy_setopt(handle_, CURLOPT_RESOLVE, resolved_.get());
  resolving_ = now - awaited_->since;
  curl_easy_setopt(handle_, CURLOPT_CONNECTTIMEOUT_MS,
                   std::max(1L, Milliseconds(awaited_->until - now)));
  awaited_.reset();
}

void HttpExchange::CloseWithoutAddress(const std::string& why) {
  Close(RunState::kFailed, reason::kHttpError, Mask(why));
}

void HttpExchange::SetRequest(SteadyTime now) {
  curl_easy_setopt(handle_, CURLOPT_PRIVATE, this);
  curl_easy_setopt(handle_, CURLOPT_ERRORBUFFER, failure_.data());
  curl_easy_setopt(handle_, CURLOPT_NOSIGNAL, 1L);
  // libcurl is given the addresses of the host. Should it look up a name itself, it must not wait
  // for its own thread when the transfer is closed.
  curl_easy_setopt(handle_, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(handle_, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(handle_, CURLOPT_PROXY, "");
  curl_easy_setopt(handle_, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle_, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(handle_, CURLOPT_SSL_VERIFYPEER, start_.tls_verify ? 1L : 0L);
  curl_easy_setopt(handle_, CURLOPT_SSL_VERIFYHOST, start_.tls_verify ? 2L : 0L);
  if (!rules_.ca_file.empty()) {
    curl_easy_setopt(handle_, CURLOPT_CAINFO, rules_.ca_file.c_str());
    curl_easy_setopt(handle_, CURLOPT_CAPATH, nullptr);  // trusts no other CAs
  }
  curl_easy_setopt(handle_, CURLOPT_CONNECTTIMEOUT_MS, Milliseconds(start_.connect_timeout));
  // CloseIfDue ends it in time. This limit only lets libcurl plan its own waits within it.
  curl_easy_setopt(handle_, CURLOPT_TIMEOUT_MS, Milliseconds(deadline_ - now + 1s));
  curl_easy_setopt(handle_, CURLOPT_URL, start_.url.c_str());
  curl_easy_setopt(handle_, CURLOPT_HTTPHEADER, headers_.get());
  if (SendsBody(start_)) {
    curl_easy_setopt(handle_, CURLOPT_POST, 1L);
    curl_easy_setopt(handle_, CURLOPT_POSTFIELDS, start_.body.data());
    curl_easy_setopt(handle_, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(start_.body.size()));
  }
  if (start_.method == HttpMethod::kHead) curl_easy_setopt(handle_, CURLOPT_NOBODY, 1L);
  curl_easy_setopt(handle_, CURLOPT_CUSTOMREQUEST, std::string(Name(start_.method)).c_str());
  curl_easy_setopt(handle_, CURLOPT_WRITEFUNCTION, &HttpExchange::OnBody);
  curl_easy_setopt(handle_, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(handle_, CURLOPT_HEADERFUNCTION, &HttpExchange::OnHeader);
  curl_easy_setopt(handle_, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(handle_, CURLOPT_OPENSOCKETFUNCTION, &HttpExchange::OnOpenSocket);
  curl_easy_setopt(handle_, CURLOPT_OPENSOCKETDATA, this);
}

size_t HttpExchange::OnBody(char* data, size_t size, size_t count, void* user) {
  HttpExchange& exchange = ExchangeOf(user);
  const size_t bytes = size * count;
  const size_t most = std::max(exchange.start_.output_bytes_max,
                               exchange.start_.expect.LooksAtBody() ? kJudgedBytesMax : 0);
  const size_t room = most - std::min(most, exchange.body_.size());
  exchange.body_.append(data, std::min(bytes, room));
  exchange.body_bytes_ += bytes;
  return bytes;
}

size_t HttpExchange::OnHeader(char* data, size_t size, size_t count, void* user) {
  HttpExchange& exchange = ExchangeOf(user);
  const size_t bytes = size * count;
  std::string_view line(data, bytes);
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {
    exchange.answer_headers_.clear();  // drops the headers of an interim response (100)
    exchange.answer_header_bytes_ = 0;
    return bytes;
  }
  exchange.answer_header_bytes_ += bytes;
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || exchange.answer_header_bytes_ > kHeaderBytesMax) {
    return bytes;
  }
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  exchange.answer_headers_.emplace_back(LowerCase(line.substr(0, colon)), value);
  return bytes;
}

curl_socket_t HttpExchange::OnOpenSocket(void* user, curlsocktype, curl_sockaddr* address) {
  HttpExchange& exchange = ExchangeOf(user);
  const auto ip = AddressOf(address->addr);
  if (!ip || !exchange.rules_.policy.Allows(*ip, IsOwnAddress(address->addr, address->addrlen))) {
    exchange.denied_ = ip ? ip->Text() : "an address of an unknown kind";
    return CURL_SOCKET_BAD;
  }
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

bool HttpExchange::OnDone(CURLcode code) {
  if (code != CURLE_OK) {
    Fail(code);
    return false;
  }
  long status = 0;
  curl_easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &status);
  // No member takes a result with another status.
  if (status < 100 || status > 599) {
    Close(RunState::kFailed, reason::kHttpError,
          fmt::format("the server answered {}, which is no status", status));
    return false;
  }
  result_.http_status = static_cast<int>(status);
  NoteResponse();
  const std::string* location = Header("location");
  if (IsRedirect(*result_.http_status) && location != nullptr && followed_ < start_.follow) {
    const Status followed = FollowRedirect(*result_.http_status, *location, start_);
    if (!followed.ok()) {
      const bool denied = followed.code() == ErrorCode::kDenied;
      Close(RunState::kFailed, denied ? reason::kHttpForbidden : reason::kHttpError,
            followed.error().message);
      return false;
    }
    ++followed_;
    return true;
  }
  Judge();
  return false;
}

void HttpExchange::Judge() {
  const std::optional<int> status = result_.http_status;
  result_ = JudgeAnswer(start_.expect,
                        {.status = *status, .body = body_, .whole = body_bytes_ == body_.size()});
  if (result_.state == RunState::kFailed) {
    if (const std::string* header = Header("retry-after")) {
      result_.retry_after = RetryAfterOf(*header, clock_.Wall());
    }
  }
  const std::string_view kept = std::string_view(body_).substr(0, start_.output_bytes_max);
  result_.output_truncated = kept.size() < body_bytes_;
  result_.output = Mask(kept);
  NoteBody(result_.output);
}

void HttpExchange::Fail(CURLcode code) {
  // Its own limit was reached before CloseIfDue was called, because this thread was busy.
  if (code == CURLE_OPERATION_TIMEDOUT && CloseIfDue(clock_.Steady())) return;
  if (!denied_.empty() && (code == CURLE_COULDNT_CONNECT || code == CURLE_ABORTED_BY_CALLBACK)) {
    return Close(
        RunState::kFailed, reason::kHttpForbidden,
        fmt::format("this executor sends no requests to {} (executor.http_allow)", denied_));
  }
  const std::string why = failure_[0] == '\0' ? curl_easy_strerror(code) : failure_.data();
  Close(RunState::kFailed, reason::kHttpError, Mask(why));
}

void HttpExchange::Close(RunState state, std::string_view reason, std::string error) {
  const std::optional<int> status = result_.http_status;
  result_ = {.state = state, .reason = std::string(reason), .error = std::move(error)};
  result_.http_status = status;
  Note(fmt::format("* {}", result_.error.empty() ? Name(state) : result_.error));
}

void HttpExchange::ExtendLease(SteadyTime lease_end) {
  start_.lease_end = RenewedEnd(start_.lease_end, lease_end);
}

SteadyTime HttpExchange::NextCheck() const {
  const SteadyTime next =
      std::min(deadline_, NextLeaseCheck({start_.lease_end, start_.close_at_lease_end}));
  return awaited_ ? std::min(next, awaited_->until) : next;
}

bool HttpExchange::CloseIfDue(SteadyTime now) {
  if (now >= deadline_) {
    Close(RunState::kTimedOut, reason::kTimeout, "the request took longer than its timeout");
    return true;
  }
  const WatchedLease lease{start_.lease_end, start_.close_at_lease_end};
  if (DecideWhileRunning(lease, now) == LeaseAction::kKill) {
    const bool sent = !awaited_ || followed_ > 0;
    Close(RunState::kLost, sent ? reason::kLeaseEnded : reason::kNotStarted,
          sent ? "the request was closed: its lease expired"
               : "its lease expired before the request was sent");
    return true;
  }
  if (!awaited_ || now < awaited_->until) return false;
  CloseWithoutAddress(fmt::format(
      "host {} was not resolved within {} s (connect_timeout)", awaited_->host,
      std::chrono::duration_cast<std::chrono::seconds>(start_.connect_timeout).count()));
  return true;
}

std::string HttpExchange::Mask(std::string_view text) const {
  if (!patterns_) return std::string(text);
  SecretMasker masker(patterns_);
  std::string masked = masker.Feed(text);
  return masked + masker.End();
}

const std::string* HttpExchange::Header(std::string_view name) const {
  for (const auto& [known, value] : answer_headers_) {
    if (known == name) return &value;
  }
  return nullptr;
}

void HttpExchange::Note(const std::string& line) {
  std::string text = Mask(line).substr(0, kLogEntryBytesMax - 1);
  std::replace_if(text.begin(), text.end(), IsControl, ' ');
  Add(LogStream::kStderr, text + "\n");
}

// One chunk has room for all headers and the kept part of a body; short lines may need more.
void HttpExchange::Add(LogStream stream, std::string text) {
  if (log_.entries.size() > kLogChunkBytesMax - 2 * kLogEntryBytesMax) return;
  AppendEntry(log_.entries, {.time = clock_.Wall(), .stream = stream, .text = std::move(text)});
  ++log_.count;
}

void HttpExchange::NoteBody(std::string_view body) {
  while (!body.empty()) {
    const size_t newline = std::min(body.find('\n'), body.size() - 1);
    const std::string_view line = body.substr(0, std::min(newline + 1, kLogEntryBytesMax - 1));
    body.remove_prefix(line.size());
    std::string text(line);
    if (body.empty() && text.back() != '\n') text += '\n';
    Add(LogStream::kStdout, std::move(text));
  }
}

void HttpExchange::NoteResponse() {
  Note(fmt::format("< {}", *result_.http_status));
  for (const auto& [name, value] : answer_headers_) {
    Note(fmt::format("< {}: {}", name,
                     IsCredential(name) ? std::string_view("***") : std::string_view(value)));
  }
  // libcurl does not know how long its addresses took.
  const double resolving = std::chrono::duration<double, std::milli>(resolving_).count();
  const auto milliseconds = [&](CURLINFO part) {
    curl_off_t us = 0;
    curl_easy_getinfo(handle_, part, &us);
    return us == 0 && part == CURLINFO_APPCONNECT_TIME_T
               ? 0.0
               : static_cast<double>(us) / 1000 + resolving;
  };
  Note(fmt::format(
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

std::optional<AttemptOutput> HttpExchange::TakeLog() {
  if (log_.count == 0) return std::nullopt;
  log_.last = true;
  return AttemptOutput{start_.attempt, start_.job_id, std::move(log_)};
}

}  // namespace carillon::executor
