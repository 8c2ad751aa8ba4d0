// The HTTP server and client over TLS: trust, and replacing certificates while the server runs.
#include <fstream>

#include "common/adapters/http/http_client.h"
#include "tests/support/certificate_files.h"
#include "tests/support/process_wait.h"
#include "tests/unit/common/adapters/http/echo_server.h"
#include "tests/unit/common/adapters/http/raw_socket.h"

namespace carillon::test {
namespace {

class HttpsTest : public ::testing::Test {
 protected:
  HttpsTest() { files_.Issue("server", "localhost"); }

  HttpServerOptions Options() const {
    return {.tls = {.certificate_file = files_.Path("server.crt"),
                    .key_file = files_.Path("server.key")}};
  }
  Result<HttpResponse> Ask(EchoServer& server, const std::string& ca_file) const {
    HttpClient client({.ca_file = ca_file});
    return client.Send({.url = server.server().url() + "/hello"});
  }
  void ExpectTrusted(EchoServer& server, const std::string& ca_file) const {
    const auto answer = Ask(server, ca_file);
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->body, "GET|hello|");
  }
  void ExpectRefused(EchoServer& server, const std::string& ca_file) const {
    const auto answer = Ask(server, ca_file);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.code(), ErrorCode::kUnavailable);  // nothing was sent
    EXPECT_NE(answer.error().message.find("certificate is not trusted"), std::string::npos)
        << answer.error().message;
  }

  CertificateFiles files_;
};

TEST_F(HttpsTest, ServesWhoTrustsItsAuthority) {
  EchoServer server(Options());
  EXPECT_EQ(server.server().url(), "https://127.0.0.1:" + std::to_string(server.port()));
  ExpectTrusted(server, files_.ca_file());
}

TEST_F(HttpsTest, KeepsAConnectionForManyRequestsWithBodies) {
  EchoServer server(Options());
  HttpClient client({.ca_file = files_.ca_file()});
  const std::string body(300'000, 'x');
  for (int i = 0; i < 5; ++i) {
    const auto answer =
        client.Send({.method = "POST", .url = server.server().url() + "/big", .body = body});
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->body, "POST|big|" + body);
  }
}

TEST_F(HttpsTest, TheClientRefusesAnotherAuthorityEvenOfTheSameName) {
  EchoServer server(Options());
  const CertificateFiles others;
  ExpectRefused(server, others.ca_file());
  ExpectRefused(server, "");  // the system does not trust this authority
}

TEST_F(HttpsTest, TheClientRefusesAnotherName) {
  files_.Issue("server", "elsewhere.example", {"192.0.2.1"});
  EchoServer server(Options());
  ExpectRefused(server, files_.ca_file());
}

TEST_F(HttpsTest, TheClientRefusesWhatExpired) {
  files_.Issue("server", "localhost", {"127.0.0.1"}, -1min);
  EchoServer server(Options());
  ExpectRefused(server, files_.ca_file());
}

TEST_F(HttpsTest, AFileThatIsNoListOfAuthoritiesIsTheCallersMistake) {
  EchoServer server(Options());
  EXPECT_EQ(Ask(server, files_.Path("missing")).code(), ErrorCode::kInvalid);
}

