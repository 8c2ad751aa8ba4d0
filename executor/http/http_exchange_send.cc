// The part of HttpExchange that sends: it sets the handle up, and hears what libcurl says.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

#include "common/base/lower_case.h"
#include "common/base/version.h"
#include "common/domain/job_text.h"
#include "common/domain/run_id.h"
#include "executor/http/curl_url.h"
#include "executor/http/http_exchange.h"
#include "executor/http/own_address.h"

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

struct Target {
  std::string host;
  std::string port;
  bool is_address = false;
};

// As libcurl reads the URL, with all forms of an IPv4 address as the usual one.
std::optional<Target> TargetOf(const std::string& text) {
  const CurlUrl url = MakeCurlUrl();
  if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return std::nullopt;
  Target target{.host = PartOf(url, CURLUPART_HOST),
                .port = PartOf(url, CURLUPART_PORT, CURLU_DEFAULT_PORT)};
  if (target.host.empty()) return std::nullopt;
  target.is_address = target.host.front() == '[' || IpAddress::Parse(target.host).has_value();
  return target;
}

// Judges an address that a proxy is to connect to.
bool MayAskFor(const AddressPolicy& policy, const std::string& host) {
  const auto address = IpAddress::Parse(host);
  if (!address) return false;  // with a zone: link-local
  std::string text = address->Text();
  if (text.front() == '[') text = text.substr(1, text.size() - 2);
  sockaddr_in v4{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {}, .sin_zero = {}};
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  const bool own = inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1
                       ? IsOwnAddress(reinterpret_cast<const sockaddr&>(v4), sizeof v4)
                       : inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1 &&
                             IsOwnAddress(reinterpret_cast<const sockaddr&>(v6), sizeof v6);
  return policy.Allows(*address, own);
}

bool SendsBody(const StartHttp& start) {
  return !start.body.empty() || start.method == HttpMethod::kPost ||
         start.method == HttpMethod::kPut || start.method == HttpMethod::kPatch;
}

}  // namespace

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

Status HttpExchange::SetTarget(SteadyTime now) {
  auto sent = SendableUrl(start_.url);
  if (!sent.ok()) return {ErrorCode::kInvalid, "the URL " + sent.error().message};
  start_.url = *std::move(sent);
  std::optional<Target> target = TargetOf(start_.url);
  if (!target) return {ErrorCode::kInvalid, "the URL cannot be read"};
  by_proxy_ = rules_.proxy.IsUsedFor(target->host);
  if (by_proxy_) {
    if (target->is_address && !MayAskFor(rules_.policy, target->host)) {
      return {
          ErrorCode::kDenied,
          fmt::format("this executor sends no requests to {} (executor.http_allow)", target->host)};
    }
    target = TargetOf(rules_.proxy.url);
    if (!target) return {ErrorCode::kInvalid, "executor.http_proxy cannot be read"};
  }
  awaited_.reset();
  if (target->is_address) return {};
  awaited_ = {.host = std::move(target->host),
              .port = std::move(target->port),
              .since = now,
              .until = now + start_.connect_timeout};
  return {};
}

bool HttpExchange::Prepare(SteadyTime now) {
  resumes_.reset();
  curl_easy_reset(handle_);
  const Status headers = SetHeaders();
  const Status target = headers.ok() ? SetTarget(now) : headers;
  if (!target.ok()) {
    Fail(target.error());
    // Another attempt would have the same URL.
    result_.no_retry = headers.ok() && target.code() == ErrorCode::kInvalid;
    return false;
  }
  answer_headers_.clear();
  answer_header_bytes_ = 0;
  body_.clear();
  body_bytes_ = 0;
  whole_body_ = true;
  unpacking_failed_.clear();
  denied_.clear();
  failure_[0] = '\0';
  SetRequest(now);
  resolving_ = Duration(0);
  if (IsNoted()) {
    const bool stated = followed_ == 0 && !status_request_;
    log_.Note(
        fmt::format("> {} {}", Name(start_.method), stated ? start_.url : ShownUrl(start_.url)));
  }
  return true;
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

void HttpExchange::SetRequest(SteadyTime now) {
  curl_easy_setopt(handle_, CURLOPT_PRIVATE, this);
  curl_easy_setopt(handle_, CURLOPT_ERRORBUFFER, failure_.data());
  curl_easy_setopt(handle_, CURLOPT_NOSIGNAL, 1L);
  // libcurl is given the addresses of the host. Should it look up a name itself, it must not wait
  // for its own thread when the transfer is closed.
  curl_easy_setopt(handle_, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(handle_, CURLOPT_FOLLOWLOCATION, 0L);
  // Never the one of the environment.
  curl_easy_setopt(handle_, CURLOPT_PROXY, by_proxy_ ? rules_.proxy.url.c_str() : "");
  curl_easy_setopt(handle_, CURLOPT_NOPROXY, "");
  curl_easy_setopt(handle_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(handle_, CURLOPT_PROTOCOLS_STR, "http,https");
  SetTls();
  // All encodings that libcurl unpacks, also if a header of the job asks for some of them.
  curl_easy_setopt(handle_, CURLOPT_ACCEPT_ENCODING, "");
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

void HttpExchange::SetTls() {
  curl_easy_setopt(handle_, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(handle_, CURLOPT_SSL_VERIFYPEER, start_.tls_verify ? 1L : 0L);
  curl_easy_setopt(handle_, CURLOPT_SSL_VERIFYHOST, start_.tls_verify ? 2L : 0L);
  if (!rules_.ca_file.empty()) {
    curl_easy_setopt(handle_, CURLOPT_CAINFO, rules_.ca_file.c_str());
    curl_easy_setopt(handle_, CURLOPT_CAPATH, nullptr);  // trusts no other CAs
    curl_easy_setopt(handle_, CURLOPT_PROXY_CAINFO, rules_.ca_file.c_str());
    curl_easy_setopt(handle_, CURLOPT_PROXY_CAPATH, nullptr);
  }
  if (start_.client_certificate.empty()) return;
  curl_blob pem{.data = start_.client_certificate.data(),
                .len = start_.client_certificate.size(),
                .flags = CURL_BLOB_COPY};
  curl_easy_setopt(handle_, CURLOPT_SSLCERT_BLOB, &pem);
  curl_easy_setopt(handle_, CURLOPT_SSLKEY_BLOB, &pem);
}

size_t HttpExchange::OnBody(char* data, size_t size, size_t count, void* user) {
  HttpExchange& exchange = ExchangeOf(user);
  const size_t bytes = size * count;
  const bool judged = exchange.start_.expect.LooksAtBody() || exchange.start_.poll;
  const size_t most = std::max(exchange.start_.output_bytes_max, judged ? kJudgedBytesMax : 0);
  const size_t room = most - std::min(most, exchange.body_.size());
  exchange.body_.append(data, std::min(bytes, room));
  exchange.body_bytes_ += bytes;
  exchange.whole_body_ = exchange.body_bytes_ == exchange.body_.size();
  // A small packed body can have no end.
  const bool goes_on =
      exchange.body_bytes_ <= kUnpackedBytesMax || exchange.Header("content-encoding") == nullptr;
  return goes_on ? bytes : 0;
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
  // The operator has chosen the proxy.
  const bool judged = !exchange.by_proxy_;
  if (judged &&
      (!ip || !exchange.rules_.policy.Allows(*ip, IsOwnAddress(address->addr, address->addrlen)))) {
    exchange.denied_ = ip ? ip->Text() : "an address of an unknown kind";
    return CURL_SOCKET_BAD;
  }
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

}  // namespace carillon::executor
