#include "common/config/load.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>
#include <utility>

#include "common/base/cluster_settings.h"
#include "common/base/lease.h"
#include "common/base/nearest.h"
#include "common/config/endpoints.h"
#include "common/config/event_topics.h"
#include "common/config/letter_topic.h"
#include "common/config/yaml_settings.h"

namespace carillon::config {
namespace {

constexpr std::string_view kPrefix = "CARILLON_";

// Variables with the prefix CARILLON_ that are not settings: those of the command line and of
// job processes.
bool IsKnownVariable(std::string_view name) {
  static const std::set<std::string_view> names = {
      "CARILLON_ADDR",        "CARILLON_TOKEN",         "CARILLON_TOKEN_FILE",
      "CARILLON_CONTEXT",     "CARILLON_CONFIG",        "CARILLON_RUN_ID",
      "CARILLON_CA_FILE",     "CARILLON_JOB_ID",        "CARILLON_FIRE_TIME",
      "CARILLON_ATTEMPT",     "CARILLON_SHARD_INDEX",   "CARILLON_SHARD_TOTAL",
      "CARILLON_TRACE_ID",    "CARILLON_PROGRESS_FILE", "CARILLON_CHECKPOINT_FILE",
      "CARILLON_SECRETS_KEY", "CARILLON_OUTPUT_FILE",   "CARILLON_TIME_ZONE",
      "CARILLON_FIRE_DATE",   "CARILLON_BIN",           "CARILLON_CONTAINER",
      "CARILLON_NODE"};
  return names.contains(name) || name.substr(0, 15) == "CARILLON_PARAM_";
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

bool IsIdentity(std::string_view text) {
  if (text.empty() || text.size() > 63 || text[0] == '-') return false;
  for (char c : text) {
    if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-') return false;
  }
  return true;
}

std::optional<std::map<std::string, std::string>> ParsePairs(std::string_view text) {
  std::map<std::string, std::string> pairs;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view pair = text.substr(0, comma);
    const size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string_view::npos) return std::nullopt;
    if (!pairs.emplace(pair.substr(0, equals), pair.substr(equals + 1)).second) {
      return std::nullopt;
    }
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
  }
  return pairs;
}

struct Address {
  bool loopback = false;  // reachable from this host only
};

std::optional<Address> ParseAddress(const std::string& text) {
  if (text == "localhost") return Address{.loopback = true};
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) {
    return Address{.loopback = (ntohl(v4.s_addr) >> 24) == IN_LOOPBACKNET};
  }
  in6_addr v6{};
  if (inet_pton(AF_INET6, text.c_str(), &v6) != 1) return std::nullopt;
  return Address{.loopback = IN6_IS_ADDR_LOOPBACK(&v6)};
}

bool IsChoice(std::string_view choices, std::string_view text) {
  while (true) {
    const size_t bar = choices.find('|');
    if (choices.substr(0, bar) == text) return true;
    if (bar == std::string_view::npos) return false;
    choices.remove_prefix(bar + 1);
  }
}

std::vector<std::string_view> SettingNames() {
  std::vector<std::string_view> names;
  for (const Setting& setting : SettingTable()) names.emplace_back(setting.name);
  return names;
}

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return {ErrorCode::kUnavailable, "configuration file " + path + " cannot be read"};
  std::string text(kConfigFileBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (in.bad()) return {ErrorCode::kUnavailable, "configuration file " + path + " cannot be read"};
  if (text.size() > kConfigFileBytesMax) {
    return {ErrorCode::kInvalid, "configuration file " + path + " is larger than 1 MiB"};
  }
  return text;
}

}  // namespace

