// IP addresses and networks as text. Pure; names are not resolved.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace carillon {

// An IPv4 address is kept as mapped into IPv6, so that "192.0.2.7" and "::ffff:192.0.2.7" are one.
class IpAddress {
 public:
  // "192.0.2.7", "2001:db8::7", "[2001:db8::7]".
  static std::optional<IpAddress> Parse(std::string_view text);

  bool is_v4() const;
  // "192.0.2.7" or "[2001:db8::7]".
  std::string Text() const;
  // With all but the first `bits` of 128 cleared.
  IpAddress Prefix(int bits) const;

  bool operator==(const IpAddress&) const = default;

 private:
  std::array<uint8_t, 16> bytes_{};
};

// All addresses with the same first bits.
class IpNetwork {
 public:
  // An address, or an address and the length of its prefix: "10.0.0.0/8", "fd00::/8".
  static std::optional<IpNetwork> Parse(std::string_view text);
  bool Contains(const IpAddress& address) const { return address.Prefix(bits_) == first_; }

 private:
  IpAddress first_;
  int bits_ = 0;  // of 128
};

// Separated by commas; nullopt: one of them is none. Empty text: none.
std::optional<std::vector<IpNetwork>> ParseNetworks(std::string_view text);

// The network that one client has for itself: its address,
// or the /64 of an IPv6 address ("2001:db8:0:1::/64").
// `address` as IpAddress::Text gives it; another text is left as it is.
std::string NetworkOf(const std::string& address);

}  // namespace carillon
