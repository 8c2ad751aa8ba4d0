// Limits the connections per client address, so that no client can use all of them.
//
// Threads  Thread-safe; never blocks.
#pragma once

#include <memory>
#include <string>

namespace carillon::http {

// Held by a connection while it exists; may outlive the AddressPlaces.
using Place = std::shared_ptr<void>;

class AddressPlaces {
 public:
  // Permits `of_one_max` connections per address; 0 = no limit.
  explicit AddressPlaces(size_t of_one_max);
  // Returns null if `address` (for IPv6 its /64) has reached the limit.
  Place Take(const std::string& address);
  // Returns the place of a connection from a trusted proxy, which is not counted.
  Place OfProxy() const;

 private:
  struct Counts;
  const size_t of_one_max_;
  const std::shared_ptr<Counts> counts_;
};

}  // namespace carillon::http