std::string Complaint(const Setting& setting, const std::string& text) {
  switch (setting.type) {
    case SettingType::kText:
      if (text.find_first_of(std::string_view("\0\n\r", 3)) != std::string::npos) {
        return "must be one line";
      }
      return std::cmp_greater_equal(text.size(), setting.least) ? "" : "must not be empty";
    case SettingType::kInteger: {
      const auto number = ParseInteger(text);
      if (number && *number >= setting.least && *number <= setting.most) return "";
      return "must be a whole number from " + std::to_string(setting.least) + " to " +
             std::to_string(setting.most);
    }
    case SettingType::kFlag:
      return text == "true" || text == "false" ? "" : "must be true or false";
    case SettingType::kChoice:
      return IsChoice(setting.choices, text) ? ""
                                             : "must be one of " + std::string(setting.choices);
    case SettingType::kIdentity:
      return IsIdentity(text) ? "" : "must match [a-z0-9][a-z0-9-]{0,62}";
    case SettingType::kAddress:
      return ParseAddress(text) ? "" : "must be an IP address or localhost";
    case SettingType::kNetworks:
      return ParseNetworks(text) ? ""
                                 : "must be IP addresses or networks such as 10.0.0.0/8, "
                                   "separated by commas";
    case SettingType::kPairs: return ParsePairs(text) ? "" : "must be name=value,name=value";
    case SettingType::kLevels:
      return ParseOverloadLevels(text)
                 ? ""
                 : "must be up to three pairs late_s:below such as 10:20, 60:60, both ascending, "
                   "late_s from 5 to 3600 and below from 1 to 100";
  }
  return "has an unknown type";
}

class Loader {
 public:
  Result<Config> Run(const LoadRequest& request, std::vector<Error>* further) {
    for (const Setting& setting : SettingTable()) {
      config_.values_[std::string(setting.name)] = {.text = std::string(setting.fallback)};
    }
    Note(ReadYaml(request.file));
    ReadEnvironment(request.environment);
    for (const Override& flag : request.flags) {
      Note(Set(flag.name, {flag.value, Origin::kFlag, flag.flag}));
    }
    // If a value was rejected, it is unknown which values would be used together, so their
    // combination is not checked.
    if (mistakes_.empty()) CheckTogether();
    if (mistakes_.empty()) return std::move(config_);
    if (further != nullptr) further->assign(mistakes_.begin() + 1, mistakes_.end());
    return mistakes_.front();
  }

 private:
  void Note(const Status& checked) {
    if (!checked.ok()) mistakes_.push_back(checked.error());
  }

  Status ReadYaml(const std::string& file) {
    if (file.empty()) return {};
    CARILLON_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
    auto settings = ReadYamlSettings(text);
    if (!settings.ok()) {
      return Error{settings.code(), file + ": " + settings.error().message};
    }
    for (const FileSetting& setting : *settings) {
      Note(Set(setting.name,
               {setting.text, Origin::kFile, file + ":" + std::to_string(setting.line)}));
    }
    return {};
  }

  void ReadEnvironment(const std::map<std::string, std::string>& environment) {
    std::set<std::string> names;
    for (const Setting& setting : SettingTable()) {
      const std::string name = EnvironmentName(setting.name);
      names.insert(name);
      const auto found = environment.find(name);
      if (found == environment.end()) continue;
      Note(Set(setting.name, {found->second, Origin::kEnvironment, name}));
    }
    for (const auto& [name, value] : environment) {
      if (name.compare(0, kPrefix.size(), kPrefix) != 0) continue;
      if (names.contains(name) || IsKnownVariable(name)) continue;
      config_.warnings_.push_back("environment variable " + name + " is not a setting");
    }
  }

  Status Set(std::string_view name, Value value) {
    const Setting* setting = FindSetting(name);
    if (setting == nullptr) {
      return {ErrorCode::kInvalid, value.place + ": unknown setting '" + std::string(name) + "'" +
                                       DidYouMean(name, SettingNames())};
    }
    const std::string complaint = Complaint(*setting, value.text);
    if (!complaint.empty()) {
      return {ErrorCode::kInvalid, value.place + ": " + std::string(name) + " " + complaint +
                                       ", not '" + value.text.substr(0, 200) + "'"};
    }
    config_.values_.find(name)->second = std::move(value);
    return {};
  }

