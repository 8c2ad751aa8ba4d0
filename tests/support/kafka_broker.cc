#include "tests/support/kafka_broker.h"

#include <filesystem>
#include <sstream>

#include "common/base/check.h"

namespace carillon::test {

KafkaBroker::KafkaBroker()
    : log_path_(scratch_ / "log"),
      port_(FreePort()),
      controller_port_(FreePort()),
      process_(std::make_unique<JavaProcess>(std::vector<std::string>{"kafka.Kafka", WriteConfig()},
                                             log_path_)) {}

std::string KafkaBroker::WriteConfig() const {
  std::ostringstream text;
  text << "process.roles=broker,controller\nnode.id=1\n"
       << "controller.quorum.voters=1@127.0.0.1:" << controller_port_ << "\n"
       << "listeners=PLAINTEXT://127.0.0.1:" << port_
       << ",CONTROLLER://127.0.0.1:" << controller_port_
       << "\nadvertised.listeners=PLAINTEXT://127.0.0.1:" << port_ << "\n"
       << "controller.listener.names=CONTROLLER\nlog.dirs=" << scratch_ / "data"
       << "\n"
       << "auto.create.topics.enable=false\noffsets.topic.replication.factor=1\n"
       << "offsets.topic.num.partitions=1\ntransaction.state.log.replication.factor=1\n"
       << "transaction.state.log.min.isr=1\ngroup.initial.rebalance.delay.ms=0\n"
       << "log.cleaner.dedupe.buffer.size=4194304\n"
       << "log.retention.check.interval.ms=500\nlog.segment.delete.delay.ms=0\n";
  WriteFile(scratch_ / "server.properties", text.str());
  return scratch_ / "server.properties";
}

void KafkaBroker::Start() {
  if (!std::filesystem::exists(scratch_ / "data")) {
    JavaProcess format({"kafka.tools.StorageTool", "format", "-t", "Q2FyaWxsb25UZXN0cw", "-c",
                        scratch_ / "server.properties"},
                       log_path_);
    format.Start();
    CARILLON_CHECK(format.Wait() == 0, "Kafka's storage cannot be formatted: " + log());
  }
  process_->Start();
}

}  // namespace carillon::test
