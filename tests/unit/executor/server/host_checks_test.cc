#include "executor/server/host_checks.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace carillon::executor {
namespace {

HostFacts Good() {
  return {.user = "carillon",
          .open_files = 1'048'576,
          .directory = "/var/lib/carillon",
          .free_bytes = uint64_t{100} << 30,
          .interpreters = {{Interpreter::kSh, "/bin/sh"}},
          .path = "/usr/bin:/bin",
          .slots = 8};
}

HostCheck Of(const HostFacts& facts, const std::string& name) {
  const std::vector<HostCheck> checks = DecideHostChecks(facts);
  const auto found = std::find_if(checks.begin(), checks.end(),
                                  [&](const HostCheck& check) { return check.name == name; });
  return found == checks.end() ? HostCheck{} : *found;
}

TEST(HostChecksTest, WhatWorksNeedsNoCure) {
  for (const char* name : {"user", "open_files", "directory", "script:sh"}) {
    const HostCheck check = Of(Good(), name);
    EXPECT_EQ(check.state, HostCheckState::kWorks) << name;
    EXPECT_FALSE(check.detail.empty()) << name;
    EXPECT_TRUE(check.cure.empty()) << name;
  }
}

TEST(HostChecksTest, AMissingInterpreterSaysWhereItWasLookedFor) {
  const HostCheck check = Of(Good(), "script:php");
  EXPECT_EQ(check.state, HostCheckState::kNo);
  EXPECT_NE(check.detail.find("/usr/bin:/bin"), std::string::npos) << check.detail;
  EXPECT_EQ(check.cure, "Install php: it is looked for every 30 s.");
}

TEST(HostChecksTest, WhatIsScarceIsSaidWithItsCure) {
  HostFacts facts = Good();
  facts.root = true;
  facts.slots = 1000;
  facts.open_files = 1024;
  facts.free_bytes = 1 << 20;
  for (const char* name : {"user", "open_files", "directory"}) {
    const HostCheck check = Of(facts, name);
    EXPECT_EQ(check.state, HostCheckState::kPartly) << name;
    EXPECT_FALSE(check.cure.empty()) << name;
  }
}

TEST(HostChecksTest, WithoutADoorForWorkersItSaysWhy) {
  EXPECT_EQ(DecideWorkersCheck("/run/w.sock", {}).state, HostCheckState::kWorks);
  const HostCheck check =
      DecideWorkersCheck("/run/w.sock", {ErrorCode::kUnavailable, std::string(5000, 'x')});
  EXPECT_EQ(check.state, HostCheckState::kNo);
  EXPECT_FALSE(check.cure.empty());
  EXPECT_LE(std::max(check.detail.size(), check.cure.size()), kHostCheckBytesMax);
}

TEST(HostChecksTest, TheReportFitsIntoARegistration) {
  HostFacts facts = Good();
  facts.path = std::string(5000, 'x');
  facts.directory = std::string(5000, '\xff');
  ReadHost(&facts);
  EXPECT_FALSE(facts.user.empty());
  EXPECT_GT(facts.open_files, 0u);
  const std::vector<HostCheck> checks = DecideHostChecks(facts);
  EXPECT_LE(checks.size(), kHostChecksMax);
  for (const HostCheck& check : checks) {
    EXPECT_LE(std::max({check.name.size(), check.detail.size(), check.cure.size()}),
              kHostCheckBytesMax);
  }
}

}  // namespace
}  // namespace carillon::executor
