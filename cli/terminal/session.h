// One run of the command line: the global flags, the connection, how it ends.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/client/outcome.h"
#include "cli/terminal/host.h"
#include "cli/terminal/output.h"

namespace carillon::cli {

struct GlobalFlags {
  TargetFlags target;
  std::string output = "table";
  std::string time = "utc";
  bool quiet = false;
  bool yes = false;
};

class Session {
 public:
  explicit Session(Host& host) : host_(host) {}

  GlobalFlags& flags() { return flags_; }
  Host& host() { return host_; }
  ExitCode exit() const { return exit_; }

  // Makes `verb` run `action` when it was chosen.
  void On(CLI::App* verb, std::function<Outcome<ExitCode>()> action);

  Outcome<ApiClient*> Client();
  Outcome<ApiResponse> Call(const ApiRequest& request);
  Printer Print() const;
  // To standard error, unless --quiet.
  void Say(const std::string& sentence);

  // What went wrong with one of several things; the command goes on.
  void Complain(const Failure& failure);

  // Asks on a terminal; elsewhere a Failure unless --yes.
  Outcome<bool> Confirm(const std::string& question);

  // Prints the list behind `request`: all of it or its first `limit` items. Without a limit a table
  // ends after kTableRows, and says so on standard error; the other forms are complete.
  struct Listing {
    const View& view;
    std::optional<int64_t> limit = {};                         // 0 = all
    std::function<void(nlohmann::json& item)> for_table = {};  // adds what only a table shows
  };
  Outcome<ExitCode> List(const ApiRequest& request, const Listing& listing);

  // Calls `take` with each page until `limit` items (0 = all) were seen; the token of the rest.
  Outcome<nlohmann::json> ReadPages(ApiRequest request, size_t limit,
                                    const std::function<void(nlohmann::json page)>& take);

  static constexpr size_t kTableRows = 50;
  static constexpr int64_t kLimitMax = 1'000'000;  // items

 private:
  Outcome<bool> UseSession(ApiClient& client);
  size_t LimitOf(const Listing& listing) const;
  void Report(const Failure& failure);  // and end so

  Host& host_;
  GlobalFlags flags_;
  Form form_ = Form::kTable;
  std::unique_ptr<ApiClient> client_;
  ExitCode exit_ = ExitCode::kDone;
};

// The zone that this machine uses, as cron does: TZ, else what /etc/localtime leads to.
std::string LocalZone(const Host& host);

// "failed" as "FAILED": the names of states are capitals, people type them as they like.
std::string UpperCase(std::string text);

// Adds --limit; `what` is listed.
void AddLimit(CLI::App* verb, std::optional<int64_t>& limit, const std::string& what);

Failure UsageFailure(std::string message);

// `text` as a file's name, "-" for standard input. Bounded by kJsonBytesMax.
Outcome<std::string> ReadInput(Host& host, const std::string& name);
// A whole number with ms, s, m, h or d behind it; without a unit it is seconds.
Result<Duration> ParseDuration(std::string_view text);
// RFC 3339, or a duration before now ("24h").
Result<WallTime> ParseWhen(std::string_view text, WallTime now);
// As the parameter `name` of a request, unless `text` is empty.
Status AddTime(const char* name, const std::string& text, WallTime now, Parameters& query);
// Each of `labels`, "name:value" or "name=value", as a parameter of a list that labels filter.
Status AddLabels(const std::vector<std::string>& labels, Parameters& query);
// "name=value" pairs; kInvalid for text without "=" or an empty name.
Result<std::map<std::string, std::string>> ParsePairs(const std::vector<std::string>& pairs);

// Validator: an empty text, as from a variable that is not set, is not the same as no flag.
std::string NotEmpty(const std::string& text);

}  // namespace carillon::cli
