#include "tests/support/kafka_broker.h"

#include <filesystem>
#include <sstream>

#include "common/base/check.h"

namespace carillon::test {

KafkaBroker::KafkaBroker() : KafkaBroker(KafkaSecurity{}) {}

KafkaBroker::KafkaBroker(const KafkaSecurity& security)
    : log_path_(scratch_ / "log"),
      port_(FreePort()),
      controller_port_(FreePort()),
      security_(security),
      tls_port_(FreePort()),
      mutual_port_(FreePort()),
      sasl_port_(FreePort()),
      process_(std::make_unique<JavaProcess>(std::vector<std::string>{"kafka.Kafka", WriteConfig()},
                                             log_path_)) {}

std::string KafkaBroker::WriteConfig() const {
  std::ostringstream text;
  text << "process.roles=broker,controller\nnode.id=1\n"
       << "controller.quorum.voters=1@127.0.0.1:" << controller_port_ << "\n"
       << "listeners=PLAINTEXT://127.0.0.1:" << port_
       << ",CONTROLLER://127.0.0.1:" << controller_port_ << Doors()
       << "\nadvertised.listeners=PLAINTEXT://127.0.0.1:" << port_ << Doors() << "\n"
       << "controller.listener.names=CONTROLLER\nlog.dirs=" << scratch_ / "data"
       << "\n"
       << "auto.create.topics.enable=false\noffsets.topic.replication.factor=1\n"
       << "offsets.topic.num.partitions=1\ntransaction.state.log.replication.factor=1\n"
       << "transaction.state.log.min.isr=1\ngroup.initial.rebalance.delay.ms=0\n"
       << "log.cleaner.dedupe.buffer.size=4194304\n"
       << "log.retention.check.interval.ms=500\nlog.segment.delete.delay.ms=0\n"
       << SecurityConfig();
  WriteFile(scratch_ / "server.properties", text.str());
  return scratch_ / "server.properties";
}

std::string KafkaBroker::Doors() const {
  if (!secured()) return "";
  return ",TLS://" + tls() + ",MUTUAL://" + mutual() + ",SASL://" + sasl();
}

std::string KafkaBroker::SecurityConfig() const {
  if (!secured()) return "";
  const std::string plain = "org.apache.kafka.common.security.plain.PlainLoginModule required";
  const std::string scram = "org.apache.kafka.common.security.scram.ScramLoginModule required;";
  return "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,TLS:SSL,"
         "MUTUAL:SSL,SASL:SASL_SSL\n"
         "inter.broker.listener.name=PLAINTEXT\n"
         "listener.name.mutual.ssl.client.auth=required\n"
         "ssl.keystore.type=PEM\nssl.truststore.type=PEM\n"
         "ssl.keystore.location=" +
         security_.keystore_file + "\nssl.truststore.location=" + security_.ca_file +
         "\nlistener.name.sasl.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256\n"
         "listener.name.sasl.plain.sasl.jaas.config=" +
         plain + " user_" + security_.user + "=\"" + security_.password +
         "\";\nlistener.name.sasl.scram-sha-256.sasl.jaas.config=" + scram + "\n";
}

void KafkaBroker::Start() {
  if (!std::filesystem::exists(scratch_ / "data")) {
    std::vector<std::string> arguments = {
        "kafka.tools.StorageTool", "format", "-t",
        "Q2FyaWxsb25UZXN0cw",      "-c",     scratch_ / "server.properties"};
    if (secured()) {
      arguments.insert(arguments.end(),
                       {"--add-scram", "SCRAM-SHA-256=[name=\"" + security_.user +
                                           "\",password=\"" + security_.password + "\"]"});
    }
    JavaProcess format(arguments, log_path_);
    format.Start();
    CARILLON_CHECK(format.Wait() == 0, "Kafka's storage cannot be formatted: " + log());
  }
  process_->Start();
}

}  // namespace carillon::test
