// Tests of the checks: each rule that the promises depend on is switched off, and the checks must
// notice it in some world. With the rule in place the same worlds are clean: sim_test.cc has
// them all.
#include <gtest/gtest.h>

#include <string>

#include <fmt/format.h>

#include "common/base/log.h"
#include "tests/sim/world.h"
#include "tests/support/failpoint_on.h"

namespace carillon::sim {
namespace {

struct BrokenRule {
  const char* name;
  const char* promise;  // beginning of the text of the promise that must be reported
  uint64_t seeds_max;   // within this many worlds
  uint64_t first = 1;   // seed of the first one: near a world that notices it, to save time
  bool delays = false;  // in worlds with delay schedules
  bool calendars = false;
  bool dependents = false;
  bool workflows = false;
  bool scripts = false;
  bool nested = false;
  bool lost_nodes = false;
  bool parts = false;
  bool letters = false;
  bool quiet = false;
  bool streaks = false;
  bool waits = false;
  bool events = false;
  bool approvals = false;
  bool finally = false;
  bool tasks = false;
  bool mapped = false;
};

void PrintTo(const BrokenRule& rule, std::ostream* out) { *out << rule.name; }

class BrokenRuleTest : public ::testing::TestWithParam<BrokenRule> {
 protected:
  BrokenRuleTest() {
    log::Configure({.level = log::Level::kOff});
    failpoint::Reset();
    failpoint::Break(GetParam().name);
  }
  ~BrokenRuleTest() override { failpoint::Reset(); }
};

TEST_P(BrokenRuleTest, IsNoticed) {
  const BrokenRule& rule = GetParam();
  for (uint64_t seed = rule.first; seed < rule.first + rule.seeds_max; ++seed) {
    const Outcome outcome = rule.calendars
                                ? Simulate({.seed = seed, .chaos = 240s, .calendars = true})
                                : Simulate({.seed = seed,
                                            .hangs = rule.quiet,
                                            .delays = rule.delays,
                                            .dependents = rule.dependents,
                                            .scripts = rule.scripts,
                                            .workflows = rule.workflows,
                                            .nested = rule.nested,
                                            .lost_nodes = rule.lost_nodes,
                                            .approvals = rule.approvals,
                                            .finally = rule.finally,
                                            .tasks = rule.tasks,
                                            .mapped = rule.mapped,
                                            .parts = rule.parts,
                                            .letters = rule.letters,
                                            .streaks = rule.streaks,
                                            .waits = rule.waits,
                                            .events = rule.events,
                                            .quiet = rule.quiet,
                                            .twin = rule.quiet});
    if (!outcome.violation || !outcome.violation->promise.starts_with(rule.promise)) continue;
    fmt::print("{}: seed {} step {}: {}: {}\n", rule.name, seed, outcome.step,
               outcome.violation->promise, outcome.violation->text);
    return;
  }
  FAIL() << "nothing noticed in " << rule.seeds_max << " worlds from seed " << rule.first;
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenRuleTest,
    ::testing::Values(
        BrokenRule{"fence", "P5", 40},                      // no epoch compared
        BrokenRule{"claim.token", "P", 40},                 // any token is "mine"
        BrokenRule{"lease.from_receipt", "P4", 1000, 451},  // not from sending
        BrokenRule{"lease.daemon_checks", "P4", 400, 178},  // instead of the warden
        BrokenRule{"lost.mark_first", "P4", 1000, 277},     // marked after the batch
        BrokenRule{"proof.from_receipt", "P4", 1000, 132},  // proofs age from receipt
        BrokenRule{"retry.version", "P8", 40},              // the old definition
        BrokenRule{"outcome.unknown", "P4", 1000, 364},     // what is not killed counts as dead
        // a result that a broken store refused counts as stored
        BrokenRule{"results.poison_unrecorded", "P6", 200, 71},
        // a record with a result of another member counts as that member's alone
        BrokenRule{"results.shared_record", "P6", 40, 40},
        // conditions of writes without a read; plain_contract.h has the others
        BrokenRule{"fast.claim.state", "run-states", 40},
        BrokenRule{"fast.claim.attempt", "P3", 1000, 483},  // an earlier task's claim
        BrokenRule{"fast.claim.version", "P8", 1000, 87},   // of before an edit
        BrokenRule{"fast.result.state", "run-states", 400, 364},
        // slots: no limit, no regard for the queue, no slot for an admitted run,
        // a place in the queue that stays, lateness from the fire
        BrokenRule{"claim.limit", "P8 overlap", 40},
        BrokenRule{"claim.queued_before", "P8 queue order", 200},
        BrokenRule{"admit.reserve", "P8 queue order", 400}, BrokenRule{"wait.delete", "queues", 40},
        BrokenRule{"misfire.from_fire", "queues", 200},
        // groups: claims by an old limit, no regard for the queue, a slot that a retry keeps
        BrokenRule{"group.limit_lock", "groups limit", 200, 3},
        BrokenRule{"group.queued_before", "groups order", 200, 3},
        BrokenRule{"group.free_on_retry", "groups slots", 200, 13},
        BrokenRule{"group.cooling", "groups time", 200, 3},     // slots are given again at once
        BrokenRule{"group.from_claim", "groups time", 400, 3},  // long before the process starts
        BrokenRule{"plan.next_after_now", "P1", 40},            // fires in a stall are lost
        BrokenRule{"sweep.lower_bound", "P1", 40},              // old rows are never seen
        // an attempt that never began ends its run
        BrokenRule{"run.given_back", "P1 given back", 400, 65},
        // planning by the calendars that were read first
        BrokenRule{"calendar.no_version_read", "calendars", 40, 1, false, true},
        // backfills: fires of the planner, and the parameters of the attempt before
        BrokenRule{"backfill.past_next", "backfill", 40, 24},
        BrokenRule{"request.any_attempt", "parameters", 40, 750},
        // fires that are taken for done because a workflow with the same fire ran the job as a
        // node, and such a node's run is run again
        BrokenRule{"backfill.any_kind", "", 40, 95, false, false, false, true},
        // the pause: missed fires skipped, overtaken ones run, each gate removed, nobody notified
        BrokenRule{"misfire.policy", "pause: misfires", 40},
        BrokenRule{"misfire.overtaken", "pause: misfires", 40, 41},
        BrokenRule{"pause.plan", "pause: gate", 40}, BrokenRule{"pause.publish", "pause: gate", 40},
        BrokenRule{"pause.claim", "pause: gate", 1000, 65},
        BrokenRule{"pause.told", "pause: told", 40},
        // the second end of a run makes a fire, too
        BrokenRule{"delay.any_end", "delay", 100, 1, true},
        BrokenRule{"after.key", "dependents", 40, 1, false, false, true},
        BrokenRule{"after.same_fire", "dependents", 40, 1, false, false, true},
        BrokenRule{"after.no_flag", "dependents", 40, 1, false, false, true},
        // scripts where they cannot run, and retries that the job excludes
        BrokenRule{"route.features", "features", 40, 1, false, false, false, false, true},
        BrokenRule{"retry.after", "P8 retry", 40, 1, false, false, false, false, true},
        BrokenRule{"retry.conditions", "P8 retry", 40, 1, false, false, false, false, true},
        // workflows: rules of the graph, too many nodes at once, results from before a retry
        BrokenRule{"edge.ignored_blocks", "workflows", 40, 1, false, false, false, true},
        BrokenRule{"edge.met_twice", "workflows", 40, 1, false, false, false, true},
        BrokenRule{"node.decided_early", "workflows", 40, 1, false, false, false, true},
        BrokenRule{"workflow.recovers", "workflows", 40, 36, false, false, false, true},
        BrokenRule{"workflow.max_parallel", "workflows", 40, 1, false, false, false, true},
        // begins: a retry runs everything again, a backfill continues what it should begin anew,
        // nodes do not know that they are backfilled
        BrokenRule{"begin.always_anew", "workflows", 40, 1, false, false, false, true},
        BrokenRule{"begin.never_anew", "workflows", 40, 1, false, false, false, true},
        BrokenRule{"node.origin", "workflows", 40, 1, false, false, false, true},
        // a nested workflow run goes on with what a node had given it that has run again since
        BrokenRule{.name = "retry.nested_continues",
                   .promise = "workflows",
                   .seeds_max = 40,
                   .first = 89,
                   .workflows = true,
                   .nested = true},
        // a backfill runs a workflow again beside the process of a node that was given up as lost
        BrokenRule{.name = "backfill.nodes_unasked",
                   .promise = "P4",
                   .seeds_max = 40,
                   .first = 750,
                   .workflows = true,
                   .lost_nodes = true},
        // approvals: the names of those who decide are not asked when a node is skipped, they
        // expire in a pause of the cluster, the end of a wait is computed anew by each step, and
        // nodes that only wait take places of max_parallel
        BrokenRule{.name = "approval.anybody_skips",
                   .promise = "nodes",
                   .seeds_max = 40,
                   .workflows = true,
                   .approvals = true},
        BrokenRule{.name = "approval.expires_in_pause",
                   .promise = "nodes",
                   .seeds_max = 80,
                   .workflows = true,
                   .approvals = true},
        BrokenRule{.name = "wait.by_now",
                   .promise = "nodes",
                   .seeds_max = 40,
                   .workflows = true,
                   .approvals = true},
        BrokenRule{.name = "opened.counts",
                   .promise = "workflows",
                   .seeds_max = 80,
                   .workflows = true,
                   .approvals = true},
        // finally nodes: they start beside the others, end with a cancel, and do not run again
        // after a retry; allowed failures count as successes
        BrokenRule{.name = "finally.early",
                   .promise = "workflows",
                   .seeds_max = 40,
                   .workflows = true,
                   .finally = true},
        BrokenRule{.name = "finally.cancelled",
                   .promise = "nodes",
                   .seeds_max = 40,
                   .workflows = true,
                   .finally = true},
        BrokenRule{.name = "finally.not_again",
                   .promise = "nodes",
                   .seeds_max = 80,
                   .workflows = true,
                   .finally = true},
        BrokenRule{.name = "rule.allowed_counts",
                   .promise = "workflows",
                   .seeds_max = 40,
                   .workflows = true,
                   .finally = true},
        // parts: those that a look was told of were counted before they ended, ends with a number
        // below the last one are never read, a cancel asks the own run alone, only hosts that
        // members believe to be online have parts, parts take slots of their job
        BrokenRule{
            .name = "parts.count_before_lock", .promise = "parts", .seeds_max = 40, .parts = true},
        BrokenRule{.name = "parts.late_ids",
                   .promise = "parts",
                   .seeds_max = 200,
                   .first = 10,
                   .parts = true},
        BrokenRule{
            .name = "parts.cancel_own_only", .promise = "parts", .seeds_max = 200, .parts = true},
        BrokenRule{
            .name = "parts.memory_membership", .promise = "parts", .seeds_max = 200, .parts = true},
        BrokenRule{.name = "parts.takes_slot", .promise = "parts", .seeds_max = 40, .parts = true},
        // dead letters count as published when they are sent
        BrokenRule{.name = "letters.mark_first",
                   .promise = "letters",
                   .seeds_max = 40,
                   .first = 21,
                   .letters = true},
        // pauses after failures: runs by hand count, and a job is looked at once in each version
        BrokenRule{
            .name = "streak.by_hand", .promise = "streaks", .seeds_max = 40, .streaks = true},
        BrokenRule{
            .name = "streak.seen_version", .promise = "streaks", .seeds_max = 40, .streaks = true},
        // waits for other jobs: runs that have not ended are overlooked, the newest fire may not be
        // planned yet, jobs before the other one are overlooked, tries by hand count, any success
        // of the window is enough, and a paused node is let go
        BrokenRule{.name = "await.by_end", .promise = "waits", .seeds_max = 40, .waits = true},
        BrokenRule{.name = "await.unplanned", .promise = "waits", .seeds_max = 40, .waits = true},
        BrokenRule{.name = "await.chain", .promise = "waits", .seeds_max = 40, .waits = true},
        BrokenRule{.name = "await.by_hand", .promise = "waits", .seeds_max = 40, .waits = true},
        BrokenRule{.name = "await.any_success", .promise = "waits", .seeds_max = 40, .waits = true},
        BrokenRule{.name = "await.resume",
                   .promise = "waits",
                   .seeds_max = 40,
                   .first = 11,
                   .waits = true},
        // events: known ones are not looked for, runs are written before their event, a pause or an
        // edit of before the call decides, texts of an event are not marked, positions in a topic
        // are committed before its events are accepted, and a topic begins when it is opened
        BrokenRule{.name = "event.key", .promise = "events once", .seeds_max = 40, .events = true},
        BrokenRule{
            .name = "event.split", .promise = "events once", .seeds_max = 40, .events = true},
        BrokenRule{
            .name = "event.paused", .promise = "events all", .seeds_max = 40, .events = true},
        BrokenRule{.name = "event.trigger_version",
                   .promise = "events parameters",
                   .seeds_max = 40,
                   .first = 7,
                   .events = true},
        BrokenRule{.name = "event.trusted",
                   .promise = "events untrusted",
                   .seeds_max = 40,
                   .events = true},
        BrokenRule{.name = "event.commit_first",
                   .promise = "events topics",
                   .seeds_max = 80,
                   .events = true},
        BrokenRule{.name = "event.topic_begin",
                   .promise = "events topics",
                   .seeds_max = 40,
                   .events = true},
        // quiet executors: silence judged by the usual interval, another process after the usual
        // wait, or by a heartbeat that another one has overtaken, few heartbeats although leases
        // depend on them
        BrokenRule{
            .name = "quiet.silence_fixed", .promise = "quiet", .seeds_max = 40, .quiet = true},
        BrokenRule{.name = "quiet.admit_fixed", .promise = "quiet", .seeds_max = 40, .quiet = true},
        BrokenRule{.name = "quiet.overtaken",
                   .promise = "quiet",
                   .seeds_max = 40,
                   .first = 20,
                   .quiet = true},
        BrokenRule{.name = "quiet.with_attempts",
                   .promise = "one dependency hangs",
                   .seeds_max = 40,
                   .quiet = true}),
    [](const auto& rule) {
      std::string name = rule.param.name;
      for (char& c : name) {
        if (c == '.') c = '_';
      }
      return name;
    });

}  // namespace
}  // namespace carillon::sim
