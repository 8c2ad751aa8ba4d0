// TLS to a real MariaDB: the servers that a connection trusts, and those that it refuses.
#include "tests/contract/mysql/mysql_handle.h"
#include "tests/support/certificate_files.h"
#include "tests/support/fake_mysql_server.h"
#include "tests/support/java_process.h"

namespace carillon::test {
namespace {

constexpr const char* kPassword = "correct horse";

// A server that listens on loopback, with the certificate and key `stem`; without them, no TLS.
class ListeningServer {
 public:
  ListeningServer(const CertificateFiles& files, const std::string& stem) : port_(FreePort()) {
    std::vector<std::string> arguments = {"--skip-networking=0", "--bind-address=127.0.0.1",
                                          "--port=" + std::to_string(port_)};
    if (!stem.empty()) {
      arguments.push_back("--ssl-cert=" + files.Path(stem + ".crt"));
      arguments.push_back("--ssl-key=" + files.Path(stem + ".key"));
    } else if (OnMysql()) {
      arguments.push_back(
          "--tls-version=");  // it would use the certificate that it made for itself
    }
    // The server may run as another user, who must be able to read the files.
    std::filesystem::permissions(files.Path(""), std::filesystem::perms::all);
    auto started =
        mysql::PrivateMariadbd::Start(OfTestServer({.directory = scratch_.path() + "/mariadb",
                                                    .buffer_pool_bytes = 32 << 20,
                                                    .redo_log_bytes = 16 << 20,
                                                    .durable = false,
                                                    .arguments = arguments}),
                                      clock_);
    CARILLON_CHECK(started.ok(), started.error().message);
    server_ = std::move(started).value();
    auto session =
        mysql::Session::Connect({.socket_path = server_->socket_path(), .user = server_->user()});
    CARILLON_CHECK(session.ok(), session.error().message);
    for (const std::string& statement :
         {std::string("CREATE DATABASE carillon"),
          std::string("CREATE USER carillon@'%' IDENTIFIED BY '") + kPassword + "'",
          std::string("GRANT ALL ON carillon.* TO carillon@'%'")}) {
      const Status done = (*session)->Run(statement);
      CARILLON_CHECK(done.ok(), done.error().message);
    }
  }

  mysql::SessionOptions Options(mysql::TlsMode tls, const std::string& ca_file = "") const {
    return {.host = "127.0.0.1",
            .port = port_,
            .user = "carillon",
            .password = kPassword,
            .database = "carillon",
            .tls = tls,
            .tls_ca_file = ca_file};
  }
  mysql::SessionOptions OverSocket() const {
    return {.socket_path = server_->socket_path(), .user = "carillon", .password = kPassword};
  }
  // Runs a statement as an administrator.
  void Run(const std::string& statement) const {
    auto session =
        mysql::Session::Connect({.socket_path = server_->socket_path(), .user = server_->user()});
    CARILLON_CHECK(session.ok(), session.error().message);
    const Status done = (*session)->Run(statement);
    CARILLON_CHECK(done.ok(), done.error().message);
  }
  // Returns the cipher of the connection; "" if it is not encrypted.
  static std::string Cipher(mysql::Session& session) {
    auto rows = session.Ask("SHOW SESSION STATUS LIKE 'Ssl_cipher'");
    EXPECT_TRUE(rows.ok() && rows->Next());
    return rows->Text(2);
  }

 private:
  SystemClock clock_;
  ScratchDirectory scratch_{ScratchPlace::kMemory};
  const uint16_t port_;
  std::unique_ptr<mysql::PrivateMariadbd> server_;
};

class MysqlTlsTest : public ::testing::Test {
 protected:
  static void ExpectRefused(const mysql::SessionOptions& options) {
    const auto session = mysql::Session::Connect(options);
    ASSERT_FALSE(session.ok());
    EXPECT_EQ(session.code(), ErrorCode::kUnavailable) << session.error().message;
  }

