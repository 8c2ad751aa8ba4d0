// The contract of AuditStore.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class AuditStoreContract : public StoreContract<Factory> {};
TYPED_TEST_SUITE(AuditStoreContract, StoreFactories);

TYPED_TEST(AuditStoreContract, AuditIsNewestFirstAndByObject) {
  StoreDriver s = this->driver();
  for (int i = 0; i < 4; ++i) {
    ASSERT_OK(s.audit.RecordAudit({.at = kT0 + i * 1s,
                                   .actor = "ann",
                                   .action = "job.pause",
                                   .object_id = i % 2 == 0 ? "even" : "odd",
                                   .reason = "because \xe2\x82\xac" + std::to_string(i),
                                   .trace_id = "t",
                                   .changes_json = i == 3 ? "[1]" : ""}));
  }
  const std::vector<AuditRecord> all = s.v(s.audit.ListAudit({.limit = 3}));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].at, kT0 + 3s);
  EXPECT_EQ(all[0].actor, "ann");
  EXPECT_EQ(all[0].action, "job.pause");
  EXPECT_EQ(all[0].object_id, "odd");
  EXPECT_EQ(all[0].reason,
            "because \xe2\x82\xac"
            "3");
  EXPECT_EQ(all[0].trace_id, "t");
  EXPECT_EQ(all[0].changes_json, "[1]");
  EXPECT_EQ(all[1].changes_json, "");
  EXPECT_TRUE(s.v(s.audit.ListAudit({.object_id = "\u00e9ven"})).empty());
  const auto later = s.v(s.audit.ListAudit({.after_id = all[2].id}));
  ASSERT_EQ(later.size(), 2u);
  EXPECT_EQ(later[0].id, all[0].id);
  const auto rest = s.v(s.audit.ListAudit({.object_id = "even", .before_id = all[1].id}));
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].at, kT0);
  const auto oldest = s.v(s.audit.ListAudit({.oldest_first = true, .limit = 3}));
  ASSERT_EQ(oldest.size(), 3u);
  EXPECT_EQ(oldest[0].at, kT0);
  EXPECT_EQ(oldest[2].at, kT0 + 2s);
  const auto after =
      s.v(s.audit.ListAudit({.object_id = "odd", .after_id = oldest[1].id, .oldest_first = true}));
  ASSERT_EQ(after.size(), 1u);
  EXPECT_EQ(after[0].at, kT0 + 3s);
}

TYPED_TEST(AuditStoreContract, AuditRecordsOfOneGoKeepTheirOrder) {
  StoreDriver s = this->driver();
  std::vector<AuditRecord> records;
  for (int i = 0; i < 3; ++i) {
    records.push_back({.at = kT0 + 1s,
                       .actor = "ann\xc3\xa9",
                       .action = "job.apply",
                       .object_id = "j" + std::to_string(i),
                       .reason = "line\n\"quoted\" \\",
                       .trace_id = "t",
                       .changes_json = i == 0 ? "" : R"([{"path":"/a\n","to":"\"x\""}])"});
  }
  ASSERT_OK(s.audit.RecordAudits(records));
  ASSERT_OK(s.audit.RecordAudits({}));
  const std::vector<AuditRecord> all = s.v(s.audit.ListAudit({.oldest_first = true, .limit = 9}));
  ASSERT_EQ(all.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(all[i].at, records[i].at);
    EXPECT_EQ(all[i].actor, records[i].actor);
    EXPECT_EQ(all[i].action, records[i].action);
    EXPECT_EQ(all[i].object_id, records[i].object_id);
    EXPECT_EQ(all[i].reason, records[i].reason);
    EXPECT_EQ(all[i].trace_id, records[i].trace_id);
    EXPECT_EQ(all[i].changes_json, records[i].changes_json);
  }
}

