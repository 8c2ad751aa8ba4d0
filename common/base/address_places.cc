#include "common/base/address_places.h"

#include <map>
#include <utility>

#include "common/base/ip_address.h"
#include "common/base/mutex.h"

namespace carillon {

struct AddressPlaces::Counts {
  Mutex mu;
  std::map<std::string, size_t> of GUARDED_BY(mu);
};

AddressPlaces::AddressPlaces(size_t of_one_max)
    : of_one_max_(of_one_max), counts_(std::make_shared<Counts>()) {}

Place AddressPlaces::Take(const std::string& address) {
  if (of_one_max_ == 0) return OfProxy();
  const std::string network = NetworkOf(address);
  MutexLock lock(counts_->mu);
  size_t& count = counts_->of[network];
  if (count >= of_one_max_) return nullptr;
  ++count;
  return Place(counts_.get(), [counts = counts_, network](void*) {
    MutexLock lock_again(counts->mu);
    const auto known = counts->of.find(network);
    if (--known->second == 0) counts->of.erase(known);
  });
}

Place AddressPlaces::OfProxy() const { return counts_; }

}  // namespace carillon
