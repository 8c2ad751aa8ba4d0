#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/cluster/cluster_options.h"

namespace carillon::cluster {
namespace {

using Properties = std::map<std::string, std::string>;

class KafkaOptionsTest : public ::testing::Test {
 protected:
  KafkaOptionsTest()
      : password_file_(::testing::TempDir() + "carillon-password-" + std::to_string(getpid())) {
    std::ofstream(password_file_) << "secret\n";
  }
  ~KafkaOptionsTest() override { std::filesystem::remove(password_file_); }

  static Result<kafka::KafkaOptions> Options(const std::vector<config::Override>& flags) {
    const auto config = config::Load({.flags = flags});
    if (!config.ok()) return config.error();
    return KafkaOptionsOf(*config, "carillon-test");
  }

  const std::string password_file_;
};

TEST_F(KafkaOptionsTest, NothingIsToldUnlessItIsAskedFor) {
  const auto options = Options({});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->properties, Properties());
  EXPECT_EQ(options->client_id, "carillon-test");
}

TEST_F(KafkaOptionsTest, VerifiesNamesAndAuthority) {
  const auto options = Options({{"kafka.tls", "verify", ""}, {"kafka.tls_ca_file", "/ca", ""}});
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->properties, (Properties{{"security.protocol", "SSL"},
                                             {"ssl.ca.location", "/ca"},
                                             {"enable.ssl.certificate.verification", "true"},
                                             {"ssl.endpoint.identification.algorithm", "https"}}));
}

TEST_F(KafkaOptionsTest, ThePasswordComesFromItsFile) {
  const auto options = Options({{"kafka.sasl", "scram-sha-256", ""},
                                {"kafka.user", "carillon", ""},
                                {"kafka.password_file", password_file_, ""}});
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->properties, (Properties{{"security.protocol", "SASL_PLAINTEXT"},
                                             {"sasl.mechanism", "SCRAM-SHA-256"},
                                             {"sasl.username", "carillon"},
                                             {"sasl.password", "secret"}}));
}

TEST_F(KafkaOptionsTest, SaslOverTlsWithAClientsCertificate) {
  const auto options = Options({{"kafka.tls", "required", ""},
                                {"kafka.tls_certificate_file", "/c", ""},
                                {"kafka.tls_key_file", "/k", ""},
                                {"kafka.sasl", "plain", ""},
                                {"kafka.user", "carillon", ""},
                                {"kafka.password_file", password_file_, ""}});
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->properties.at("security.protocol"), "SASL_SSL");
  EXPECT_EQ(options->properties.at("sasl.mechanism"), "PLAIN");
  EXPECT_EQ(options->properties.at("ssl.certificate.location"), "/c");
  EXPECT_EQ(options->properties.at("ssl.key.location"), "/k");
  EXPECT_EQ(options->properties.at("enable.ssl.certificate.verification"), "false");
}

TEST_F(KafkaOptionsTest, APasswordThatCannotBeReadNamesItsSetting) {
  const auto options = Options({{"kafka.sasl", "scram-sha-512", ""},
                                {"kafka.user", "carillon", ""},
                                {"kafka.password_file", "/nonexistent", ""}});
  ASSERT_FALSE(options.ok());
  EXPECT_EQ(options.error().message.rfind("kafka.password_file", 0), 0u) << options.error().message;
}

}  // namespace
}  // namespace carillon::cluster
