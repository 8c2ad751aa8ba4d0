#include "common/wire/json/coordination_json.h"

#include <gtest/gtest.h>

namespace carillon {
namespace {

TEST(CoordinationJsonTest, MemberComesBackAsItWas) {
  MemberInfo member{MemberId("scheduler-1"), Incarnation("00ff"), "http://h:1", "h:2", "0.1.0"};
  member.ops_url = "http://h:3";
  member.schema = 2;
  const auto parsed = ParseMember(MemberText(member));
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(*parsed, member);
}

// The names for the two states of a member differ, and do not look like a sequence number
// of the election.
TEST(CoordinationJsonTest, WhatAMemberTellsIsNoMember) {
  EXPECT_EQ(AnnouncedName(Incarnation("00ff"), true), "00ff-paused");
  EXPECT_EQ(AnnouncedName(Incarnation("00ff"), false), "00ff-running");
}

TEST(CoordinationJsonTest, MemberOfANewerVersionIsRead) {
  const auto parsed = ParseMember(R"({"id": "a", "incarnation": "b", "weight": 3})");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(*parsed, (MemberInfo{MemberId("a"), Incarnation("b"), "", ""}));
  for (const char* schema : {"-1", "1.5", "\"2\"", "null", "4294967296"}) {
    const auto odd =
        ParseMember(std::string(R"({"id": "a", "incarnation": "b", "schema": )") + schema + "}");
    ASSERT_TRUE(odd.ok()) << schema;
    EXPECT_EQ(odd->schema, 0) << schema;
  }
}

TEST(CoordinationJsonTest, UnreadableMembersAreRefused) {
  for (const char* text : {"", "{", "[]", "null", "{}", R"({"id": "a"})", R"({"incarnation": "b"})",
                           R"({"id": 1, "incarnation": "b"})", "{\"id\": \"\xff\"}"}) {
    EXPECT_EQ(ParseMember(text).code(), ErrorCode::kCorrupt) << text;
  }
}

TEST(CoordinationJsonTest, AssignmentComesBackAsItWas) {
  Assignment assignment{Generation(41), {}};
  for (uint32_t i = 0; i < 100; ++i) {
    assignment.owners[SegmentId(i)] = MemberId(i % 3 == 0 ? "a" : "b");
  }
  const auto parsed = ParseAssignment(AssignmentText(assignment));
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(*parsed, assignment);
}

// 4,096 segments with the longest names fit into a node of the coordinator.
TEST(CoordinationJsonTest, LargestAssignmentFitsIntoANode) {
  Assignment assignment{Generation(UINT64_MAX), {}};
  for (uint32_t i = 0; i < 4096; ++i) {
    assignment.owners[SegmentId(i)] = MemberId(std::string(60, 'm') + std::to_string(i % 256));
  }
  const std::string text = AssignmentText(assignment);
  EXPECT_LT(text.size(), 128u << 10);
  EXPECT_EQ(ParseAssignment(text).value_or({}), assignment);
}

TEST(CoordinationJsonTest, NothingWrittenYetIsAnEmptyAssignment) {
  EXPECT_EQ(ParseAssignment("").value_or({Generation(9), {}}), Assignment{});
}

TEST(CoordinationJsonTest, UnreadableAssignmentsAreRefused) {
  for (const char* text : {"{", "[]", "null", "{}", R"({"generation": 1, "members": []})",
                           R"({"generation": -1, "members": [], "owners": []})",
                           R"({"generation": 1.5, "members": [], "owners": []})",
                           R"({"generation": 1, "members": [1], "owners": []})",
                           R"({"generation": 1, "members": {}, "owners": []})",
                           R"({"generation": 1, "members": ["a"], "owners": [[0, 1]]})",
                           R"({"generation": 1, "members": ["a"], "owners": [[0]]})",
                           R"({"generation": 1, "members": ["a"], "owners": [[-1, 0]]})",
                           R"({"generation": 1, "members": ["a"], "owners": [[4294967296, 0]]})",
                           R"({"generation": 1, "members": ["a"], "owners": [[0, 0], [0, 0]]})"}) {
    EXPECT_EQ(ParseAssignment(text).code(), ErrorCode::kCorrupt) << text;
  }
}

TEST(CoordinationJsonTest, SettingsComeBackAsTheyWere) {
  const ClusterSettings settings{.version = 41,
                                 .values = {{"log.level", "debug"}, {"odd \"name\"", ""}}};
  const auto parsed = ParseSettings(SettingsText(settings));
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(*parsed, settings);
  EXPECT_EQ(ParseSettings("").value_or({.version = 9}), ClusterSettings{});
  const auto newer = ParseSettings(R"({"version": 1, "settings": {}, "author": "x"})");
  ASSERT_TRUE(newer.ok());
  EXPECT_EQ(newer->version, 1);
}

TEST(CoordinationJsonTest, UnreadableSettingsAreRefused) {
  for (const char* text :
       {"{", "[]", "{}", R"({"version": 1})", R"({"version": -1, "settings": {}})",
        R"({"version": 18446744073709551615, "settings": {}})",
        R"({"version": "1", "settings": {}})", R"({"version": 1, "settings": []})",
        R"({"version": 1, "settings": {"a": 1}})"}) {
    EXPECT_EQ(ParseSettings(text).code(), ErrorCode::kCorrupt) << text;
  }
}

TEST(CoordinationJsonTest, TrustComesBackAsItWas) {
  const StoreTrust trust{"store", "server", UINT64_MAX, FromUnixMicros(1'772'323'200'000'001)};
  const auto parsed = ParseTrust(TrustText(trust));
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(*parsed, trust);
  const auto none = ParseTrust("");
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->has_value());
}

// If an unreadable record counted as missing, any store that answers would be trusted.
TEST(CoordinationJsonTest, UnreadableTrustIsRefused) {
  for (const char* text :
       {"{", "[]", "null", "{}", R"({"store_id": "a", "server_id": "b", "mark": 1})",
        R"({"store_id": "a", "server_id": "b", "accepted_us": 0})",
        R"({"store_id": "a", "server_id": "b", "mark": -1, "accepted_us": 0})",
        R"({"store_id": "", "server_id": "b", "mark": 1, "accepted_us": 0})",
        R"({"store_id": "a", "mark": 1, "accepted_us": 0})",
        R"({"store_id": "a", "server_id": 7, "mark": 1, "accepted_us": 0})"}) {
    EXPECT_EQ(ParseTrust(text).code(), ErrorCode::kCorrupt) << text;
  }
}

}  // namespace
}  // namespace carillon
