#include "common/base/ip_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace carillon {
namespace {

constexpr int kBitsOfV6 = 128;
constexpr int kBitsBeforeV4 = 96;  // bits before the IPv4 address in its mapped form
constexpr int kBitsOfClient = 64;  // the prefix of IPv6 that counts as one client
constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::optional<IpAddress> IpAddress::Parse(std::string_view text) {
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
    text = text.substr(1, text.size() - 2);
    if (text.find(':') == std::string_view::npos) return std::nullopt;
  }
  const std::string terminated(text);
  IpAddress address;
  if (inet_pton(AF_INET6, terminated.c_str(), address.bytes_.data()) == 1) return address;
  std::copy(kMapped.begin(), kMapped.end(), address.bytes_.begin());
  if (inet_pton(AF_INET, terminated.c_str(), address.bytes_.data() + kMapped.size()) == 1) {
    return address;
  }
  return std::nullopt;
}

bool IpAddress::is_v4() const { return std::equal(kMapped.begin(), kMapped.end(), bytes_.begin()); }

std::string IpAddress::Text() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (is_v4()) {
    inet_ntop(AF_INET, bytes_.data() + kMapped.size(), text.data(), text.size());
    return text.data();
  }
  inet_ntop(AF_INET6, bytes_.data(), text.data(), text.size());
  return "[" + std::string(text.data()) + "]";
}

std::optional<IpAddress> IpAddress::Embedded() const {
  static const IpNetwork nat64 = *IpNetwork::Parse("64:ff9b::/96");
  static const IpNetwork six_to_four = *IpNetwork::Parse("2002::/16");
  static const IpNetwork translated = *IpNetwork::Parse("::ffff:0:0:0/96");
  const bool at_the_end = nat64.Contains(*this) || translated.Contains(*this);
  const size_t begin = at_the_end ? kMapped.size() : six_to_four.Contains(*this) ? 2 : 0;
  if (begin == 0) return std::nullopt;
  IpAddress inner;
  std::copy(kMapped.begin(), kMapped.end(), inner.bytes_.begin());
  std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(begin), 4,
              inner.bytes_.begin() + kMapped.size());
  return inner;
}

IpAddress IpAddress::Prefix(int bits) const {
  IpAddress prefix = *this;
  for (int i = 0; i < static_cast<int>(bytes_.size()); ++i) {
    const int kept = std::clamp(bits - i * 8, 0, 8);
    prefix.bytes_[static_cast<size_t>(i)] &= static_cast<uint8_t>(0xff00 >> kept);
  }
  return prefix;
}

std::optional<IpNetwork> IpNetwork::Parse(std::string_view text) {
  const size_t slash = text.find('/');
  const auto address = IpAddress::Parse(text.substr(0, slash));
  if (!address) return std::nullopt;
  IpNetwork network;
  network.bits_ = kBitsOfV6;
  if (slash != std::string_view::npos) {
    const std::string_view length = text.substr(slash + 1);
    const bool v4 = text.substr(0, slash).find(':') == std::string_view::npos;
    int bits = -1;
    const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bits);
    const int most = v4 ? kBitsOfV6 - kBitsBeforeV4 : kBitsOfV6;
    if (error != std::errc() || end != length.data() + length.size() || bits < 0 || bits > most) {
      return std::nullopt;
    }
    network.bits_ = v4 ? bits + kBitsBeforeV4 : bits;
  }
  network.first_ = address->Prefix(network.bits_);
  return network;
}

std::optional<std::vector<IpNetwork>> ParseNetworks(std::string_view text) {
  std::vector<IpNetwork> networks;
  if (Trimmed(text).empty()) return networks;
  for (bool more = true; more;) {
    const size_t comma = text.find(',');
    const auto network = IpNetwork::Parse(Trimmed(text.substr(0, comma)));
    if (!network) return std::nullopt;
    networks.push_back(*network);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return networks;
}

std::string NetworkOf(const std::string& address) {
  const auto parsed = IpAddress::Parse(address);
  if (!parsed || parsed->is_v4()) return address;
  const std::string text = parsed->Prefix(kBitsOfClient).Text();
  return text.substr(1, text.size() - 2) + "/64";
}

}  // namespace carillon
