#include "common/adapters/http/curl_transport.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/core.h>

#include "common/adapters/http/curl_handles.h"
#include "common/adapters/http/http_client.h"

namespace carillon {
namespace {

constexpr size_t kAnswerBytesMax = 1u << 20;  // limit of the response, which is not used

// The unsent rest of the message.
struct Upload {
  const std::string& message;
  size_t sent = 0;
};

size_t OnRead(char* buffer, size_t size, size_t count, void* user) {
  auto& upload = *static_cast<Upload*>(user);
  const size_t bytes = std::min(size * count, upload.message.size() - upload.sent);
  upload.message.copy(buffer, bytes, upload.sent);
  upload.sent += bytes;
  return bytes;
}

CurlList MakeRecipients(const std::vector<std::string>& to) {
  CurlList list;
  for (const std::string& one : to) {
    curl_slist* longer = curl_slist_append(list.get(), ("<" + one + ">").c_str());
    CARILLON_CHECK(longer != nullptr, "curl_slist_append");
    static_cast<void>(list.release());
    list.reset(longer);
  }
  return list;
}

void SetTls(CURL* handle, MailTls tls, const std::string& ca_file) {
  curl_easy_setopt(handle, CURLOPT_USE_SSL,
                   static_cast<long>(tls == MailTls::kOff ? CURLUSESSL_NONE : CURLUSESSL_ALL));
  curl_easy_setopt(handle, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, 2L);
  if (ca_file.empty()) return;
  curl_easy_setopt(handle, CURLOPT_CAINFO, ca_file.c_str());
  curl_easy_setopt(handle, CURLOPT_CAPATH, nullptr);  // trusts no other CAs
}

void SetProxy(CURL* handle, const std::string& proxy, const std::string& ca_file) {
  curl_easy_setopt(handle, CURLOPT_PROXY, proxy.c_str());  // "": none, not even the environment's
  curl_easy_setopt(handle, CURLOPT_NOPROXY, "localhost,127.0.0.0/8,::1");
  curl_easy_setopt(handle, CURLOPT_HTTPPROXYTUNNEL, 1L);
  if (ca_file.empty()) return;
  curl_easy_setopt(handle, CURLOPT_PROXY_CAINFO, ca_file.c_str());
  curl_easy_setopt(handle, CURLOPT_PROXY_CAPATH, nullptr);
}

// True if the proxy refused to connect: its answer is none of the mail server.
bool ProxyRefused(CURL* handle) {
  long answer = 0;
  curl_easy_getinfo(handle, CURLINFO_HTTP_CONNECTCODE, &answer);
  return answer >= 300;
}

}  // namespace

Result<int> CurlTransport::Post(const NoticePost& post) {
  HttpClient client({.connect_timeout = kNoticeTimeMax / 2,
                     .total_timeout = kNoticeTimeMax,
                     .response_bytes_max = kAnswerBytesMax,
                     .ca_file = ca_file_,
                     .proxy = proxies_.webhooks,
                     .stopped = &stopped_});
  HttpClientRequest request{.method = "POST", .url = post.url, .body = post.body};
  for (const auto& [name, value] : post.headers) request.headers.emplace_back(name, value);
  CARILLON_ASSIGN_OR_RETURN(const HttpResponse response, client.Send(request));
  return response.status;
}

Result<int> CurlTransport::Mail(const NoticeMail& mail) {
  const HttpClient initialised;  // initialises libcurl for the process
  const CurlHandle owned(curl_easy_init());
  CARILLON_CHECK(owned != nullptr, "curl_easy_init");
  CURL* handle = owned.get();
  std::array<char, CURL_ERROR_SIZE> reason{};
  const std::string url = (mail.tls == MailTls::kTls ? "smtps://" : "smtp://") + mail.server;
  const CurlList recipients = MakeRecipients(mail.to);
  const std::string from = "<" + mail.from + ">";
  Upload upload{mail.message};
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, reason.data());
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  SetProxy(handle, proxies_.mails, ca_file_);
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  SetTls(handle, mail.tls, ca_file_);
  if (!mail.user.empty()) {
    curl_easy_setopt(handle, CURLOPT_USERNAME, mail.user.c_str());
    curl_easy_setopt(handle, CURLOPT_PASSWORD, mail.password.c_str());
  }
  curl_easy_setopt(handle, CURLOPT_MAIL_FROM, from.c_str());
  curl_easy_setopt(handle, CURLOPT_MAIL_RCPT, recipients.get());
  // A rejected recipient must not prevent delivery to the others.
  curl_easy_setopt(handle, CURLOPT_MAIL_RCPT_ALLLOWFAILS, 1L);
  curl_easy_setopt(handle, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(handle, CURLOPT_READFUNCTION, &OnRead);
  curl_easy_setopt(handle, CURLOPT_READDATA, &upload);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, CurlMilliseconds(kNoticeTimeMax / 2));
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, CurlMilliseconds(kNoticeTimeMax));
  SetStop(handle, &stopped_);
  const CURLcode code = curl_easy_perform(handle);
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  if (code == CURLE_OK) return static_cast<int>(status);
  // The server rejected the mail. But a TLS failure is no rejection, whatever the last status was.
  const bool rejected = status >= 400 && code != CURLE_PEER_FAILED_VERIFICATION;
  if (rejected && !ProxyRefused(handle)) return static_cast<int>(status);
  const std::string why = reason[0] == '\0' ? curl_easy_strerror(code) : reason.data();
  return Error{code == CURLE_URL_MALFORMAT ? ErrorCode::kInvalid : ErrorCode::kUnavailable,
               fmt::format("mail to {}: {}", mail.server, why)};
}

}  // namespace carillon
