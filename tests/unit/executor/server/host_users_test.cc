// The users as whom jobs may run, and the line of the start-up report about them.
#include "executor/server/host_users.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <set>

namespace carillon::executor {
namespace {

std::set<std::string> silent;  // names for which the directory of users does not answer

Result<ProcessUser> FakeLookUp(const std::string& name) {
  if (silent.contains(name))
    return {ErrorCode::kUnavailable, "look up user " + name + ": I/O error"};
  if (name == "nobody2") return {ErrorCode::kNotFound, "this host has no user nobody2"};
  const bool root = name == "root" || name == "toor";
  return ProcessUser{.name = name,
                     .uid = root ? 0u : 1000u,
                     .gid = 1000,
                     .groups = {1000},
                     .home = "/home/" + name};
}

std::optional<ErrorCode> own_fault;

Result<ProcessUser> FakeOwn() {
  if (own_fault) return {*own_fault, "look up user with the id 7"};
  return ProcessUser{.name = "carillon", .uid = 7, .home = "/var/lib/carillon"};
}

class HostUsersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    silent.clear();
    own_fault.reset();
  }
};

TEST_F(HostUsersTest, OnlyAllowedUsersAreFound) {
  HostUsers users({"alice", "nobody2"}, &FakeLookUp);
  EXPECT_EQ(users.Find("alice").code(), ErrorCode::kUnavailable) << "not looked up yet";
  users.Step(SteadyTime(1s));
  EXPECT_EQ(users.Find("alice")->home, "/home/alice");
  EXPECT_EQ(users.Find("nobody2").code(), ErrorCode::kNotFound);
  EXPECT_EQ(users.Find("bert").code(), ErrorCode::kDenied);
  EXPECT_EQ(users.Find("root").code(), ErrorCode::kDenied);
}

TEST_F(HostUsersTest, RootOnlyByItsName) {
  HostUsers users({"toor", "root"}, &FakeLookUp);
  users.Step(SteadyTime(1s));
  EXPECT_EQ(users.Find("toor").code(), ErrorCode::kDenied);
  EXPECT_TRUE(users.Find("root").ok());
}

TEST_F(HostUsersTest, WhatWasFoundIsKeptWhileTheDirectoryIsSilent) {
  HostUsers users({"alice"}, &FakeLookUp);
  EXPECT_EQ(users.Step(SteadyTime(1s)), SteadyTime(61s));
  silent = {"alice"};
  users.Step(SteadyTime(61s));
  EXPECT_TRUE(users.Find("alice").ok());
}

TEST_F(HostUsersTest, ItsOwnUserIsKnownWithoutBeingAllowed) {
  HostUsers users({}, &FakeLookUp, &FakeOwn);
  EXPECT_EQ(users.Own().code(), ErrorCode::kUnavailable) << "not looked up yet";
  own_fault = ErrorCode::kUnavailable;
  users.Step(SteadyTime(1s));
  EXPECT_EQ(users.Own().code(), ErrorCode::kUnavailable);
  own_fault = ErrorCode::kNotFound;
  users.Step(SteadyTime(1s));
  EXPECT_EQ(users.Own().code(), ErrorCode::kNotFound);
  own_fault.reset();
  users.Step(SteadyTime(1s));
  EXPECT_EQ(users.Own()->home, "/var/lib/carillon");
  for (const ErrorCode fault : {ErrorCode::kUnavailable, ErrorCode::kNotFound}) {
    own_fault = fault;
    users.Step(SteadyTime(61s));
    EXPECT_EQ(users.Own()->home, "/var/lib/carillon") << "kept, or processes would lose HOME";
  }
}

TEST_F(HostUsersTest, ItsOwnUserIsLookedUpAgainSoonUntilItIsFound) {
  HostUsers users({}, &FakeLookUp, &FakeOwn);
  own_fault = ErrorCode::kNotFound;
  EXPECT_EQ(users.Step(SteadyTime(1s)), SteadyTime(3s));
  own_fault.reset();
  EXPECT_EQ(users.Step(SteadyTime(3s)), SteadyTime(63s));
}

TEST_F(HostUsersTest, ASilentDirectoryIsAskedAgainSoonForAUserNotKnown) {
  HostUsers users({"alice"}, &FakeLookUp, &FakeOwn);
  silent = {"alice"};
  EXPECT_EQ(users.Step(SteadyTime(1s)), SteadyTime(3s));
  EXPECT_EQ(users.Step(SteadyTime(3s)), SteadyTime(5s));
  silent.clear();
  EXPECT_EQ(users.Step(SteadyTime(5s)), SteadyTime(65s));
  silent = {"alice"};
  EXPECT_EQ(users.Step(SteadyTime(65s)), SteadyTime(125s)) << "she is known";
}

TEST_F(HostUsersTest, TheReportNamesAHomeThatIsNone) {
  const auto of = [](std::string home) {
    return CheckHome(ProcessUser{.name = "carillon", .home = std::move(home)});
  };
  EXPECT_EQ(of("/").state, HostCheckState::kWorks);
  for (const char* home : {"", "/nonexistent", "/etc/hostname", "/etc/hostname/x"}) {
    EXPECT_EQ(of(home).state, HostCheckState::kPartly) << home;
    EXPECT_FALSE(of(home).cure.empty());
  }
  const HostCheck none = CheckHome(Error{ErrorCode::kNotFound, "this host has no user 7"});
  EXPECT_EQ(none.detail, "Processes have no HOME: this host has no user 7.");
  const HostCheck silent_one = CheckHome(Error{ErrorCode::kUnavailable, "look up: I/O error"});
  EXPECT_EQ(silent_one.state, HostCheckState::kNo);
  EXPECT_EQ(silent_one.detail, "No process starts: look up: I/O error.");
}

TEST_F(HostUsersTest, TheHostsOwnDirectoryIsAsked) {
  const auto own = LookUpOwnUser();
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(own->uid, geteuid());
  EXPECT_TRUE(own->home.starts_with('/')) << own->home;
  const auto root = LookUpUser("root");
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(root->uid, 0u);
  EXPECT_FALSE(root->groups.empty());
  EXPECT_EQ(LookUpUser("no-such-user-here").code(), ErrorCode::kNotFound);
}

TEST_F(HostUsersTest, TheReportSaysWhyNotAndTheCure) {
  HostUsers users({"alice", "nobody2"}, &FakeLookUp);
  users.Step(SteadyTime(1s));
  const HostCheck works{.name = "run_as", .detail = "/var/lib/carillon-runs"};
  EXPECT_EQ(CheckRunAs(works, {}, users).state, HostCheckState::kNo);
  EXPECT_EQ(CheckRunAs(std::nullopt, {"alice"}, users).state, HostCheckState::kNo);
  const HostCheck not_root{
      .name = "run_as", .state = HostCheckState::kNo, .detail = "not root", .cure = "root"};
  EXPECT_EQ(CheckRunAs(not_root, {"alice"}, users), not_root);
  EXPECT_EQ(CheckRunAs(works, {"alice"}, users).detail, "As alice.");
  const HostCheck partly = CheckRunAs(works, {"alice", "nobody2"}, users);
  EXPECT_EQ(partly.state, HostCheckState::kPartly);
  EXPECT_NE(partly.detail.find("nobody2"), std::string::npos) << partly.detail;
  EXPECT_FALSE(partly.cure.empty());
}

}  // namespace
}  // namespace carillon::executor
