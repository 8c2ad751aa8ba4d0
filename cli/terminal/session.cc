#include "cli/terminal/session.h"

#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <istream>
#include <ostream>

#include "cli/client/sign_in.h"
#include "common/domain/schedule/zone.h"
#include "common/wire/json/json_text.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr size_t kPageSizeMax = 500;
constexpr int kRefusalsMax = 60;  // repetitions after too_many_requests, one per second

std::string Bounded(std::istream& in) {
  std::string text(kJsonBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  return text;
}

// Returns a hint for users of the command line. The server's message does not have it, because it
// is for any client.
std::string_view HintOf(std::string_view code) {
  if (code == "unauthenticated") {
    return "Sign in with `carillon login`, or pass a token with --token-file.";
  }
  if (code == "has_dependents") {
    return "Delete it anyway with `carillon job delete --force`.";
  }
  if (code == "user_needed") return "Sign in with `carillon login`.";
  if (code == "stale_version") {
    return "Someone else has changed it in the meantime. Check the current version and try again.";
  }
  return {};
}

// Returns a hint if an object was not found: the command that lists the existing ids. The requested
// path shows the kind of the object.
std::string ListHintOf(const Failure& failure) {
  struct List {
    std::string_view path;
    std::string_view command;
  };
  constexpr std::array kLists = {
      List{"/api/jobs/", "job list"},           List{"/api/runs/", "run list"},
      List{"/api/executors/", "executor list"}, List{"/api/secrets/", "secret list"},
      List{"/api/users/", "user list"},         List{"/api/tokens/", "token list"},
      List{"/api/bulk/", "bulk list"},          List{"/api/dead-letters/", "dead-letter list"},
      List{"/api/deliveries/", "delivery list"}};
  if (failure.exit != ExitCode::kNotFound) return {};
  if (failure.instance.find("/versions/") != std::string::npos) {
    return "See `carillon job versions JOB`.";
  }
  for (const List& list : kLists) {
    if (!failure.instance.starts_with(list.path)) continue;
    return "See `carillon " + std::string(list.command) + "`.";
  }
  return {};
}

}  // namespace

Failure UsageFailure(std::string message) {
  return {.exit = ExitCode::kUsage, .message = std::move(message), .code = "usage"};
}

void Session::On(CLI::App* verb, std::function<Outcome<ExitCode>()> action) {
  verb->callback([this, action = std::move(action)] {
    const auto form = ParseForm(flags_.output);
    if (!form.ok()) return Report(UsageFailure(form.error().message));
    form_ = *form;
    const auto outcome = action();
    if (!outcome.ok()) return Report(outcome.error());
    exit_ = *outcome;
  });
}

void Session::Report(const Failure& failure) {
  exit_ = failure.exit;
  Complain(failure);
  std::string hint(HintOf(failure.code));
  if (hint.empty()) hint = ListHintOf(failure);
  if (!hint.empty()) host_.err << "  " << hint << "\n";
}

void Session::Complain(const Failure& failure) {
  host_.err << "carillon: " << failure.message;
  if (!failure.code.empty()) host_.err << " (" << failure.code << ")";
  host_.err << "\n";
  for (const std::string& detail : failure.details) host_.err << "  " << detail << "\n";
  if (!failure.trace_id.empty()) host_.err << "  trace " << failure.trace_id << "\n";
}

Outcome<ApiClient*> Session::Client() {
  if (client_ == nullptr) {
    CARILLON_ASSIGN_OR_RETURN(Target target, FindTarget(flags_.target, host_.environment));
    const bool named = !target.token.empty() && !target.token_found;
    auto transport = host_.transport(target.ca_file);
    auto client = std::make_unique<ApiClient>(std::move(target), std::move(transport), host_.seed);
    if (!named) CARILLON_TRY(UseSession(*client));
    client_ = std::move(client);
  }
  return client_.get();
}

// Uses the session of `carillon login`, if there is one. A session is preferred to a token that was
// found in the default data directory, but not to a token that the user named.
Outcome<bool> Session::UseSession(ApiClient& client) {
  if (!SessionFile::Exists(host_.environment)) return false;
  CARILLON_ASSIGN_OR_RETURN(SessionFile file, SessionFile::Open(host_.environment));
  CARILLON_ASSIGN_OR_RETURN(const auto token, AccessToken(client, file, host_.clock.Wall()));
  if (token) client.SetToken(*token);
  return token.has_value();
}

