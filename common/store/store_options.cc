#include "common/store/store_options.h"

#include "common/process/process.h"

namespace carillon::store {

Result<mysql::SessionOptions> SessionOptionsOf(const config::Config& config) {
  mysql::SessionOptions options{.host = config.Text("store.host"),
                                .port = static_cast<int>(config.Integer("store.port")),
                                .user = config.Text("store.user"),
                                .database = config.Text("store.database"),
                                .tls = mysql::TlsModeOf(config.Text("store.tls")),
                                .tls_ca_file = config.Text("store.tls_ca_file")};
  const std::string& file = config.Text("store.password_file");
  if (file.empty()) return options;
  CARILLON_ASSIGN_OR_RETURN(options.password, process::ReadSecretFile(file, "store.password_file"));
  return options;
}

}  // namespace carillon::store
