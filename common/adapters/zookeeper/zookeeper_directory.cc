#include "common/adapters/zookeeper/zookeeper_directory.h"

namespace carillon::zookeeper {

Result<std::unique_ptr<ZookeeperDirectory>> ZookeeperDirectory::Make(
    const CoordinatorOptions& options) {
  CARILLON_ASSIGN_OR_RETURN(auto membership, ZookeeperMembership::Make(options));
  return std::unique_ptr<ZookeeperDirectory>(new ZookeeperDirectory(std::move(membership)));
}

}  // namespace carillon::zookeeper
