#include "cli/jobs/http_flags.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace carillon::cli {
namespace {

using nlohmann::json;

Error Wrong(std::string why) { return {ErrorCode::kInvalid, std::move(why)}; }

Result<std::string> DataOf(const std::string& text) {
  if (!text.starts_with('@')) return text;
  const std::string path = text.substr(1);
  if (!std::filesystem::is_regular_file(path)) return Wrong("--data: there is no file " + path);
  std::ifstream file(path, std::ios::binary);
  std::string data(std::istreambuf_iterator<char>(file), {});
  if (!file) return Wrong("--data: cannot read " + path);
  return data;
}

Status AddHeader(const std::string& text, json& headers) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0) {
    return Wrong("--header: '" + text.substr(0, 64) + "' is not 'Name: value'");
  }
  const size_t begin = text.find_first_not_of(' ', colon + 1);
  headers[text.substr(0, colon)] = begin == std::string::npos ? "" : text.substr(begin);
  return {};
}

}  // namespace

bool HttpFlags::empty() const {
  return url.empty() && method.empty() && headers.empty() && data.empty() && statuses.empty() &&
         contains.empty() && follow.empty();
}

void AddHttpFlags(CLI::App* verb, HttpFlags& flags) {
  const auto repeated = [&](const char* name, std::vector<std::string>& into, const char* help) {
    verb->add_option(name, into, help)->allow_extra_args(false);
  };
  verb->add_option("--http", flags.url, "URL of the request of the job (type http)");
  verb->add_option(
      "--method", flags.method,
      "Method of the request: GET (default; POST with --data), HEAD, POST, PUT, PATCH, "
      "DELETE or OPTIONS");
  repeated("--header", flags.headers, "Header of the request, 'Name: value'; repeatable");
  verb->add_option("--data", flags.data, "Body of the request; @FILE reads it from a file");
  repeated("--expect-status", flags.statuses,
           "Status that counts as success: 2xx (default), 404, 200-204; repeatable");
  verb->add_option("--expect-text", flags.contains, "Text that the response must contain");
  verb->add_option("--follow", flags.follow, "Redirects to follow, 0 (default) to 5");
}

Status ApplyHttpFlags(const HttpFlags& flags, json& body) {
  if (flags.empty()) return {};
  if (!flags.url.empty()) body["type"] = "http";
  json& http = body["http"];
  if (!flags.url.empty()) http["url"] = flags.url;
  for (const std::string& header : flags.headers) CARILLON_TRY(AddHeader(header, http["headers"]));
  if (!flags.data.empty()) {
    CARILLON_ASSIGN_OR_RETURN(http["body"], DataOf(flags.data));
    if (!http.contains("method")) http["method"] = "POST";
  }
  if (!flags.method.empty()) http["method"] = flags.method;
  if (!flags.statuses.empty()) http["expect"]["status"] = flags.statuses;
  if (!flags.contains.empty()) http["expect"]["contains"] = flags.contains;
  if (!flags.follow.empty()) {
    int follow = 0;
    const char* end = flags.follow.data() + flags.follow.size();
    const auto [read, error] = std::from_chars(flags.follow.data(), end, follow);
    if (error != std::errc() || read != end) return Wrong("--follow must be a number from 0 to 5");
    http["follow"] = follow;
  }
  return {};
}

}  // namespace carillon::cli
