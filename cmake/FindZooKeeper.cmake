# ZooKeeper's multi-threaded C client (Debian libzookeeper-mt-dev): target ZooKeeper::client.
find_path(ZOOKEEPER_INCLUDE_DIR zookeeper/zookeeper.h)
find_library(ZOOKEEPER_LIBRARY zookeeper_mt)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ZooKeeper REQUIRED_VARS ZOOKEEPER_LIBRARY ZOOKEEPER_INCLUDE_DIR)
if(ZooKeeper_FOUND AND NOT TARGET ZooKeeper::client)
  add_library(ZooKeeper::client UNKNOWN IMPORTED)
  set_target_properties(
    ZooKeeper::client PROPERTIES IMPORTED_LOCATION ${ZOOKEEPER_LIBRARY}
                                 INTERFACE_INCLUDE_DIRECTORIES ${ZOOKEEPER_INCLUDE_DIR}
                                 INTERFACE_COMPILE_DEFINITIONS THREADED)
endif()
