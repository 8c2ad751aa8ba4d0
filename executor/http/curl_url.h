// URLs by the rules of libcurl, so that what is judged here is what libcurl sends.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>

namespace carillon::executor {

struct CurlUrlDeleter {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using CurlUrl = std::unique_ptr<CURLU, CurlUrlDeleter>;

CurlUrl MakeCurlUrl();
// Returns "" for a part that the URL does not have.
std::string PartOf(const CurlUrl& url, CURLUPart part, unsigned flags = 0);

}  // namespace carillon::executor