TEST_F(HttpsTest, WhoSpeaksNoTlsIsClosed) {
  EchoServer server(Options());
  RawSocket socket(server.port());
  ASSERT_TRUE(socket.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_EQ(socket.ReadToEnd().find("HTTP/1.1"), std::string::npos);
  EXPECT_TRUE(socket.closed());
  ExpectTrusted(server, files_.ca_file());
}

// Sends the first bytes of a client that supports at most TLS 1.1.
TEST_F(HttpsTest, OldVersionsOfTlsAreRefused) {
  EchoServer server(Options());
  RawSocket socket(server.port());
  std::string hello("\x16\x03\x01\x00\x2f\x01\x00\x00\x2b\x03\x02", 11);
  hello += std::string(32, 'r');
  hello += std::string("\x00\x00\x04\xc0\x13\x00\x2f\x01\x00", 9);
  ASSERT_TRUE(socket.Send(hello));
  const std::string answer = socket.ReadToEnd();
  ASSERT_GE(answer.size(), 7u);
  EXPECT_EQ(answer[0], '\x15');  // an alert
  EXPECT_EQ(answer[6], '\x46');  // protocol_version
}

TEST_F(HttpsTest, ClientsThatSayNothingDelayNobody) {
  EchoServer server(Options());
  std::vector<std::unique_ptr<RawSocket>> silent;
  for (int i = 0; i < 50; ++i) silent.push_back(std::make_unique<RawSocket>(server.port()));
  // Some of the silent clients stop in the middle of a handshake.
  for (int i = 0; i < 25; ++i) ASSERT_TRUE(silent[static_cast<size_t>(i)]->Send("\x16\x03\x01"));
  ExpectTrusted(server, files_.ca_file());
  for (const auto& socket : silent) EXPECT_FALSE(socket->closed());
}

TEST_F(HttpsTest, ClientsThatSayNothingAreClosedAndTheirPlacesFreed) {
  HttpServerOptions options = Options();
  options.connections_max = 3;
  options.read_timeout = 300ms;
  EchoServer server(options);
  std::vector<std::unique_ptr<RawSocket>> silent;
  for (int i = 0; i < 3; ++i) silent.push_back(std::make_unique<RawSocket>(server.port()));
  for (const auto& socket : silent) {
    EXPECT_EQ(socket->ReadToEnd(), "");
    EXPECT_TRUE(socket->closed());
  }
  ExpectTrusted(server, files_.ca_file());
}

TEST_F(HttpsTest, HandshakesCountAsConnectionsOfTheirAddress) {
  HttpServerOptions options = Options();
  options.address_connections_max = 1;
  options.read_timeout = 1h;
  EchoServer server(options);
  RawSocket silent(server.port());
  RawSocket more(server.port());
  EXPECT_EQ(more.ReadToEnd(), "");
  EXPECT_TRUE(more.closed());
  silent.Close();
  EXPECT_TRUE(WaitUntil([&] {
    HttpClient client({.ca_file = files_.ca_file()});
    return client.Send({.url = server.server().url() + "/"}).ok();
  }));
}

TEST_F(HttpsTest, ANewPairIsShownToNewConnections) {
  EchoServer server(Options());
  HttpClient standing({.ca_file = files_.ca_file()});
  ASSERT_TRUE(standing.Send({.url = server.server().url() + "/"}).ok());
  const CertificateFiles others;
  others.Issue("server", "localhost");
  std::filesystem::copy_file(others.Path("server.crt"), files_.Path("server.crt"),
                             std::filesystem::copy_options::overwrite_existing);
  // Only one of the two files was replaced, so the previous pair stays in use.
  EXPECT_EQ(server.server().ReloadCertificate().code(), ErrorCode::kUnavailable);
  ExpectTrusted(server, files_.ca_file());
  std::filesystem::copy_file(others.Path("server.key"), files_.Path("server.key"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(server.server().ReloadCertificate().ok());
  ExpectTrusted(server, others.ca_file());
  ExpectRefused(server, files_.ca_file());
  // Existing connections are kept.
  EXPECT_TRUE(standing.Send({.url = server.server().url() + "/"}).ok());
}

TEST_F(HttpsTest, ABadNewPairIsNeverShown) {
  EchoServer server(Options());
  for (const char* text : {"", "rubbish", "-----BEGIN CERTIFICATE-----\n"}) {
    files_.Write("server.crt", text);
    EXPECT_EQ(server.server().ReloadCertificate().code(), ErrorCode::kUnavailable);
    ExpectTrusted(server, files_.ca_file());
  }
  std::filesystem::remove(files_.Path("server.key"));
  EXPECT_EQ(server.server().ReloadCertificate().code(), ErrorCode::kUnavailable);
  ExpectTrusted(server, files_.ca_file());
}

TEST_F(HttpsTest, DoesNotStartWithoutAGoodPair) {
  SystemClock clock;
  EchoServer handler;
  const auto start = [&](const std::string& certificate, const std::string& key) {
    return HttpServer::Start({.tls = {.certificate_file = certificate, .key_file = key}}, handler,
                             clock)
        .code();
  };
  files_.Issue("other", "localhost");
  EXPECT_EQ(start(files_.Path("server.crt"), files_.Path("other.key")), ErrorCode::kUnavailable);
  EXPECT_EQ(start(files_.Path("missing"), files_.Path("server.key")), ErrorCode::kUnavailable);
  EXPECT_EQ(start(files_.Path("server.crt"), ""), ErrorCode::kUnavailable);
  EXPECT_EQ(start(files_.Path("server.key"), files_.Path("server.key")), ErrorCode::kUnavailable);
}

TEST_F(HttpsTest, TlsLiftsTheRuleOfLoopback) {
  SystemClock clock;
  EchoServer handler;
  HttpServerOptions options = Options();
  options.address = "0.0.0.0";
  options.advertise = "carillon.example";
  const auto started = HttpServer::Start(options, handler, clock);
  ASSERT_TRUE(started.ok()) << started.error().message;
  EXPECT_EQ((*started)->url(), "https://carillon.example:" + std::to_string((*started)->port()));
}

}  // namespace
}  // namespace carillon::test
