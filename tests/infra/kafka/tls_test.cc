// TLS and SASL to a real broker: the servers that a client trusts, and how it signs in.
#include <gtest/gtest.h>

#include "common/adapters/kafka/kafka_bus.h"
#include "common/adapters/kafka/kafka_topics.h"
#include "tests/support/certificate_files.h"
#include "tests/support/kafka_broker.h"

namespace carillon::test {
namespace {

using Properties = std::map<std::string, std::string>;

// The time for which a test observes a client that is refused. The client retries all the time.
constexpr Duration kRefusedWithin = 3s;

class KafkaTlsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    files_ = new CertificateFiles;
    files_->Issue("broker", "localhost");
    files_->Issue("client", "carillon");
    files_->Write("broker.pem",
                  ReadFile(files_->Path("broker.key")) + ReadFile(files_->Path("broker.crt")));
    broker_ = new KafkaBroker({.keystore_file = files_->Path("broker.pem"),
                               .ca_file = files_->ca_file(),
                               .user = "carillon",
                               .password = "secret-password"});
    broker_->Start();
  }
  static void TearDownTestSuite() {
    delete broker_;
    delete files_;
  }

  static Properties Tls(const std::string& ca_file) {
    return {{"security.protocol", "SSL"},
            {"ssl.ca.location", ca_file},
            {"enable.ssl.certificate.verification", "true"},
            {"ssl.endpoint.identification.algorithm", "https"}};
  }
  static Properties With(Properties properties, const Properties& more) {
    for (const auto& [name, value] : more) properties[name] = value;
    return properties;
  }
  static Properties Sasl(const std::string& mechanism, const std::string& password) {
    return With(Tls(files_->ca_file()), {{"security.protocol", "SASL_SSL"},
                                         {"sasl.mechanism", mechanism},
                                         {"sasl.username", "carillon"},
                                         {"sasl.password", password}});
  }
  static Status Make(const std::string& bootstrap, const Properties& properties, Duration limit) {
    return kafka::EnsureTopics({.bootstrap = bootstrap, .properties = properties},
                               {{.name = "carillon.tasks", .partitions = 1}}, limit);
  }
  // Creates the topic, writes a record and reads it.
  static void ExpectWorks(const std::string& bootstrap, const Properties& properties) {
    const kafka::KafkaOptions options{.bootstrap = bootstrap, .properties = properties};
    const Status made = Make(bootstrap, properties, 60s);
    ASSERT_TRUE(made.ok()) << made.error().message << broker_->log();
    Metrics metrics;
    auto producer = kafka::NewProducer({.kafka = options, .partitions = 1}, metrics);
    ASSERT_TRUE(producer.ok()) << producer.error().message;
    auto consumer =
        kafka::NewConsumer({.kafka = options,
                            .topic = "carillon.tasks",
                            .group = "of " + bootstrap + " " + properties.at("security.protocol"),
                            .partitions = {0}});
    ASSERT_TRUE(consumer.ok()) << consumer.error().message;
    ASSERT_TRUE((*producer)->Send("carillon.tasks", 0, {.payload = "hello"}).ok());
    bool read = false;
    EXPECT_TRUE(WaitUntil([&] {
      const auto records = (*consumer)->Poll(10);
      if (records.ok()) read = read || !records->empty();
      return read;
    }));
  }
  static void ExpectRefused(const std::string& bootstrap, const Properties& properties) {
    const Status made = Make(bootstrap, properties, kRefusedWithin);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.code(), ErrorCode::kUnavailable) << made.error().message;
  }

  static CertificateFiles* files_;
  static KafkaBroker* broker_;
};

CertificateFiles* KafkaTlsTest::files_ = nullptr;
KafkaBroker* KafkaTlsTest::broker_ = nullptr;

TEST_F(KafkaTlsTest, RecordsCrossTlsAndOtherAuthoritiesAreRefused) {
  ExpectWorks(broker_->tls(), Tls(files_->ca_file()));
  const CertificateFiles others;
  ExpectRefused(broker_->tls(), Tls(others.ca_file()));
  // The server's certificate is not verified, as with `kafka.tls: required`.
  ExpectWorks(broker_->tls(), {{"security.protocol", "SSL"},
                               {"enable.ssl.certificate.verification", "false"},
                               {"ssl.endpoint.identification.algorithm", "none"}});
}

TEST_F(KafkaTlsTest, ABrokerInTheClearIsRefusedWhenTlsIsAskedFor) {
  ExpectWorks(broker_->bootstrap(), {{"security.protocol", "PLAINTEXT"}});
  ExpectRefused(broker_->bootstrap(), Tls(files_->ca_file()));
}

TEST_F(KafkaTlsTest, AClientsCertificateIsShownWhereItIsWanted) {
  ExpectRefused(broker_->mutual(), Tls(files_->ca_file()));
  ExpectWorks(broker_->mutual(), With(Tls(files_->ca_file()),
                                      {{"ssl.certificate.location", files_->Path("client.crt")},
                                       {"ssl.key.location", files_->Path("client.key")}}));
}

TEST_F(KafkaTlsTest, UsersSignInWithTheirPassword) {
  ExpectWorks(broker_->sasl(), Sasl("PLAIN", "secret-password"));
  ExpectRefused(broker_->sasl(), Sasl("PLAIN", "wrong-password"));
}

// docs/security.md describes this limit of librdkafka before 2.6.1; later versions sign in.
TEST_F(KafkaTlsTest, ScramIsAsGoodAsTheLibrary) {
  ExpectRefused(broker_->sasl(), Sasl("SCRAM-SHA-256", "wrong-password"));
  if (kafka::ScramFitsNewBrokers()) {
    ExpectWorks(broker_->sasl(), Sasl("SCRAM-SHA-256", "secret-password"));
  } else {
    ExpectRefused(broker_->sasl(), Sasl("SCRAM-SHA-256", "secret-password"));
  }
}

}  // namespace
}  // namespace carillon::test
