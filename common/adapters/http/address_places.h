// Places for connections, by the address that they come from: nobody takes all of them.
//
// Threads  Thread-safe; never blocks.
#pragma once

#include <memory>
#include <string>

namespace carillon::http {

// Held by a connection as long as it is there; may outlive the AddressPlaces.
using Place = std::shared_ptr<void>;

class AddressPlaces {
 public:
  // 0 = no limit.
  explicit AddressPlaces(size_t of_one_max);
  // Null: `address` (of IPv6 its /64) has as many as it may.
  Place Take(const std::string& address);
  // Not counted.
  Place OfProxy() const;

 private:
  struct Counts;
  const size_t of_one_max_;
  const std::shared_ptr<Counts> counts_;
};

}  // namespace carillon::http