Outcome<ApiResponse> Session::Call(const ApiRequest& request) {
  CARILLON_ASSIGN_OR_RETURN(ApiClient * client, Client());
  for (int waited = 0;; ++waited) {
    auto response = client->Call(request);
    // The server refuses the request before it has any effect. So even a write may be sent again.
    const bool refused = !response.ok() && response.error().code == "too_many_requests";
    if (!refused || waited == kRefusalsMax) return response;
    host_.wait(1s);
  }
}

Printer Session::Print() const {
  const auto no_color = host_.environment.find("NO_COLOR");
  const bool wanted = no_color == host_.environment.end() || no_color->second.empty();
  const PrinterOptions options{.form = form_,
                               .quiet = flags_.quiet,
                               .color = host_.out_is_tty && wanted,
                               .wide = flags_.output == "wide"};
  TimeText time_text;
  if (flags_.time == "relative") {
    time_text = [now = host_.clock.Wall()](WallTime time) { return RelativeTime(time, now); };
  } else if (flags_.time == "local") {
    const auto zone = Zone::Load(LocalZone(host_));
    if (zone.ok()) time_text = [zone = *zone](WallTime t) { return ZonedTime(t, *zone); };
  }
  return {host_.out, options, std::move(time_text)};
}

void Session::Say(const std::string& sentence) {
  if (!flags_.quiet) host_.err << sentence << "\n";
}

