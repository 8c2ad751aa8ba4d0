# MySQL Connector/C++ 1.1 (Debian libmysqlcppconn-dev): target MysqlConnector::cppconn.
find_path(MYSQLCPPCONN_INCLUDE_DIR cppconn/driver.h)
find_library(MYSQLCPPCONN_LIBRARY mysqlcppconn)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MysqlConnector REQUIRED_VARS MYSQLCPPCONN_LIBRARY
                                                               MYSQLCPPCONN_INCLUDE_DIR)
if(MysqlConnector_FOUND AND NOT TARGET MysqlConnector::cppconn)
  add_library(MysqlConnector::cppconn UNKNOWN IMPORTED)
  set_target_properties(
    MysqlConnector::cppconn PROPERTIES IMPORTED_LOCATION ${MYSQLCPPCONN_LIBRARY}
                                       INTERFACE_INCLUDE_DIRECTORIES ${MYSQLCPPCONN_INCLUDE_DIR})
endif()
