#include "executor/http/curl_url.h"

#include "common/base/check.h"

namespace carillon::executor {

CurlUrl MakeCurlUrl() {
  CurlUrl url(curl_url());
  CARILLON_CHECK(url != nullptr, "curl_url");
  return url;
}

std::string PartOf(const CurlUrl& url, CURLUPart part, unsigned flags) {
  char* text = nullptr;
  if (curl_url_get(url.get(), part, &text, flags) != CURLUE_OK) return {};
  std::string copy(text);
  curl_free(text);
  return copy;
}

}  // namespace carillon::executor
