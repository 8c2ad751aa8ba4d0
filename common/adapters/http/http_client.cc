#include "common/adapters/http/http_client.h"

#include <curl/curl.h>

#include <array>
#include <mutex>

#include <fmt/core.h>

#include "common/adapters/http/curl_handles.h"
#include "common/adapters/http/http_target.h"
#include "common/base/lower_case.h"

namespace carillon {
namespace {

// The data that one transfer collects.
struct Transfer {
  HttpResponse response;
  size_t bytes_max = 0;
  bool too_long = false;
};

size_t OnBody(char* data, size_t size, size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const size_t bytes = size * count;
  if (transfer.response.body.size() + bytes > transfer.bytes_max) {
    transfer.too_long = true;
    return 0;
  }
  transfer.response.body.append(data, bytes);
  return bytes;
}

size_t OnHeader(char* data, size_t size, size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  std::string_view line(data, size * count);
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {
    transfer.response.headers.clear();  // drops the headers of an interim response (100)
    return size * count;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size * count;
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  transfer.response.headers.emplace_back(LowerCase(line.substr(0, colon)), value);
  return size * count;
}

// libcurl calls this at each step, and about once a second while idle. 1 aborts the transfer.
int OnProgress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const std::atomic<bool>*>(user)->load() ? 1 : 0;
}

ErrorCode CodeOf(CURLcode code, bool connected) {
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_SSL_CACERT_BADFILE: return ErrorCode::kInvalid;
    default: return connected ? ErrorCode::kTimeout : ErrorCode::kUnavailable;
  }
}

}  // namespace

void SetStop(CURL* handle, const std::atomic<bool>* stopped) {
  if (stopped == nullptr) return;
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, &OnProgress);
  curl_easy_setopt(handle, CURLOPT_XFERINFODATA, stopped);
  curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
}

class HttpClient::Impl {
 public:
  explicit Impl(const HttpClientOptions& options) : options_(options) {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    handle_.reset(curl_easy_init());
    CARILLON_CHECK(handle_ != nullptr, "curl_easy_init");
  }

  Result<HttpResponse> Send(const HttpClientRequest& request) {
    CARILLON_ASSIGN_OR_RETURN(auto headers, MakeHeaders(request));
    Transfer transfer{.response = {}, .bytes_max = options_.response_bytes_max};
    CURL* handle = handle_.get();
    curl_easy_reset(handle);
    SetLimits(handle);
    reason_[0] = '\0';
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, reason_.data());
    curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
    SetMethod(handle, request);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &OnBody);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &OnHeader);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, &transfer);
    const CURLcode code = curl_easy_perform(handle);
    if (transfer.too_long) {
      return Error{ErrorCode::kExhausted, fmt::format("{}: the answer is longer than {} bytes",
                                                      request.url, options_.response_bytes_max)};
    }
    if (code != CURLE_OK) return Failure(request, code);
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    transfer.response.status = static_cast<int>(status);
    return std::move(transfer.response);
  }

 private:
  Result<CurlList> MakeHeaders(const HttpClientRequest& request) const {
    // No "Expect: 100-continue": the server reads bodies up to its limit anyway.
    CurlList list(curl_slist_append(nullptr, "Expect:"));
    for (const auto& [name, value] : request.headers) {
      if (HasControl(name) || HasControl(value)) {
        return Error{ErrorCode::kInvalid, "header " + LowerCase(name) + ": a control character"};
      }
      // "Name;" makes libcurl send a header without a value.
      const std::string line = value.empty() ? name + ";" : fmt::format("{}: {}", name, value);
      curl_slist* longer = curl_slist_append(list.get(), line.c_str());
      CARILLON_CHECK(longer != nullptr, "curl_slist_append");
      static_cast<void>(list.release());
      list.reset(longer);
    }
    return list;
  }

  void SetLimits(CURL* handle) const {
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(handle, CURLOPT_PROXY, options_.proxy.c_str());
    curl_easy_setopt(handle, CURLOPT_NOPROXY, "localhost,127.0.0.0/8,::1");
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    curl_easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, 2L);
    if (!options_.ca_file.empty()) {
      curl_easy_setopt(handle, CURLOPT_CAINFO, options_.ca_file.c_str());
      curl_easy_setopt(handle, CURLOPT_CAPATH, nullptr);  // trusts no other CAs
      curl_easy_setopt(handle, CURLOPT_PROXY_CAINFO, options_.ca_file.c_str());
      curl_easy_setopt(handle, CURLOPT_PROXY_CAPATH, nullptr);
    }
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, CurlMilliseconds(options_.connect_timeout));
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, CurlMilliseconds(options_.total_timeout));
    SetStop(handle, options_.stopped);
  }

  static void SetMethod(CURL* handle, const HttpClientRequest& request) {
    const bool usual_body =
        request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
    if (usual_body || !request.body.empty()) {
      curl_easy_setopt(handle, CURLOPT_POST, 1L);
      curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request.body.data());
      curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(request.body.size()));
    }
    if (request.method == "HEAD") curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }

  Error Failure(const HttpClientRequest& request, CURLcode code) const {
    curl_off_t connected_us = 0;
    curl_easy_getinfo(handle_.get(), CURLINFO_PRETRANSFER_TIME_T, &connected_us);
    const ErrorCode ours = CodeOf(code, connected_us > 0);
    const std::string why = reason_[0] == '\0' ? curl_easy_strerror(code) : reason_.data();
    const char* what =
        code == CURLE_PEER_FAILED_VERIFICATION ? "the server's certificate is not trusted: " : "";
    return {ours, fmt::format("{} {}: {}{}", request.method, request.url, what, why)};
  }

  const HttpClientOptions options_;
  std::array<char, CURL_ERROR_SIZE> reason_{};  // the last failure; written by libcurl
  CurlHandle handle_;
};

HttpClient::HttpClient(const HttpClientOptions& options) : impl_(std::make_unique<Impl>(options)) {}
HttpClient::~HttpClient() = default;

Result<HttpResponse> HttpClient::Send(const HttpClientRequest& request) {
  return impl_->Send(request);
}

}  // namespace carillon