  // Checks the rules that concern several settings.
  void CheckTogether() {
    Note(CheckHeartbeats("scheduler.executor_lost_ms"));
    Note(CheckLease());
    Note(CheckOpsListen());
    Note(CheckStoreTls());
    Note(CheckKafka());
    const Status rest_pair = CheckPairOfFiles("rest.tls_certificate_file", "rest.tls_key_file");
    Note(rest_pair);
    if (rest_pair.ok()) Note(CheckRestListen());
    Note(CheckPublicUrl());
    Note(CheckNotify());
    Note(CheckPairOfFiles("link.tls_ca_file", "link.tls_ca_key_file"));
    Note(CheckLinkListen());
    Note(CheckEndpoints(config_));
    Note(CheckLetterTopic(config_));
    Note(CheckEventTopics(config_));
  }

  Status CheckHeartbeats(std::string_view name) const {
    const int64_t least = 3 * config_.Integer("scheduler.heartbeat_ms");
    if (config_.Integer(name) >= least) return {};
    return {ErrorCode::kInvalid, std::string(name) +
                                     " must be at least three times scheduler.heartbeat_ms (" +
                                     std::to_string(least) + ")"};
  }

  // A lease is renewed with each heartbeat, and the warden kills the process when only kLeaseMargin
  // of the lease is left. This must not happen after only two lost heartbeats in a row.
  Status CheckLease() const {
    const int64_t least = 3 * config_.Integer("scheduler.heartbeat_ms") + kLeaseMargin / 1ms;
    if (config_.Integer("scheduler.lease_ms") >= least) return {};
    return {ErrorCode::kInvalid,
            "scheduler.lease_ms must be at least three times scheduler.heartbeat_ms and 3 s (" +
                std::to_string(least) + ")"};
  }

  Status CheckOpsListen() const {
    if (IsLoopback("ops.listen") || config_.Flag("ops.allow_beyond_loopback")) return {};
    return {ErrorCode::kInvalid,
            "ops.listen is beyond loopback and asks for no token: whoever reaches it would read "
            "the metrics; set ops.allow_beyond_loopback: true to accept that"};
  }

  Status CheckRestListen() const {
    const bool tls = !config_.Text("rest.tls_certificate_file").empty();
    if (IsLoopback("rest.listen") || tls || config_.Flag("rest.allow_beyond_loopback")) return {};
    return {ErrorCode::kInvalid,
            "rest.listen is beyond loopback and there is no TLS: tokens would cross the network "
            "in the clear; set rest.tls_certificate_file and rest.tls_key_file, or "
            "rest.allow_beyond_loopback: true to accept that"};
  }

  Status CheckLinkListen() const {
    const bool tls = config_.Text("link.tls") == "mutual";
    if (IsLoopback("link.listen") || tls || config_.Flag("link.allow_beyond_loopback")) return {};
    return {ErrorCode::kInvalid,
            "link.listen is beyond loopback and there is no TLS: the join secret and what runs "
            "would cross the network in the clear; set link.tls: mutual, or "
            "link.allow_beyond_loopback: true to accept that"};
  }

  Status CheckStoreTls() const {
    const bool verify = config_.Text("store.tls") == "verify";
    if (verify == !config_.Text("store.tls_ca_file").empty()) return {};
    return {ErrorCode::kInvalid,
            verify
                ? "store.tls is verify and store.tls_ca_file is not set: it names who signed the "
                  "database's certificate"
                : "store.tls_ca_file is set and nothing is verified: set store.tls: verify"};
  }

  Status CheckKafka() const {
    const auto is_set = [this](std::string_view name) { return !config_.Text(name).empty(); };
    const std::string& tls = config_.Text("kafka.tls");
    CARILLON_TRY(CheckPairOfFiles("kafka.tls_certificate_file", "kafka.tls_key_file"));
    if (is_set("kafka.tls_ca_file") && tls != "verify") {
      return {ErrorCode::kInvalid,
              "kafka.tls_ca_file is set and nothing is verified: set kafka.tls: verify"};
    }
    if (is_set("kafka.tls_key_file") && tls == "off") {
      return {ErrorCode::kInvalid, "kafka.tls_key_file is set and kafka.tls is off"};
    }
    const std::string& sasl = config_.Text("kafka.sasl");
    for (const std::string_view name : {"kafka.user", "kafka.password_file"}) {
      if (is_set(name) == (sasl != "off")) continue;
      return {ErrorCode::kInvalid, "kafka.sasl is " + sasl + " and " + std::string(name) +
                                       (sasl == "off" ? " is set" : " is not set")};
    }
    if (sasl != "plain" || tls != "off") return {};
    return {ErrorCode::kInvalid,
            "kafka.sasl is plain and kafka.tls is off: the password would cross the network in the "
            "clear"};
  }