  CertificateFiles files_;
};

TEST_F(MysqlTlsTest, AServerIsVerifiedWhenThatIsAskedFor) {
  files_.Issue("server", "localhost");
  const ListeningServer server(files_, "server");
  auto verified =
      mysql::Session::Connect(server.Options(mysql::TlsMode::kVerify, files_.ca_file()));
  ASSERT_TRUE(verified.ok()) << verified.error().message;
  EXPECT_NE(ListeningServer::Cipher(**verified), "");
  const CertificateFiles others;
  ExpectRefused(server.Options(mysql::TlsMode::kVerify, others.ca_file()));
  ExpectRefused(server.Options(mysql::TlsMode::kVerify, files_.Path("missing")));
  auto required = mysql::Session::Connect(server.Options(mysql::TlsMode::kRequired));
  ASSERT_TRUE(required.ok()) << required.error().message;
  EXPECT_NE(ListeningServer::Cipher(**required), "");
}

TEST_F(MysqlTlsTest, AStoreWorksOverTls) {
  files_.Issue("server", "localhost");
  const ListeningServer server(files_, "server");
  const auto store = mysql::MysqlStores::Open(
      {.session = server.Options(mysql::TlsMode::kVerify, files_.ca_file()),
       .pool_size = 4,
       .segment_count = 4,
       .check_server = false});
  ASSERT_TRUE(store.ok()) << store.error().message;
  EXPECT_TRUE((*store)->segments.Now().ok());
}

TEST_F(MysqlTlsTest, AnotherNameIsRefused) {
  files_.Issue("server", "elsewhere.example", {"192.0.2.1"});
  const ListeningServer server(files_, "server");
  ExpectRefused(server.Options(mysql::TlsMode::kVerify, files_.ca_file()));
  EXPECT_TRUE(mysql::Session::Connect(server.Options(mysql::TlsMode::kRequired)).ok());
}

// On MySQL with caching_sha2_password, whose server knows no password after FLUSH PRIVILEGES: the
// sign-in then asks for its key, or sends the password inside of TLS.
TEST_F(MysqlTlsTest, EachModeSignsInWhenTheServerKnowsNobodyYet) {
  files_.Issue("server", "localhost");
  const ListeningServer server(files_, "server");
  for (const auto& options :
       {server.Options(mysql::TlsMode::kOff), server.Options(mysql::TlsMode::kRequired),
        server.Options(mysql::TlsMode::kVerify, files_.ca_file()), server.OverSocket()}) {
    SCOPED_TRACE(static_cast<int>(options.tls));
    server.Run("FLUSH PRIVILEGES");
    for (const char* time : {"first", "again"}) {
      const auto session = mysql::Session::Connect(options);
      EXPECT_TRUE(session.ok()) << time << ": " << session.error().message;
    }
    mysql::SessionOptions wrong = options;
    wrong.password = "wrong";
    EXPECT_EQ(mysql::Session::Connect(wrong).code(), ErrorCode::kDenied);
  }
}

TEST_F(MysqlTlsTest, AServerThatAcceptsOnlyTlsNamesTheSetting) {
  files_.Issue("server", "localhost");
  const ListeningServer server(files_, "server");
  server.Run("SET GLOBAL require_secure_transport = ON");
  const auto refused = mysql::Session::Connect(server.Options(mysql::TlsMode::kOff));
  ASSERT_FALSE(refused.ok());
  if (OnMysql()) {
    EXPECT_EQ(refused.code(), ErrorCode::kUnavailable);
    EXPECT_NE(refused.error().message.find("store.tls"), std::string::npos)
        << refused.error().message;
  } else {
    EXPECT_EQ(refused.code(), ErrorCode::kDenied);  // MariaDB does not say why
  }
  EXPECT_TRUE(mysql::Session::Connect(server.Options(mysql::TlsMode::kRequired)).ok());
}

TEST_F(MysqlTlsTest, AServerWithoutTlsIsRefused) {
  const ListeningServer server(files_, "");
  ExpectRefused(server.Options(mysql::TlsMode::kRequired));
  ExpectRefused(server.Options(mysql::TlsMode::kVerify, files_.ca_file()));
  auto plain = mysql::Session::Connect(server.Options(mysql::TlsMode::kOff));
  ASSERT_TRUE(plain.ok()) << plain.error().message;
  EXPECT_EQ(ListeningServer::Cipher(**plain), "");
}

// Otherwise whoever stands between a client and its server asks for the password, and gets it.
TEST(SignInTest, WithoutTlsAServerThatMustHaveItLearnsNothing) {
  struct Lure {
    const char* plugin;
    std::string answer;
  };
  const std::string clear = std::string("\xfe") + "mysql_clear_password" + '\0';
  for (const Lure& lure :
       {Lure{"caching_sha2_password", "\x01\x04"}, Lure{"mysql_native_password", clear},
        Lure{"mysql_clear_password", clear}, Lure{"sha256_password", "\x01\x04"}}) {
    for (const uint32_t offered : {0u, FakeMysqlServer::kOffersTls}) {
      for (const auto tls : {mysql::TlsMode::kRequired, mysql::TlsMode::kVerify}) {
        SCOPED_TRACE(fmt::format("{} {} {}", lure.plugin, offered, static_cast<int>(tls)));
        CertificateFiles files;
        FakeMysqlServer server(offered, lure.plugin, lure.answer);
        const auto session = mysql::Session::Connect({.host = "127.0.0.1",
                                                      .port = server.port(),
                                                      .user = "carillon",
                                                      .password = kPassword,
                                                      .database = "carillon",
                                                      .tls = tls,
                                                      .tls_ca_file = files.ca_file()});
        ASSERT_FALSE(session.ok());
        EXPECT_EQ(session.code(), ErrorCode::kUnavailable) << session.error().message;
        const std::string& received = server.Received();
        EXPECT_EQ(received.find(kPassword), std::string::npos);
        EXPECT_EQ(received.find("carillon"), std::string::npos);
        if (offered == 0) {
          EXPECT_EQ(received, "");
          EXPECT_NE(session.error().message.find("store.tls"), std::string::npos)
              << session.error().message;
        }
      }
    }
  }
}

TEST(SignInTest, WithoutTlsNoServerIsGivenThePasswordInClearText) {
  for (const std::string lure : {"mysql_clear_password", "dialog"}) {
    for (const std::string& first : {lure, std::string("mysql_native_password")}) {
      SCOPED_TRACE(first + " " + lure);
      FakeMysqlServer server(0, first, "\xfe" + lure + std::string("\0Password:", 10));
      const auto session = mysql::Session::Connect(
          {.host = "127.0.0.1", .port = server.port(), .user = "carillon", .password = kPassword});
      ASSERT_FALSE(session.ok());
      EXPECT_EQ(session.code(), ErrorCode::kUnavailable);
      EXPECT_NE(session.error().message.find("store.tls"), std::string::npos)
          << session.error().message;
      EXPECT_EQ(server.Received().find(kPassword), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace carillon::test