Outcome<bool> Session::Confirm(const std::string& question) {
  if (flags_.yes) return true;
  if (!host_.in_is_tty)
    return UsageFailure(question + " There is no terminal to confirm on; use --yes.");
  host_.err << question << " [y/N] " << std::flush;
  std::string answer;
  std::getline(host_.in, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

Outcome<json> Session::ReadPages(ApiRequest request, size_t limit,
                                 const std::function<void(json page)>& take) {
  const Parameters filter = request.query;
  std::string token;
  size_t count = 0;
  do {
    const size_t left = limit == 0 ? kPageSizeMax : limit - count;
    request.query = filter;
    request.query.emplace_back("page_size", std::to_string(std::min(left, kPageSizeMax)));
    if (!token.empty()) request.query.emplace_back("page_token", token);
    CARILLON_ASSIGN_OR_RETURN(ApiResponse page, Call(request));
    if (!page.body.is_object() || !page.body.contains("items") || !page.body["items"].is_array()) {
      return Failure{.message = "unexpected answer from the server: not a list",
                     .code = "bad_answer"};
    }
    const json next = page.body.value("next_page_token", json(nullptr));
    token = next.is_string() ? next.get<std::string>() : std::string();
    count += page.body["items"].size();
    take(std::move(page.body));
  } while (!token.empty() && (limit == 0 || count < limit));
  return token.empty() ? json(nullptr) : json(token);
}

size_t Session::LimitOf(const Listing& listing) const {
  if (listing.limit) return static_cast<size_t>(*listing.limit);
  return form_ == Form::kTable && !flags_.quiet ? kTableRows : 0;
}

Outcome<ExitCode> Session::List(const ApiRequest& request, const Listing& listing) {
  const bool table = form_ == Form::kTable && !flags_.quiet;
  const bool whole = table || (!flags_.quiet && (form_ == Form::kJson || form_ == Form::kYaml));
  Printer print = Print();
  json merged = {{"items", json::array()}, {"next_page_token", nullptr}};
  CARILLON_ASSIGN_OR_RETURN(merged["next_page_token"],
                            ReadPages(request, LimitOf(listing), [&](json page) {
                              // Forms with a line per item are printed page by page. Other forms
                              // need all items.
                              if (!whole) return print.List(page, listing.view);
                              for (const char* count : {"total", "total_at_least"}) {
                                if (page.contains(count)) merged[count] = page[count];
                              }
                              if (table && listing.for_table_page) {
                                listing.for_table_page(page["items"]);
                              }
                              for (json& item : page["items"]) {
                                if (table && listing.for_table) listing.for_table(item);
                                merged["items"].push_back(std::move(item));
                              }
                            }));
  if (whole) print.List(merged, listing.view);
  if (table && !merged["next_page_token"].is_null()) {
    Say("Showing the first " + std::to_string(merged["items"].size()) +
        ". Use --limit N for more, or --limit 0 for all.");
  }
  return ExitCode::kDone;
}

std::string LocalZone(const Host& host) {
  constexpr std::string_view kDirectory = "zoneinfo/";
  const auto variable = host.environment.find("TZ");
  if (variable != host.environment.end() && Zone::Load(variable->second).ok()) {
    return variable->second;
  }
  std::error_code error;
  const std::string target = std::filesystem::read_symlink("/etc/localtime", error).string();
  const size_t at = target.find(kDirectory);
  if (error || at == std::string::npos) return "UTC";
  const std::string name = target.substr(at + kDirectory.size());
  return Zone::Load(name).ok() ? name : "UTC";
}

std::string UpperCase(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

void AddLimit(CLI::App* verb, std::optional<int64_t>& limit, const std::string& what) {
  verb->add_option("--limit", limit,
                   "Maximum number of " + what + ", 0 = all (default: " +
                       std::to_string(Session::kTableRows) + " in tables, all in other formats)")
      ->check(CLI::Range(int64_t{0}, Session::kLimitMax));
}

Outcome<std::string> ReadInput(Host& host, const std::string& name) {
  std::string text;
  if (name == "-") {
    text = Bounded(host.in);
  } else {
    std::error_code unknown;
    if (std::filesystem::is_directory(name, unknown)) return UsageFailure(name + " is a directory");
    std::ifstream in(name, std::ios::binary);
    if (!in) return UsageFailure("cannot read " + name);
    text = Bounded(in);
    if (in.bad()) return UsageFailure("cannot read " + name);
  }
  if (text.size() > kJsonBytesMax) return UsageFailure(name + " is larger than 1 MiB");
  return text;
}

Result<Duration> ParseDuration(std::string_view text) {
  constexpr int64_t kDaysMax = 36'500;
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit(at, static_cast<size_t>(end - at));
  int64_t us = 0;
  if (unit == "ms") us = 1'000;
  if (unit == "s" || unit.empty()) us = 1'000'000;
  if (unit == "m" || unit == "min") us = 60'000'000;
  if (unit == "h") us = 3'600'000'000;
  if (unit == "d") us = 86'400'000'000;
  const bool fits = us > 0 && number >= 0 && number <= kDaysMax * 86'400'000'000 / us;
  if (text.empty() || error != std::errc() || !fits) {
    return {ErrorCode::kInvalid,
            "invalid duration '" + std::string(text) + "' (use e.g. 500ms, 90s, 15m, 2h or 1d)"};
  }
  return Duration(number * us);
}

Result<WallTime> ParseWhen(std::string_view text, WallTime now) {
  auto time = ParseRfc3339(text);
  if (time.ok()) return time;
  const auto ago = ParseDuration(text);
  if (ago.ok()) return std::max(FromUnixMicros(0), now - *ago);
  return {ErrorCode::kInvalid, "invalid time '" + std::string(text) +
                                   "' (use e.g. 2026-03-01T02:00:00Z, or 24h for 24 hours ago)"};
}

Status AddTime(const char* name, const std::string& text, WallTime now, Parameters& query) {
  if (text.empty()) return {};
  CARILLON_ASSIGN_OR_RETURN(const WallTime time, ParseWhen(text, now));
  query.emplace_back(name, FormatRfc3339(time));
  return {};
}

Status AddLabels(const std::vector<std::string>& labels, Parameters& query) {
  for (const std::string& label : labels) {
    const size_t middle = label.find_first_of(":=");
    if (middle == std::string::npos || middle == 0) {
      return {ErrorCode::kInvalid, "invalid label '" + label + "' (use name:value)"};
    }
    query.emplace_back("label", label.substr(0, middle) + ":" + label.substr(middle + 1));
  }
  return {};
}

Result<std::map<std::string, std::string>> ParsePairs(const std::vector<std::string>& pairs) {
  std::map<std::string, std::string> parsed;
  for (const std::string& pair : pairs) {
    const size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return {ErrorCode::kInvalid, "invalid argument '" + pair + "' (use name=value)"};
    }
    parsed[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return parsed;
}

std::string NotEmpty(const std::string& text) { return text.empty() ? "must not be empty" : ""; }

}  // namespace carillon::cli
