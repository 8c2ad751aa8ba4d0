// One call of the command line: its global flags, its connection to the server, its exit code.
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

  // Runs `action` if the user has chosen the command `verb`.
  void On(CLI::App* verb, std::function<Outcome<ExitCode>()> action);

  Outcome<ApiClient*> Client();
  Outcome<ApiResponse> Call(const ApiRequest& request);
  Printer Print() const;
  // Writes to standard error. With --quiet writes nothing.
  void Say(const std::string& sentence);

  // Reports that a command failed for one of several objects. The command continues.
  void Complain(const Failure& failure);

  // Asks the question on a terminal. With --yes returns true without asking. A Failure if there is
  // no terminal.
  Outcome<bool> Confirm(const std::string& question);

  // Prints the items that `request` lists: all of them, or the first `limit`. If no limit is given,
  // a table ends after kTableRows, with a note on standard error. Other forms are complete.
  struct Listing {
    const View& view;
    std::optional<int64_t> limit = {};  // 0 = all
    // Add fields for tables only: to one item, and to all items of a page.
    std::function<void(nlohmann::json& item)> for_table = {};
    std::function<void(nlohmann::json& items)> for_table_page = {};
  };
  Outcome<ExitCode> List(const ApiRequest& request, const Listing& listing);

  // Calls `take` with each page until `limit` items were read (0 = all). Returns the page token of
  // the next page; null if there is none.
  Outcome<nlohmann::json> ReadPages(ApiRequest request, size_t limit,
                                    const std::function<void(nlohmann::json page)>& take);

  static constexpr size_t kTableRows = 50;
  static constexpr int64_t kLimitMax = 1'000'000;  // items

 private:
  Outcome<bool> UseSession(ApiClient& client);
  size_t LimitOf(const Listing& listing) const;
  void Report(const Failure& failure);  // also sets the exit code

  Host& host_;
  GlobalFlags flags_;
  Form form_ = Form::kTable;
  std::unique_ptr<ApiClient> client_;
  ExitCode exit_ = ExitCode::kDone;
};

// Returns the local time zone as cron determines it: the variable TZ, or else the link
// /etc/localtime; UTC if neither names a zone.
std::string LocalZone(const Host& host);

// Converts "failed" to "FAILED". Users may type names of states in lower case, but the API has them
// in upper case.
std::string UpperCase(std::string text);

// Adds the flag --limit. `what` is the word for the items in the flag's help.
void AddLimit(CLI::App* verb, std::optional<int64_t>& limit, const std::string& what);

Failure UsageFailure(std::string message);

// Reads the file `name`; "-" means standard input. More than kJsonBytesMax bytes are an error.
Outcome<std::string> ReadInput(Host& host, const std::string& name);
// Parses a whole number with the unit ms, s, m, h or d. Without a unit the number is in seconds.
Result<Duration> ParseDuration(std::string_view text);
// Parses an RFC 3339 time, or a duration before now ("24h").
Result<WallTime> ParseWhen(std::string_view text, WallTime now);
// Parses `text` as a time and adds it as parameter `name` of a request. An empty `text`
// adds nothing.
Status AddTime(const char* name, const std::string& text, WallTime now, Parameters& query);
// Adds a parameter for each label. A label is written "name:value" or "name=value".
Status AddLabels(const std::vector<std::string>& labels, Parameters& query);
// Parses pairs "name=value". kInvalid if a pair has no "=" or an empty name.
Result<std::map<std::string, std::string>> ParsePairs(const std::vector<std::string>& pairs);

// A validator that rejects an empty text. `--flag "$UNSET"` is probably a mistake: without this
// check the command would run as if the flag were absent.
std::string NotEmpty(const std::string& text);

}  // namespace carillon::cli