  Status CheckPublicUrl() const {
    const std::string& url = config_.Text("rest.public_url");
    const bool web = url.starts_with("https://") || url.starts_with("http://");
    if (url.empty() || (web && IsPlausibleUrl(url) && url.find_first_of("?#@\\\"<>") == url.npos)) {
      return {};
    }
    return {ErrorCode::kInvalid,
            "rest.public_url must be a URL without user, query and fragment, such as "
            "https://ops.example.org/carillon"};
  }

  Status CheckNotify() const {
    const auto text = [this](std::string_view name) -> const std::string& {
      return config_.Text(name);
    };
    const auto needs = [&](std::string_view name, std::string_view other) -> Status {
      if (text(name).empty() == text(other).empty()) return {};
      return {ErrorCode::kInvalid, std::string(text(name).empty() ? other : name) + " is set and " +
                                       std::string(text(name).empty() ? name : other) + " is not"};
    };
    CARILLON_TRY(needs("notify.webhook_url", "notify.webhook_secret_file"));
    CARILLON_TRY(needs("notify.mail_server", "notify.mail_from"));
    CARILLON_TRY(needs("notify.mail_user", "notify.mail_password_file"));
    const bool plain = config_.Flag("notify.allow_plain");
    const std::string& url = text("notify.webhook_url");
    const bool https = url.starts_with("https://");
    if (!url.empty() && !https && !url.starts_with("http://")) {
      return {ErrorCode::kInvalid, "notify.webhook_url must begin with https:// or http://"};
    }
    if (!url.empty() && !IsPlausibleUrl(url)) {
      return {ErrorCode::kInvalid,
              "notify.webhook_url must be one URL without blanks, with a port up to 65535"};
    }
    if (!url.empty() && !https && !plain && !IsLoopbackHost(HostOf(url.substr(7)))) {
      return {ErrorCode::kInvalid,
              "notify.webhook_url is beyond loopback and without TLS; use https, or set "
              "notify.allow_plain: true to accept that"};
    }
    const std::string& server = text("notify.mail_server");
    const bool mail_plain = !server.empty() && text("notify.mail_tls") == "off";
    if (mail_plain && !plain && !IsLoopbackHost(HostOf(server))) {
      return {ErrorCode::kInvalid,
              "notify.mail_tls is off and notify.mail_server is beyond loopback; use starttls or "
              "tls, or set notify.allow_plain: true to accept that"};
    }
    return {};
  }

  // The caller has checked that `url` begins with a scheme. libcurl checks the rest later.
  static bool IsPlausibleUrl(const std::string& url) {
    if (url.find_first_of(" \t\x7f") != std::string::npos) return false;
    const std::string rest = url.substr(url.find("//") + 2);
    std::string authority = rest.substr(0, rest.find_first_of("/?#\\"));
    authority.erase(0, authority.rfind('@') + 1);
    const size_t bracket = authority.rfind(']');
    const size_t colon = authority.find(':', bracket == std::string::npos ? 0 : bracket);
    const std::string host = authority.substr(0, colon);
    if (host.empty()) return false;
    if (colon == std::string::npos) return true;
    const auto port = ParseInteger(std::string_view(authority).substr(colon + 1));
    return port && *port > 0 && *port <= 65'535;
  }

  // The host in "user@host:port/…".
  static std::string HostOf(const std::string& text) {
    std::string host = text.substr(0, text.find_first_of("/?#\\"));
    host.erase(0, host.rfind('@') + 1);
    if (host.starts_with("[")) return host.substr(1, host.find(']') - 1);
    return host.substr(0, host.find(':'));
  }
  static bool IsLoopbackHost(const std::string& host) {
    const auto address = ParseAddress(host);
    return address && address->loopback;
  }

