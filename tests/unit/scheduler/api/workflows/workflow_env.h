// Fixture with workflows, whose runs a test begins and steps as their owner would.
#pragma once

#include "common/domain/workflow/node_key.h"
#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {

class WorkflowEnv : public PeopleEnv {
 protected:
  json MakeJob(const std::string& id, json changes = json::object()) {
    changes["job_id"] = id;
    changes["cron_expression"] = nullptr;
    if (!changes.contains("name")) changes["name"] = "Job " + id;
    return Create(std::move(changes));
  }
  static json WorkflowBody(const std::string& id, const json& nodes) {
    return {{"job_id", id},
            {"name", "Workflow " + id},
            {"type", "workflow"},
            {"workflow", {{"nodes", nodes}}}};
  }
  json MakeWorkflow(const std::string& id, const json& nodes) {
    const Answer created = Post("/api/jobs", WorkflowBody(id, nodes));
    EXPECT_EQ(created.status, 201) << created.text;
    return created.body();
  }
  // load, then audit, and repair if audit fails.
  void MakeSales() {
    for (const char* job : {"load", "audit", "repair"}) MakeJob(job);
    MakeWorkflow("sales",
                 json::parse(R"([{"id": "load", "job": "load", "parameters": {"region": "eu"}},
                                 {"id": "audit", "job": "audit", "after": ["load"]},
                                 {"id": "repair", "job": "repair",
                                  "after": [{"node": "audit", "on": "failure",
                                             "if": "exit_code == 3", "recovers": true}]}])"));
  }

  Fence FenceOf(SegmentId segment) {
    return stores_.segments
        .Take({.member = MemberId("scheduler-1"),
               .incarnation = Incarnation("m1"),
               .generation = Generation(1),
               .segments = {segment}})
        ->fence;
  }
  // Executes the workflow and begins its run.
  std::string Begin(const std::string& job_id) {
    std::string run_id = Execute(job_id);
    BeginRun(run_id);
    return run_id;
  }
  void BeginRun(const std::string& run_id) {
    const RunRow row = stores_.runs.GetRun(*DecodeRunId(run_id))->row;
    const auto begun = stores_.workflows.Begin({.key = row.key,
                                                .segment = row.segment,
                                                .job_no = row.job_no,
                                                .attempt = row.attempt,
                                                .def_version = row.def_version},
                                               FenceOf(row.segment), clock_.Wall());
    ASSERT_TRUE(begun.ok()) << begun.error().message;
    ASSERT_EQ(begun->verdict, ClaimVerdict::kAccepted);
    Step(run_id);
  }
  void Step(const std::string& run_id) {
    const auto view = stores_.workflows.GetWorkflowRun(*DecodeRunId(run_id));
    ASSERT_TRUE(view.ok()) << view.error().message;
    const SegmentId segment = view->own.row.segment;
    const auto stepped = stores_.workflows.Step({{.run = view->run, .segment = segment}},
                                                FenceOf(segment), clock_.Wall());
    ASSERT_TRUE(stepped.ok()) << stepped.error().message;
  }
  json Nodes(const std::string& run_id) {
    const Answer answer = Get("/api/runs/" + run_id + "/nodes");
    EXPECT_EQ(answer.status, 200) << answer.text;
    return answer.body();
  }
  json Node(const std::string& run_id, const std::string& id) {
    const json shown = Nodes(run_id);
    for (const json& node : shown["nodes"]) {
      if (node["id"] == id) return node;
    }
    ADD_FAILURE() << "no node " << id << " in " << shown;
    return json::object();
  }
  // Ends the released run of a node, and takes the step that follows.
  void End(const std::string& run_id, const std::string& node, RunState state,
           std::optional<int> exit_code = {}) {
    Finish(Node(run_id, node).value("run_id", ""), {.state = state, .exit_code = exit_code});
    Step(run_id);
  }
};

}  // namespace carillon::test
