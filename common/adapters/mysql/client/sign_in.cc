#include "common/adapters/mysql/client/sign_in.h"

#include <mysql.h>
#include <mysql/plugin_auth.h>

#include <array>
#include <cstring>
#include <utility>

// The header that declares it, mysql/client_plugin.h, needs one that Debian does not have.
extern "C" st_mysql_client_plugin* mysql_client_register_plugin(MYSQL* mysql,
                                                                st_mysql_client_plugin* plugin);

namespace carillon::mysql {
namespace {

constexpr int kAuthenticationType = 2;
constexpr unsigned int kInterfaceVersion = 0x0100;
constexpr int kRefused = CR_ERROR;

struct Way : st_mysql_client_plugin {
  int (*sign_in)(MYSQL_PLUGIN_VIO*, MYSQL*);
};

thread_local std::string refused;

int Refuse(const char* reason) {
  refused = reason;
  return kRefused;
}

int SignInWithTlsFirst(MYSQL_PLUGIN_VIO* connection, MYSQL* mysql) {
  unsigned long capabilities = 0;
  if (mariadb_get_infov(mysql, MARIADB_CONNECTION_SERVER_CAPABILITIES, &capabilities) != 0)
    return kRefused;
  if ((capabilities & CLIENT_SSL) == 0)
    return Refuse("store.tls asks for TLS and the server has none");
  // This is the first packet, before which the library starts TLS.
  if (connection->write_packet(connection, nullptr, 0) != 0) return kRefused;
  if (mysql_get_ssl_cipher(mysql) == nullptr)
    return Refuse("store.tls asks for TLS and there is none");
  return CR_OK;
}

int SignInWithClearText(MYSQL_PLUGIN_VIO* connection, MYSQL* mysql) {
  MYSQL_PLUGIN_VIO_INFO info{};
  connection->info(connection, &info);
  if (info.protocol != MYSQL_PLUGIN_VIO_INFO::MYSQL_VIO_SOCKET &&
      mysql_get_ssl_cipher(mysql) == nullptr) {
    return Refuse(
        "the server asks for the password in clear text: set store.tls to required or verify");
  }
  const int size = static_cast<int>(std::strlen(mysql->passwd)) + 1;
  const auto* password = reinterpret_cast<const unsigned char*>(mysql->passwd);
  return connection->write_packet(connection, password, size) == 0 ? CR_OK : kRefused;
}

Way MakeWay(const char* name, int (*sign_in)(MYSQL_PLUGIN_VIO*, MYSQL*)) {
  Way way{};
  way.type = kAuthenticationType;
  way.interface_version = kInterfaceVersion;
  way.name = name;
  way.author = "Carillon";
  way.desc = "sign-in that is encrypted";
  way.license = "Apache-2.0";
  way.sign_in = sign_in;
  return way;
}

}  // namespace

Status AddWaysToSignIn() {
  // The library keeps the pointers.
  static std::array ways = {MakeWay(kTlsFirst, SignInWithTlsFirst),
                            MakeWay("mysql_clear_password", SignInWithClearText),
                            MakeWay("dialog", SignInWithClearText)};
  MYSQL* const handle = mysql_init(nullptr);
  if (handle == nullptr) return {ErrorCode::kExhausted, "connect: no memory"};
  Status added;
  for (Way& way : ways) {
    if (mysql_client_register_plugin(handle, &way) != nullptr) continue;
    added = {ErrorCode::kUnavailable,
             std::string("connect: ") + way.name + ": " + mysql_error(handle)};
  }
  mysql_close(handle);
  return added;
}

std::string TakeRefusedSignIn() { return std::exchange(refused, {}); }

}  // namespace carillon::mysql
