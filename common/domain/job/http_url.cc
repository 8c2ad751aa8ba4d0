#include "common/domain/job/http_url.h"

#include <fmt/format.h>
#include <idn2.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "common/base/ip_address.h"
#include "common/domain/job_text.h"

namespace carillon {
namespace {

constexpr size_t kHostBytesMax = 253;
constexpr size_t kLabelBytesMax = 63;
constexpr int kPortMax = 65'535;

Error WrongUrl(std::string why) { return {ErrorCode::kInvalid, std::move(why)}; }

size_t BytesOfScheme(std::string_view url) {
  return url.starts_with("https://") ? 8 : url.starts_with("http://") ? 7 : 0;
}

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

// Characters of a path, query or fragment by RFC 3986, with those that stand between them.
bool IsUrlCharacter(char c) {
  constexpr std::string_view kMarks = "-._~:/?#[]@!$&'()*+,;=%";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kMarks.find(c) != std::string_view::npos;
}

Result<std::string> AsciiName(const std::string& host) {
  char* text = nullptr;
  const int failed = idn2_to_ascii_8z(host.c_str(), &text, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
  const std::unique_ptr<char, decltype(&idn2_free)> owned(text, &idn2_free);
  if (failed == IDN2_OK) return std::string(text);
  return WrongUrl(fmt::format("has a host without an ASCII form ({}); write it as xn--…",
                              idn2_strerror(failed)));
}

Status CheckPort(std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (whole && port > 0 && port <= kPortMax) return {};
  return WrongUrl(fmt::format("has the port '{}'; it must be from 1 to {}", text, kPortMax));
}

// "[address]", perhaps with a zone.
Status CheckBracketed(std::string_view text) {
  const std::string_view inner = text.substr(1, text.find_first_of("%]") - 1);
  const std::string_view zone = text.substr(inner.size() + 1, text.size() - inner.size() - 2);
  const auto address = IpAddress::Parse(std::string(inner));
  const bool plain =
      std::all_of(zone.begin(), zone.end(), [](char c) { return c == '%' || IsNameCharacter(c); });
  if (address && plain && inner.find(':') != std::string_view::npos) return {};
  return WrongUrl(fmt::format("has {}, which is no IPv6 address", text));
}

// The parts between the dots, of which a last one may be empty.
Status CheckParts(std::string_view host) {
  do {
    const std::string_view label = host.substr(0, host.find('.'));
    host.remove_prefix(std::min(label.size() + 1, host.size()));
    if (label.empty()) return WrongUrl("has a host with nothing before a dot");
    if (label.size() > kLabelBytesMax) {
      return WrongUrl(
          fmt::format("has more than {} bytes before a dot of its host", kLabelBytesMax));
    }
  } while (!host.empty());
  return {};
}

// Host and port, as they are sent.
Result<std::string> SendableAuthority(std::string_view text) {
  std::string_view port;
  if (text.starts_with('[')) {
    const size_t close = text.find(']');
    if (close == std::string_view::npos) return WrongUrl("has a [ without a ] in its host");
    CARILLON_TRY(CheckBracketed(text.substr(0, close + 1)));
    port = text.substr(close + 1);
    if (port.size() > 1 && port.front() == ':') CARILLON_TRY(CheckPort(port.substr(1)));
    if (port.empty() || port.front() == ':') return std::string(text);
    return WrongUrl("has something after the ] of its host");
  }
  const size_t colon = text.find(':');
  std::string host(text.substr(0, colon));
  if (host.empty()) return WrongUrl("has no host");
  if (colon != std::string_view::npos) {
    port = text.substr(colon);
    if (port.size() > 1) CARILLON_TRY(CheckPort(port.substr(1)));
  }
  if (!IsAscii(host)) {
    CARILLON_ASSIGN_OR_RETURN(host, AsciiName(host));
  }
  const auto wrong = std::find_if_not(host.begin(), host.end(), IsNameCharacter);
  if (wrong != host.end()) {
    return WrongUrl(
        fmt::format("has '{}' in its host; a host has letters, digits, - and .", *wrong));
  }
  if (host.size() > kHostBytesMax) {
    return WrongUrl(fmt::format("has a host of more than {} bytes", kHostBytesMax));
  }
  CARILLON_TRY(CheckParts(host));
  host += port;
  return host;
}

}  // namespace

Status CheckHttpUrl(std::string_view url) {
  const size_t scheme = BytesOfScheme(url);
  if (scheme == 0) return WrongUrl("must begin with http:// or https://");
  if (std::any_of(url.begin(), url.end(), IsControl)) {
    return WrongUrl("contains a control character");
  }
  const std::string_view host = url.substr(scheme, url.find_first_of("/?#", scheme) - scheme);
  if (host.empty()) return WrongUrl("has no host");
  // It would be stored and logged in clear.
  if (host.find('@') != std::string_view::npos) {
    return WrongUrl("must not contain a user or a password; use a header with a secret");
  }
  return {};
}

Result<std::string> SendableUrl(std::string_view url) {
  CARILLON_TRY(CheckHttpUrl(url));
  const size_t scheme = BytesOfScheme(url);
  const size_t end = std::min(url.find_first_of("/?#", scheme), url.size());
  std::string sent(url.substr(0, scheme));
  CARILLON_ASSIGN_OR_RETURN(const std::string authority,
                            SendableAuthority(url.substr(scheme, end - scheme)));
  sent += authority;
  for (const char c : url.substr(end)) {
    if (IsUrlCharacter(c)) {
      sent += c;
    } else {
      sent += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return sent;
}

Status CheckHostHeader(std::string_view host) {
  CARILLON_ASSIGN_OR_RETURN(const std::string sent, SendableAuthority(host));
  if (sent == host) return {};
  return WrongUrl(fmt::format("is not ASCII; write it as {}", sent));
}

}  // namespace carillon
