// Fixture of the claim applier: the real parts of a member, and an executor that claims.
#pragma once

#include "common/adapters/memory/memory_link.h"
#include "scheduler/claims/claim_applier.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {

inline const LeaseHolder kHolder{ExecutorId("x1"), Incarnation("e1")};

class ClaimApplierTest : public test::RoomTest {
 protected:
  ClaimApplierTest()
      : hub_(switchboard_.OpenHub(MemberId("m1"))),
        link_(switchboard_.OpenLink(kHolder.executor, kHolder.incarnation)) {}

  ClaimApplier Make() { return Make(leases_); }
  ClaimApplier Make(
      LeaseTable& leases, std::function<Duration(const ClaimRequest&)> late_after =
                              [](const auto&) { return Duration::zero(); }) {
    return ClaimApplier({.clock = clock_,
                         .store = faults_.firing,
                         .cluster = cluster_,
                         .segments = table_,
                         .fences = fences_,
                         .leases = leases,
                         .applied = applied_,
                         .hub = *hub_,
                         .claims = claims_,
                         .events = events_,
                         .metrics = metrics_,
                         .definitions = definitions_,
                         .executors = executors_,
                         .checkpoints = stores_.checkpoints,
                         .checkpoint_answers = checkpoint_answers_,
                         .secrets = &resolver_,
                         .settings = settings_,
                         .assigned = assigned_,
                         .late_after = std::move(late_after)},
                        {});
  }
  // The executor says what it can do.
  void Beat(Features features, const std::map<std::string, HandlerSlots>& handlers = {}) {
    Heartbeat beat;
    beat.features = features;
    beat.handlers = handlers;
    ASSERT_TRUE(executors_.HeartbeatFrom(kHolder.executor, kHolder.incarnation, beat, clock_.Wall(),
                                         clock_.Steady()));
  }
  void Ask(const std::vector<ClaimRequest>& requests) {
    ASSERT_TRUE(
        claims_
            .Push({kHolder, clock_.Steady(), {.sent_us = 5, .batch_id = 7, .requests = requests}})
            .ok());
  }
  std::vector<ClaimBatchReply::Item> Answers() {
    std::vector<ClaimBatchReply::Item> items;
    for (const MemberMessage& message : link_->Receive(100)) {
      const auto& reply = std::get<ClaimBatchReply>(message.message);
      EXPECT_EQ(reply.batch_id, 7u);
      EXPECT_EQ(reply.sent_us, 5);
      items.insert(items.end(), reply.items.begin(), reply.items.end());
    }
    return items;
  }
  std::vector<RunEvent> Events() {
    std::vector<RunEvent> all;
    for (const RunEvents& batch : events_.PopUpTo(100)) {
      all.insert(all.end(), batch.events.begin(), batch.events.end());
    }
    return all;
  }

  // Starts a run of a job that anna owns and that uses this secret.
  RunRow ExecuteWithSecret(const std::string& secret, const std::string& job = "job") {
    JobDefinition definition;
    definition.command = "true";
    definition.env = {{"PASSWORD", "{{secrets." + secret + "}}"}};
    definition.user_id = "anna";
    return Execute(CreateJob(job, definition));
  }
  ClaimRequest WantingClaimOf(const RunRow& row, uint64_t token) {
    ClaimRequest request = ClaimOf(row, token);
    request.wants_secrets = true;
    return request;
  }
  // The executor can take secrets from then on.
  void PutSecret(const std::string& name, const std::string& value) {
    executors_.Accept({.id = kHolder.executor, .incarnation = kHolder.incarnation, .slots = 4},
                      clock_.Steady());
    Beat({Feature::kSecrets});
    const StoredSecret secret{
        .record = {.name = name, .user_id = "anna", .key_id = keys_->current()},
        .value = keys_->Seal(name, value)};
    ASSERT_TRUE(stores_.secrets.CreateSecret(secret).ok());
  }

  memory::MemorySwitchboard switchboard_;
  std::unique_ptr<ExecutorHub> hub_;
  std::unique_ptr<ExecutorLink> link_;
  ClaimQueue claims_{"claims", 64};
  CheckpointAnswerQueue checkpoint_answers_{"checkpoint_answers", 64};
  DefinitionCache definitions_{clock_, faults_.firing, {}};
  ExecutorTable executors_{{}};
  const std::shared_ptr<const Keyring> keys_ =
      std::make_shared<const Keyring>(Keyring::Parse(Keyring::NewKey()).value());
  const FixedKeys key_source_{keys_};
  const SecretResolver resolver_{faults_.secrets, key_source_};
};

}  // namespace carillon::scheduler
