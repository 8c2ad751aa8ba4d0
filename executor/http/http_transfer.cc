#include "executor/http/http_transfer.h"

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
#include "executor/http/own_address.h"

namespace carillon::executor {
namespace {

HttpTransfer& TransferOf(void* user) { return *static_cast<HttpTransfer*>(user); }

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

Error Refused(std::string_view address) {
  return {ErrorCode::kDenied,
          fmt::format("this executor sends no requests to {} (executor.http_allow)", address)};
}

bool IsEncrypted(std::string_view pem) {
  return pem.find("BEGIN ENCRYPTED PRIVATE KEY") != std::string_view::npos ||
         pem.find("Proc-Type: 4,ENCRYPTED") != std::string_view::npos;
}

bool SendsBody(const StartHttp& start) {
  return !start.body.empty() || start.method == HttpMethod::kPost ||
         start.method == HttpMethod::kPut || start.method == HttpMethod::kPatch;
}

}  // namespace

Status HttpTransfer::SetHeaders(const StartHttp& start) {
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
  for (const auto& [name, value] : start.headers) {
    if (std::any_of(value.begin(), value.end(), IsControl)) {
      return {ErrorCode::kInvalid,
              fmt::format("the header {} has a line break or control character", name)};
    }
    const std::string lower = LowerCase(name);
    has_type = has_type || lower == "content-type";
    has_agent = has_agent || lower == "user-agent";
    add(name, value);
  }
  if (!has_type && SendsBody(start)) add("Content-Type", std::string(kHttpBodyType));
  if (!has_agent) add("User-Agent", fmt::format("carillon/{}", kVersion));
  // They let a server recognise another attempt of the same run.
  add("X-Carillon-Run-Id", EncodeRunId(start.attempt.key));
  add("X-Carillon-Attempt", fmt::format("{}", start.attempt.attempt));
  headers_ = std::move(list);
  return {};
}

Status HttpTransfer::SetTarget(StartHttp& start, SteadyTime now) {
  auto sent = SendableUrl(start.url);
  if (!sent.ok()) return {ErrorCode::kInvalid, "the URL " + sent.error().message};
  start.url = *std::move(sent);
  std::optional<Target> target = TargetOf(start.url);
  if (!target) return {ErrorCode::kInvalid, "the URL cannot be read"};
  by_proxy_ = rules_.proxy.IsUsedFor(target->host);
  if (by_proxy_) {
    if (target->is_address && !MayAskFor(rules_.policy, target->host)) {
      return Refused(target->host);
    }
    target = TargetOf(rules_.proxy.url);
    if (!target) return {ErrorCode::kInvalid, "executor.http_proxy cannot be read"};
  }
  awaited_.reset();
  if (target->is_address) return {};
  awaited_ = {.host = std::move(target->host),
              .port = std::move(target->port),
              .since = now,
              .until = now + start.connect_timeout};
  return {};
}

Status HttpTransfer::Prepare(StartHttp& start, SteadyTime now, SteadyTime deadline,
                             size_t kept_bytes) {
  curl_easy_reset(handle_);
  received_ = {};
  denied_.clear();
  failure_[0] = '\0';
  kept_bytes_ = kept_bytes;
  if (IsEncrypted(start.client_certificate)) {
    return {ErrorCode::kInvalid,
            "the key of client_certificate needs a passphrase; store one that needs none"};
  }
  CARILLON_TRY(SetHeaders(start));
  CARILLON_TRY(SetTarget(start, now));
  SetRequest(start, deadline - now);
  resolving_ = Duration(0);
  return {};
}

void HttpTransfer::SetAddresses(const std::vector<std::string>& addresses, SteadyTime now) {
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

void HttpTransfer::SetRequest(const StartHttp& start, Duration left) {
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
  SetTls(start);
  // All encodings that libcurl unpacks, also if a header of the job asks for some of them.
  curl_easy_setopt(handle_, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(handle_, CURLOPT_CONNECTTIMEOUT_MS, Milliseconds(start.connect_timeout));
  // Its owner ends it in time. This limit only lets libcurl plan its own waits within it.
  curl_easy_setopt(handle_, CURLOPT_TIMEOUT_MS, Milliseconds(left + 1s));
  curl_easy_setopt(handle_, CURLOPT_URL, start.url.c_str());
  curl_easy_setopt(handle_, CURLOPT_HTTPHEADER, headers_.get());
  if (SendsBody(start)) {
    curl_easy_setopt(handle_, CURLOPT_POST, 1L);
    curl_easy_setopt(handle_, CURLOPT_POSTFIELDS, start.body.data());
    curl_easy_setopt(handle_, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(start.body.size()));
  }
  if (start.method == HttpMethod::kHead) curl_easy_setopt(handle_, CURLOPT_NOBODY, 1L);
  curl_easy_setopt(handle_, CURLOPT_CUSTOMREQUEST, std::string(Name(start.method)).c_str());
  curl_easy_setopt(handle_, CURLOPT_WRITEFUNCTION, &HttpTransfer::OnBody);
  curl_easy_setopt(handle_, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(handle_, CURLOPT_HEADERFUNCTION, &HttpTransfer::OnHeader);
  curl_easy_setopt(handle_, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(handle_, CURLOPT_OPENSOCKETFUNCTION, &HttpTransfer::OnOpenSocket);
  curl_easy_setopt(handle_, CURLOPT_OPENSOCKETDATA, this);
}

void HttpTransfer::SetTls(const StartHttp& start) {
  curl_easy_setopt(handle_, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(handle_, CURLOPT_SSL_VERIFYPEER, start.tls_verify ? 1L : 0L);
  curl_easy_setopt(handle_, CURLOPT_SSL_VERIFYHOST, start.tls_verify ? 2L : 0L);
  if (!rules_.ca_file.empty()) {
    curl_easy_setopt(handle_, CURLOPT_CAINFO, rules_.ca_file.c_str());
    curl_easy_setopt(handle_, CURLOPT_CAPATH, nullptr);  // trusts no other CAs
    curl_easy_setopt(handle_, CURLOPT_PROXY_CAINFO, rules_.ca_file.c_str());
    curl_easy_setopt(handle_, CURLOPT_PROXY_CAPATH, nullptr);
  }
  if (start.client_certificate.empty()) return;
  curl_blob pem{.data = const_cast<char*>(start.client_certificate.data()),
                .len = start.client_certificate.size(),
                .flags = CURL_BLOB_COPY};
  // For a key that is encrypted nevertheless libcurl asks for a passphrase, and reads null if none
  // is set.
  curl_easy_setopt(handle_, CURLOPT_KEYPASSWD, "");
  curl_easy_setopt(handle_, CURLOPT_SSLCERT_BLOB, &pem);
  curl_easy_setopt(handle_, CURLOPT_SSLKEY_BLOB, &pem);
}

size_t HttpTransfer::OnBody(char* data, size_t size, size_t count, void* user) {
  HttpTransfer& transfer = TransferOf(user);
  Received& received = transfer.received_;
  const size_t bytes = size * count;
  const size_t room = transfer.kept_bytes_ - std::min(transfer.kept_bytes_, received.body.size());
  received.body.append(data, std::min(bytes, room));
  received.body_bytes += bytes;
  received.whole = received.body_bytes == received.body.size();
  // A small packed body can have no end.
  const bool goes_on =
      received.body_bytes <= kUnpackedBytesMax || received.Header("content-encoding") == nullptr;
  return goes_on ? bytes : 0;
}

size_t HttpTransfer::OnHeader(char* data, size_t size, size_t count, void* user) {
  TransferOf(user).received_.AddLine({data, size * count});
  return size * count;
}

void HttpTransfer::Received::AddLine(std::string_view line) {
  if (line.starts_with("HTTP/")) {
    headers.clear();  // drops the headers of an interim response (100)
    header_bytes = 0;
    return;
  }
  header_bytes += line.size();
  if (header_bytes > kHeaderBytesMax) return;
  // The old form of a long value.
  const bool goes_on = line.starts_with(' ') || line.starts_with('\t');
  const auto trimmed = [](std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r\n";
    const size_t from = std::min(text.find_first_not_of(kBlanks), text.size());
    return text.substr(from, text.find_last_not_of(kBlanks) + 1 - from);
  };
  if (goes_on) {
    if (!headers.empty()) headers.back().second.append(" ").append(trimmed(line));
    return;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  headers.emplace_back(LowerCase(trimmed(line.substr(0, colon))), trimmed(line.substr(colon + 1)));
}

curl_socket_t HttpTransfer::OnOpenSocket(void* user, curlsocktype, curl_sockaddr* address) {
  HttpTransfer& transfer = TransferOf(user);
  const auto ip = AddressOf(address->addr);
  // The operator has chosen the proxy.
  const bool judged = !transfer.by_proxy_;
  if (judged &&
      (!ip || !transfer.rules_.policy.Allows(*ip, IsOwnAddress(address->addr, address->addrlen)))) {
    transfer.denied_ = ip ? ip->Text() : "an address of an unknown kind";
    return CURL_SOCKET_BAD;
  }
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

Status HttpTransfer::OnDone(CURLcode code) {
  if (code == CURLE_OK) return {};
  const std::string why = failure_[0] == '\0' ? curl_easy_strerror(code) : failure_.data();
  if (code == CURLE_WRITE_ERROR && received_.body_bytes > kUnpackedBytesMax) return {};  // cut
  if (code == CURLE_BAD_CONTENT_ENCODING) {
    received_.unpacking_failed = why;
    received_.whole = false;
    return {};
  }
  if (!denied_.empty() && (code == CURLE_COULDNT_CONNECT || code == CURLE_ABORTED_BY_CALLBACK)) {
    return Refused(denied_);
  }
  return {code == CURLE_OPERATION_TIMEDOUT ? ErrorCode::kTimeout : ErrorCode::kUnavailable, why};
}

long HttpTransfer::StatusCode() const {
  long status = 0;
  curl_easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

const std::string* HttpTransfer::Received::Header(std::string_view name) const {
  for (const auto& [known, value] : headers) {
    if (known == name) return &value;
  }
  return nullptr;
}

std::string HttpTransfer::Figures() const {
  // libcurl does not know how long its addresses took.
  const double resolving = std::chrono::duration<double, std::milli>(resolving_).count();
  const auto milliseconds = [&](CURLINFO part) {
    curl_off_t us = 0;
    curl_easy_getinfo(handle_, part, &us);
    return us == 0 && part == CURLINFO_APPCONNECT_TIME_T
               ? 0.0
               : static_cast<double>(us) / 1000 + resolving;
  };
  return fmt::format(
      "{} bytes; name {:.1f} ms, connected {:.1f} ms, TLS {:.1f} ms, first byte {:.1f} ms, "
      "all {:.1f} ms",
      received_.body_bytes, milliseconds(CURLINFO_NAMELOOKUP_TIME_T),
      milliseconds(CURLINFO_CONNECT_TIME_T), milliseconds(CURLINFO_APPCONNECT_TIME_T),
      milliseconds(CURLINFO_STARTTRANSFER_TIME_T), milliseconds(CURLINFO_TOTAL_TIME_T));
}

}  // namespace carillon::executor
