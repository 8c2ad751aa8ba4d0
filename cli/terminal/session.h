// One invocation of the command line: global flags, connection, exit code.
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

// Flags that every command accepts.
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

  // Runs `action` if `verb` was chosen.
  void On(CLI::App* verb, std::function<Outcome<ExitCode>()> action);

  Outcome<ApiClient*> Client();
  Outcome<ApiResponse> Call(const ApiRequest& request);
  Printer Print() const;
  // Writes to standard error, unless --quiet.
  void Say(const std::string& sentence);

  // Reports a failure with one of several objects; the command continues.
  void Complain(const Failure& failure);

  // Asks on a terminal. Without a terminal, a Failure unless --yes was given.
  Outcome<bool> Confirm(const std::string& question);

  // Prints the list behind `request`: all of it, or its first `limit` items. Without a limit a
  // table ends after kTableRows, with a note on standard error; other forms are complete.
  struct Listing {
    const View& view;
    std::optional<int64_t> limit = {};                         // 0 = all
    std::function<void(nlohmann::json& item)> for_table = {};  // adds members for tables only
  };
  Outcome<ExitCode> List(const ApiRequest& request, const Listing& listing);

  // Calls `take` with each page until `limit` items (0 = all) were read; returns the page token of
  // the rest.
  Outcome<nlohmann::json> ReadPages(ApiRequest request, size_t limit,
                                    const std::function<void(nlohmann::json page)>& take);

  static constexpr size_t kTableRows = 50;
  static constexpr int64_t kLimitMax = 1'000'000;  // items

 private:
  Outcome<bool> UseSession(ApiClient& client);
  size_t LimitOf(const Listing& listing) const;
  void Report(const Failure& failure);  // and sets the exit code

  Host& host_;
  GlobalFlags flags_;
  Form form_ = Form::kTable;
  std::unique_ptr<ApiClient> client_;
  ExitCode exit_ = ExitCode::kDone;
};

// The local time zone, determined as cron does: TZ, else the target of /etc/localtime.
std::string LocalZone(const Host& host);

// "failed" as "FAILED": names of states are upper case, input is case-insensitive.
std::string UpperCase(std::string text);

// Adds --limit; `what` names the items in the help.
void AddLimit(CLI::App* verb, std::optional<int64_t>& limit, const std::string& what);

Failure UsageFailure(std::string message);

// Reads the file with that name, "-" for standard input. Limited to kJsonBytesMax.
Outcome<std::string> ReadInput(Host& host, const std::string& name);
// A whole number with unit ms, s, m, h or d; without a unit it is in seconds.
Result<Duration> ParseDuration(std::string_view text);
// RFC 3339, or a duration before now ("24h").
Result<WallTime> ParseWhen(std::string_view text, WallTime now);
// Adds the time as parameter `name` of a request, unless `text` is empty.
Status AddTime(const char* name, const std::string& text, WallTime now, Parameters& query);
// Adds each label, "name:value" or "name=value", as a parameter of a filtered list.
Status AddLabels(const std::vector<std::string>& labels, Parameters& query);
// "name=value" pairs; kInvalid for text without "=" or an empty name.
Result<std::map<std::string, std::string>> ParsePairs(const std::vector<std::string>& pairs);

// Validator that rejects an empty text. `--flag "$UNSET"` is probably a mistake and must not act as
// if the flag were absent.
std::string NotEmpty(const std::string& text);

}  // namespace carillon::cli
