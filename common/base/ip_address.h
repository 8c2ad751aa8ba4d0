// IP addresses and networks as text. Pure; names are not resolved.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace carillon {

// IPv4 addresses are stored as IPv4-mapped IPv6, so that "192.0.2.7" equals "::ffff:192.0.2.7".
class IpAddress {
 public:
  // Accepts "192.0.2.7", "2001:db8::7" and "[2001:db8::7]".
  static std::optional<IpAddress> Parse(std::string_view text);

  bool is_v4() const;
  // Returns "192.0.2.7" or "[2001:db8::7]".
  std::string Text() const;
  // The IPv4 address inside one of NAT64 (64:ff9b::/96), stateless translation (::ffff:0:0:0/96) or
  // 6to4 (2002::/16), through which that address is reached.
  std::optional<IpAddress> Embedded() const;
  // The address with all but the first `bits` of 128 bits cleared.
  IpAddress Prefix(int bits) const;

  bool operator==(const IpAddress&) const = default;

 private:
  std::array<uint8_t, 16> bytes_{};
};

// All addresses that share a prefix.
class IpNetwork {
 public:
  // Accepts an address, optionally with a prefix length: "10.0.0.0/8", "fd00::/8".
  static std::optional<IpNetwork> Parse(std::string_view text);
  bool Contains(const IpAddress& address) const { return address.Prefix(bits_) == first_; }

 private:
  IpAddress first_;
  int bits_ = 0;  // prefix length, of 128
};

// Parses a comma-separated list. An empty text is an empty list; nullopt if one item is invalid.
std::optional<std::vector<IpNetwork>> ParseNetworks(std::string_view text);

// The network that is counted as one client: an IPv4 address itself, or the /64 of an IPv6
// address ("2001:db8:0:1::/64"). `address` is in the form of IpAddress::Text; any other text is
// returned unchanged.
std::string NetworkOf(const std::string& address);

}  // namespace carillon
