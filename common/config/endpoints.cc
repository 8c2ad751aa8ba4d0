#include "common/config/endpoints.h"

#include <algorithm>
#include <charconv>

#include "common/base/ip_address.h"

namespace carillon::config {
namespace {

constexpr const char* kLinkMembers = "link.members";
constexpr const char* kStandaloneExecutors = "standalone.executors";

// Returns the items of a list that is separated by commas.
std::vector<std::string_view> ItemsOf(std::string_view list) {
  std::vector<std::string_view> items;
  while (!list.empty()) {
    const size_t end = list.find(',');
    items.push_back(list.substr(0, end));
    list = end == list.npos ? std::string_view() : list.substr(end + 1);
  }
  return items;
}

Error Malformed(const char* setting, std::string_view form, std::string_view text) {
  return {ErrorCode::kInvalid, std::string(setting) + " must be " + std::string(form) + ", not '" +
                                   std::string(text) + "'"};
}

}  // namespace

std::optional<Endpoint> ParseEndpoint(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos || colon == 0) return std::nullopt;
  const std::string_view host = text.substr(0, colon);
  const bool brackets = host.starts_with('[') && host.ends_with(']') && host.size() > 2;
  if (host.find_first_of(" \t/@,") != host.npos) return std::nullopt;
  if (!brackets && host.find_first_of(":[]") != host.npos) return std::nullopt;
  const std::string_view digits = text.substr(colon + 1);
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return Endpoint{.host = std::string(host), .port = port};
}

std::vector<Endpoint> LinkMembers(const Config& config) {
  std::vector<Endpoint> members;
  for (const std::string_view item : ItemsOf(config.Text(kLinkMembers))) {
    if (auto endpoint = ParseEndpoint(item)) members.push_back(std::move(*endpoint));
  }
  return members;
}

std::optional<Endpoint> StandaloneExecutors(const Config& config) {
  return ParseEndpoint(config.Text(kStandaloneExecutors));
}

namespace {

// "http://host:port". Its user and password would stand where settings are shown.
Status CheckProxy(const Config& config, const char* setting) {
  const std::string& text = config.Text(setting);
  if (text.empty()) return {};
  const size_t scheme = text.starts_with("http://") ? 7 : text.starts_with("https://") ? 8 : 0;
  const auto endpoint =
      scheme == 0 ? std::nullopt : ParseEndpoint(std::string_view(text).substr(scheme));
  if (endpoint && endpoint->port != 0) return {};
  return Malformed(setting, "http://host:port or https://host:port", text);
}

// A name, perhaps with "." or "*." before it, or "*".
bool IsHostPattern(std::string_view text) {
  if (text == "*") return true;
  if (text.starts_with('*')) text.remove_prefix(1);
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  });
  return plain && text.find_first_not_of('.') != text.npos;
}

// An item that matches nothing would send requests through the proxy that are not meant for it.
Status CheckNoProxy(const Config& config) {
  constexpr const char* kNoProxy = "executor.no_proxy";
  for (std::string_view item : ItemsOf(config.Text(kNoProxy))) {
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (item.empty() || IsHostPattern(item) || IpNetwork::Parse(item)) continue;
    return Malformed(kNoProxy, "names, addresses and networks without scheme and port", item);
  }
  return {};
}

}  // namespace

Status CheckEndpoints(const Config& config) {
  CARILLON_TRY(CheckProxy(config, "executor.http_proxy"));
  CARILLON_TRY(CheckProxy(config, "notify.proxy"));
  CARILLON_TRY(CheckProxy(config, "notify.mail_proxy"));
  CARILLON_TRY(CheckNoProxy(config));
  const std::string& members = config.Text(kLinkMembers);
  for (const std::string_view item : ItemsOf(members)) {
    const auto endpoint = ParseEndpoint(item);
    if (!endpoint || endpoint->port == 0) {
      return Malformed(kLinkMembers, "host:port,host:port", item);
    }
  }
  const std::string& executors = config.Text(kStandaloneExecutors);
  if (!executors.empty() && !ParseEndpoint(executors)) {
    return Malformed(kStandaloneExecutors, "host:port", executors);
  }
  if (members.empty() || config.Text("link.tls") == "mutual") return {};
  return {ErrorCode::kInvalid, "link.members is set and link.tls is off; set link.tls: mutual"};
}

}  // namespace carillon::config
