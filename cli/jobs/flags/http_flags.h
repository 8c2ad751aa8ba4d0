// The flags that describe the request of an http job.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace CLI {
class App;
}

namespace carillon::cli {

struct HttpFlags {
  std::string url;
  std::string method;
  std::vector<std::string> headers;  // "Name: value"
  std::string data;                  // or "@FILE"
  std::vector<std::string> statuses;
  std::string contains;
  std::string follow;
  std::string client_certificate;
  std::string poll;  // seconds
  std::string poll_url;
  std::string poll_url_at;
  std::vector<std::string> poll_until;  // "/pointer=value"

  bool empty() const;
};

void AddHttpFlags(CLI::App* verb, HttpFlags& flags);
// Applies the flags to `body["http"]`. A part of the request that no flag names stays as it is.
Status ApplyHttpFlags(const HttpFlags& flags, nlohmann::json& body);

}  // namespace carillon::cli
