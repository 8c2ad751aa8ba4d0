// Limits the connections per client address, so that no client can use all of them.
//
// Threads  Thread-safe; never blocks.
#pragma once

#include <memory>
#include <string>

namespace carillon {

// A connection holds its place while the connection exists. A place may outlive the AddressPlaces.
using Place = std::shared_ptr<void>;

class AddressPlaces {
 public:
  // Permits `of_one_max` connections per address; 0 = no limit.
  explicit AddressPlaces(size_t of_one_max);
  // Returns null if `address` has reached the limit. IPv6 addresses of one /64 count as one.
  Place Take(const std::string& address);
  // Returns a place that is not counted, for a connection from a trusted proxy.
  Place OfProxy() const;

 private:
  struct Counts;
  const size_t of_one_max_;
  const std::shared_ptr<Counts> counts_;
};

}  // namespace carillon