TYPED_TEST(AuditStoreContract, AuditIsOfOnePersonOfActionsAndOfATime) {
  StoreDriver s = this->driver();
  const std::vector<std::array<std::string, 3>> done = {{"ann", "job.pause", "a"},
                                                        {"ann/ci", "job.execute", "a"},
                                                        {"anna", "job.execute", "b"},
                                                        {"ann", "job.execute", "b"},
                                                        {"ann0", "job.pause", "b"}};
  for (size_t i = 0; i < done.size(); ++i) {
    ASSERT_OK(s.audit.RecordAudit(
        {.at = kT0 + i * 48h, .actor = done[i][0], .action = done[i][1], .object_id = done[i][2]}));
  }
  // Returns the indexes in `done` of the records found, in the order in which they were found.
  const auto found = [&](const AuditFilter& filter) {
    std::vector<int64_t> places;
    for (const AuditRecord& one : s.v(s.audit.ListAudit(filter))) {
      places.push_back((one.at - kT0) / 48h);
    }
    if (filter.limit > done.size() && filter.before_id == UINT64_MAX) {
      const BoundedCount count = s.v(s.audit.CountAudit(filter));
      EXPECT_EQ(count.seen, places.size());
      EXPECT_TRUE(count.all);
    }
    return places;
  };
  using Places = std::vector<int64_t>;
  EXPECT_EQ(found({.actor = "ann"}), (Places{3, 1, 0}));
  EXPECT_EQ(found({.actor = "ann/ci"}), (Places{1}));
  EXPECT_EQ(found({.actor = "nobody"}), (Places{}));
  EXPECT_EQ(found({.actor = "\u00fc"}), (Places{}));
  EXPECT_EQ(found({.actor = "ann", .oldest_first = true, .limit = 2}), (Places{0, 1}));
  EXPECT_EQ(found({.actions = {"job.execute"}}), (Places{3, 2, 1}));
  EXPECT_EQ(found({.actions = {"job.pause", "job.execute"}, .limit = 3}), (Places{4, 3, 2}));
  EXPECT_EQ(found({.actions = {"job.pause", "job.pause"}}), (Places{4, 0}));
  EXPECT_EQ(found({.actions = {"job.create"}}), (Places{}));
  EXPECT_EQ(found({.actions = {"\u00fc"}}), (Places{}));
  EXPECT_EQ(found({.actor = "ann", .actions = {"job.execute"}}), (Places{3, 1}));
  EXPECT_EQ(found({.object_id = "a", .actor = "ann", .actions = {"job.execute"}}), (Places{1}));
  EXPECT_EQ(found({.object_id = "b", .actor = "ann"}), (Places{3}));
  // Times are compared to the microsecond, independently of the order of ids.
  EXPECT_EQ(found({.since = kT0 + 96h}), (Places{4, 3, 2}));
  EXPECT_EQ(found({.since = kT0 + 96h + 1us}), (Places{4, 3}));
  EXPECT_EQ(found({.until = kT0 + 96h}), (Places{1, 0}));
  EXPECT_EQ(found({.since = kT0 + 48h, .until = kT0 + 144h}), (Places{2, 1}));
  EXPECT_EQ(found({.since = kT0 + 1000h}), (Places{}));
  EXPECT_EQ(found({.until = kT0 - 1000h}), (Places{}));
  EXPECT_EQ(found({.actor = "ann", .since = kT0 + 1h, .until = kT0 + 200h}), (Places{3, 1}));
  // Written by a member whose clock is behind: its number is higher, but its time is earlier.
  ASSERT_OK(s.audit.RecordAudit(
      {.at = kT0 + 192h - 30min, .actor = "late", .action = "job.pause", .object_id = "c"}));
  EXPECT_EQ(found({.until = kT0 + 192h}), (Places{3, 3, 2, 1, 0}));
  EXPECT_EQ(found({.since = kT0 + 192h - 20min}), (Places{4}));
  const auto first = s.v(s.audit.ListAudit({.actor = "ann", .limit = 1}));
  EXPECT_EQ(found({.actor = "ann", .before_id = first[0].id, .limit = 9}), (Places{1, 0}));
}

}  // namespace carillon::test
