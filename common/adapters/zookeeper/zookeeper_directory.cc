#include "common/adapters/zookeeper/zookeeper_directory.h"

namespace carillon::zookeeper {

Result<std::unique_ptr<ZookeeperDirectory>> ZookeeperDirectory::Make(CoordinatorOptions options) {
  CARILLON_ASSIGN_OR_RETURN(auto coordinator, ZookeeperCoordinator::Make(std::move(options)));
  return std::unique_ptr<ZookeeperDirectory>(new ZookeeperDirectory(std::move(coordinator)));
}

}  // namespace carillon::zookeeper
