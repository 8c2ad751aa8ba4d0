#include "cli/jobs/flags/http_flags.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/jobs/flags/flag_values.h"

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

bool Polls(const HttpFlags& flags) {
  return !flags.poll.empty() || !flags.poll_url.empty() || !flags.poll_url_at.empty() ||
         !flags.poll_until.empty();
}

Result<int64_t> NumberOf(const char* flag, const std::string& text, int least, int most) {
  const auto number = WholeNumberIn(text);
  if (number && *number >= least && *number <= most) return *number;
  return Wrong(std::string(flag) + " must be a number from " + std::to_string(least) + " to " +
               std::to_string(most));
}

// A value that is JSON is read as such; else it is a text.
Status AddUntil(const std::string& text, json& until) {
  const size_t equals = text.find('=');
  if (!text.starts_with('/') || equals == std::string::npos) {
    return Wrong("--poll-until: '" + text.substr(0, 64) + "' is not '/pointer=value'");
  }
  const std::string value = text.substr(equals + 1);
  json read = json::parse(value, nullptr, false);
  if (read.is_discarded() || read.is_structured()) read = value;
  until[text.substr(0, equals)].push_back(std::move(read));
  return {};
}

Status ApplyPoll(const HttpFlags& flags, json& http) {
  if (!Polls(flags)) return {};
  json& poll = http["poll"];
  if (!poll.is_object()) poll = json::object();
  if (!flags.poll.empty()) {
    CARILLON_ASSIGN_OR_RETURN(poll["interval"], NumberOf("--poll", flags.poll, 1, 3600));
  }
  if (!flags.poll_url.empty()) poll["url"] = flags.poll_url;
  if (!flags.poll_url_at.empty()) poll["url_at"] = flags.poll_url_at;
  for (const std::string& until : flags.poll_until) CARILLON_TRY(AddUntil(until, poll["until"]));
  return {};
}

}  // namespace

bool HttpFlags::empty() const {
  return url.empty() && method.empty() && headers.empty() && data.empty() && statuses.empty() &&
         contains.empty() && follow.empty() && client_certificate.empty() && !Polls(*this);
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
  verb->add_option("--client-certificate", flags.client_certificate,
                   "PEM of the certificate and key that are shown to the server: "
                   "'{{secrets.NAME}}'");
  verb->add_option("--poll", flags.poll,
                   "Asks every so many seconds whether work that the server accepts with 202 is "
                   "over");
  verb->add_option("--poll-url", flags.poll_url,
                   "URL of its status; default: the Location of the response");
  verb->add_option("--poll-url-at", flags.poll_url_at,
                   "JSON pointer of that URL, or of its end, in the response");
  repeated("--poll-until", flags.poll_until,
           "Value that says that it is over, '/state=done'; repeatable");
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
    CARILLON_ASSIGN_OR_RETURN(http["follow"], NumberOf("--follow", flags.follow, 0, 5));
  }
  if (!flags.client_certificate.empty()) http["client_certificate"] = flags.client_certificate;
  return ApplyPoll(flags, http);
}

}  // namespace carillon::cli