  Status CheckPairOfFiles(std::string_view certificate, std::string_view key) const {
    const bool has_certificate = !config_.Text(certificate).empty();
    if (has_certificate == !config_.Text(key).empty()) return {};
    const std::string_view given = has_certificate ? certificate : key;
    const std::string_view missing = has_certificate ? key : certificate;
    return {ErrorCode::kInvalid, config_.Get(given).place + ": " + std::string(given) +
                                     " is set and " + std::string(missing) +
                                     " is not: TLS needs both"};
  }

  bool IsLoopback(std::string_view name) const {
    return ParseAddress(config_.Text(name))->loopback;
  }

  Config config_;
  std::vector<Error> mistakes_;
};

Result<Config> Load(const LoadRequest& request, std::vector<Error>* further) {
  return Loader().Run(request, further);
}

std::string_view Name(Origin origin) {
  switch (origin) {
    case Origin::kDefault: return "default";
    case Origin::kFile: return "file";
    case Origin::kEnvironment: return "environment";
    case Origin::kFlag: return "flag";
    case Origin::kLive: return "live";
  }
  return "unknown";
}

Config Config::With(const std::map<std::string, std::string>& live,
                    std::vector<std::string>* left_out) const {
  Config config = *this;
  for (const auto& [name, text] : live) {
    if (IsOfPause(name)) continue;  // stored with the settings, but not a setting
    const Setting* setting = FindSetting(name);
    const bool known = setting != nullptr && setting->live;
    const std::string complaint =
        known ? Complaint(*setting, text) : "is not a live setting of this version";
    if (complaint.empty()) {
      config.values_[name] = {.text = text, .origin = Origin::kLive};
    } else {
      left_out->push_back(name + " " + complaint);
    }
  }
  return config;
}

const Value& Config::Get(std::string_view name) const {
  const auto found = values_.find(name);
  CARILLON_CHECK(found != values_.end(), name);
  return found->second;
}

const std::string& Config::Text(std::string_view name) const {
  const std::string& text = Get(name).text;
  const SettingType type = FindSetting(name)->type;
  CARILLON_CHECK(type == SettingType::kText || type == SettingType::kChoice ||
                     type == SettingType::kIdentity || type == SettingType::kAddress,
                 name);
  return text;
}

int64_t Config::Integer(std::string_view name) const {
  const auto number = ParseInteger(Get(name).text);
  CARILLON_CHECK(FindSetting(name)->type == SettingType::kInteger && number, name);
  return *number;
}

bool Config::Flag(std::string_view name) const {
  const bool on = Get(name).text == "true";
  CARILLON_CHECK(FindSetting(name)->type == SettingType::kFlag, name);
  return on;
}

std::map<std::string, std::string> Config::Pairs(std::string_view name) const {
  const auto pairs = ParsePairs(Get(name).text);
  CARILLON_CHECK(FindSetting(name)->type == SettingType::kPairs && pairs, name);
  return *pairs;
}

std::vector<IpNetwork> Config::Networks(std::string_view name) const {
  auto networks = ParseNetworks(Get(name).text);
  CARILLON_CHECK(FindSetting(name)->type == SettingType::kNetworks && networks, name);
  return *std::move(networks);
}

std::vector<OverloadLevel> Config::Levels(std::string_view name) const {
  auto levels = ParseOverloadLevels(Get(name).text);
  CARILLON_CHECK(FindSetting(name)->type == SettingType::kLevels && levels, name);
  return *std::move(levels);
}

Duration Config::Time(std::string_view name) const {
  const int64_t number = Integer(name);
  const std::string_view unit = name.substr(name.rfind('_') + 1);
  if (unit == "ms") return Duration(number * 1000);
  if (unit == "s") return Duration(number * 1'000'000);
  CARILLON_CHECK(unit == "days", name);
  return Duration(number * 86'400'000'000);
}

}  // namespace carillon::config
