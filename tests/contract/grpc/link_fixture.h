// A hub and links to it, on loopback.
#pragma once

#include <gtest/gtest.h>

#include "common/adapters/grpc/grpc_hub.h"
#include "common/adapters/grpc/grpc_link.h"
#include "common/adapters/system/system_clock.h"
#include "tests/support/process_wait.h"

namespace carillon::test {

class GrpcLinkTest : public ::testing::Test {
 protected:
  static rpc::HubOptions HubOf(const std::string& member, uint16_t port = 0) {
    return {.member = MemberId(member),
            .public_key = std::string(32, member.back()),
            .join_secret = "secret",
            .port = port};
  }
  std::unique_ptr<rpc::GrpcHub> Hub(const rpc::HubOptions& options) {
    auto hub = rpc::GrpcHub::Start(options, clock_);
    EXPECT_TRUE(hub.ok()) << hub.error().message;
    return std::move(hub).value();
  }
  std::unique_ptr<rpc::GrpcLink> Link(const std::string& member, const std::string& address,
                                      const std::string& secret = "secret",
                                      size_t outbox_max = 16'384) {
    auto link = rpc::GrpcLink::Make({.executor = ExecutorId("e1"),
                                     .incarnation = Incarnation("x"),
                                     .join_secret = secret,
                                     .outbox_max = outbox_max},
                                    clock_);
    link->SetMembers({Info(member, address)});
    return link;
  }
  static MemberInfo Info(const std::string& member, const std::string& address) {
    return {MemberId(member), Incarnation("m"), "", address};
  }
  static uint16_t PortOf(const rpc::GrpcHub& hub) {
    const std::string endpoint = hub.endpoint();
    return static_cast<uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1)));
  }
  static bool Up(rpc::GrpcLink& link) {
    return WaitUntil([&] { return link.Members().size() == 1; });
  }
  static bool Down(rpc::GrpcLink& link) {
    return WaitUntil([&] { return link.Members().empty(); });
  }

  SystemClock clock_;
};

}  // namespace carillon::test
