#include "common/domain/nodes/node_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "common/domain/job/job.h"
#include "common/domain/job/job_mistakes.h"
#include "common/domain/job_text.h"
#include "common/domain/nodes/node_wait.h"
#include "common/domain/nodes/task_jobs.h"
#include "common/domain/run/outputs.h"
#include "common/domain/template/job_templates.h"
#include "common/domain/template/node_template.h"
#include "common/domain/template/template_text.h"

namespace carillon {
namespace {

constexpr size_t kJobShownMax = 64;
constexpr size_t kApproverBytesMax = 64;
// The release adds ";items=1000", and ";as=" with a name, to the rules.
constexpr size_t kItemsTextMax = 80;
constexpr size_t kOverBytesMax = 1'000;

class NodeChecker {
 public:
  explicit NodeChecker(const WorkflowNode& node) : node_(node) {}

  std::vector<Error> Check() && {
    CheckKind();
    CheckRules();
    if (!node_.task.empty()) CheckTaskOf(node_.task.job());
    if (node_.approval) CheckApproval(*node_.approval);
    if (node_.wait) CheckWait(*node_.wait);
    CheckMapped();
    return std::move(mistakes_);
  }

 private:
  void Note(std::string pointer, std::string message) {
    mistakes_.push_back(InvalidAt(std::move(pointer), std::move(message)));
  }
  void NoteRange(std::string pointer, int64_t value, int64_t least, int64_t most) {
    if (value >= least && value <= most) return;
    Note(std::move(pointer), fmt::format("is {}; it must be from {} to {}", value, least, most));
  }

  void CheckKind() {
    std::vector<std::string_view> kinds;
    if (!node_.job.empty()) kinds.push_back("job");
    if (!node_.task.empty()) kinds.push_back("task");
    if (node_.approval) kinds.push_back("approval");
    if (node_.wait) kinds.push_back("wait");
    if (kinds.empty()) return Note("/job", "a node needs one of job, task, approval and wait");
    if (kinds.size() > 1) {
      return Note(fmt::format("/{}", kinds[1]),
                  fmt::format("a node has only one of job, task, approval and wait, and this one "
                              "has a {}",
                              kinds[0]));
    }
    if (!node_.job.empty() && !ValidateJobId(node_.job.value()).ok()) {
      Note("/job", fmt::format("'{}' is not the id of a job",
                               std::string_view(node_.job.value()).substr(0, kJobShownMax)));
    }
    if (!RunsSomething() && !node_.parameters.empty()) {
      Note("/parameters", node_.approval ? "an approval has none; write the placeholders in its "
                                           "message"
                                         : "a wait has none");
    }
  }

  bool RunsSomething() const { return !node_.job.empty() || !node_.task.empty(); }

  void CheckRules() {
    const std::string rules = ToText(node_.rules);
    if (rules.empty()) return;
    if (node_.job.empty()) return NoteMisplaced(rules);
    const std::string first = "/" + rules.substr(0, rules.find('='));
    if (!node_.rules.type.empty() || node_.rules.items) {
      return Note(first, "is decided when the node starts");
    }
    const JobDefinition probe{.name = "job", .type = JobType::kNoop};
    for (Error& mistake : FindMistakes(WithRules(probe, node_.rules))) {
      mistakes_.push_back(std::move(mistake));
    }
    CheckSize(node_.rules, "");
  }

  // `rules`: of a node without a job, as ToText.
  void NoteMisplaced(std::string_view rules) {
    while (!rules.empty()) {
      const std::string_view name = rules.substr(0, rules.find('='));
      Note(fmt::format("/{}", name),
           node_.task.empty() ? "has an effect on a node with a job only"
                              : fmt::format("set it in the task: {{command: ..., {}: ...}}", name));
      rules.remove_prefix(std::min(rules.size(), rules.find(';')));
      if (!rules.empty()) rules.remove_prefix(1);
    }
  }

  void CheckSize(const RunRules& rules, std::string_view place) {
    const size_t bytes = ToText(rules).size();
    if (bytes + kItemsTextMax <= kRunRulesBytesMax) return;
    Note(fmt::format("{}/executor_selector", place),
         fmt::format("the rules of the node have {} bytes in all; at most {} are allowed", bytes,
                     kRunRulesBytesMax - kItemsTextMax));
  }

  void CheckTaskOf(const JobDefinition& task) {
    const Status allowed = CheckTask(task);
    if (!allowed.ok()) return Note(allowed.error().pointer, allowed.error().message);
    JobDefinition named = task;
    named.name = "task";
    for (Error& mistake : FindMistakes(named)) {
      Note("/task" + mistake.pointer, std::move(mistake.message));
    }
    CheckSize(RulesOfTask(task), "/task");
    for (const JobTemplate& one : TemplatesOf(task)) CheckParametersOf(one);
  }

  // Nobody but the node gives a task parameters.
  void CheckParametersOf(const JobTemplate& text) {
    std::set<std::string> missing;
    const auto note = [&](std::string_view name) -> Status {
      if (!name.starts_with(kParameterPrefix)) return {};
      const std::string parameter(name.substr(kParameterPrefix.size()));
      if (!node_.parameters.contains(parameter) && parameter != node_.as) missing.insert(parameter);
      return {};
    };
    // What is malformed has been reported.
    if (!ScanTemplate(text.text, kSkipText, note).ok()) return;
    for (const std::string& name : missing) {
      Note("/task" + text.pointer,
           fmt::format("the node gives the task no parameter '{}'", name.substr(0, kJobShownMax)));
    }
  }

  void CheckApproval(const Approval& approval) {
    if (std::string fault = TextFault(approval.message, kApprovalMessageBytesMax); !fault.empty()) {
      Note("/approval/message", std::move(fault));
    }
    if (approval.timeout_s != 0) {
      NoteRange("/approval/timeout_s", approval.timeout_s, kApprovalTimeoutMinS,
                kApprovalTimeoutMaxS);
    } else if (approval.approves_on_timeout) {
      Note("/approval/on_timeout", "has no effect without timeout_s");
    }
    if (approval.by.size() > kApproversMax) {
      Note("/approval/by", fmt::format("has {} entries; at most {} are allowed", approval.by.size(),
                                       kApproversMax));
    }
    std::set<std::string_view> known;
    for (size_t i = 0; i < approval.by.size(); ++i) {
      const std::string& user = approval.by[i];
      const std::string pointer = fmt::format("/approval/by/{}", i);
      std::string fault = user.empty() ? "is empty" : TextFault(user, kApproverBytesMax);
      if (fault.empty() && std::ranges::any_of(user, IsControl)) {
        fault = "contains a control character";
      }
      if (fault.empty() && !known.insert(user).second) fault = "is listed twice";
      if (!fault.empty()) Note(pointer, std::move(fault));
    }
  }

  void CheckWait(const NodeWait& wait) {
    const bool until = !wait.until.empty();
    if (until == (wait.for_s != 0)) {
      Note(until ? "/wait/for_s" : "/wait/until", "a wait needs one of until and for_s");
    }
    if (wait.for_s != 0) NoteRange("/wait/for_s", wait.for_s, 1, kWaitForMaxS);
    NoteRange("/wait/day", wait.day, 0, kWaitDayMax);
    if (!until && wait.day != 0) Note("/wait/day", "has an effect with until only");
    // What is malformed as a template is reported as one.
    if (!until || !ExpressionsOf(wait.until).ok()) return;
    const Status checked = CheckUntil(wait.until);
    if (!checked.ok()) Note("/wait/until", checked.error().message);
  }

  void CheckMapped() {
    if (node_.over.empty()) {
      for (const auto& [name, value] : {std::pair("as", &node_.as), {"collect", &node_.collect}}) {
        if (!value->empty()) Note(fmt::format("/{}", name), "has an effect with over only");
      }
      return;
    }
    if (!RunsSomething()) return Note("/over", "only a node with a job or a task runs for items");
    CheckOver();
    if (!IsVariableName(node_.as)) {
      Note("/as", node_.as.empty() ? "is missing: the parameter that has the item"
                                   : "must be 1 to 63 letters, digits and _, not beginning with a "
                                     "digit");
    }
    const auto same = std::ranges::find_if(node_.parameters, [&](const auto& parameter) {
      return AsciiUpper(parameter.first) == AsciiUpper(node_.as);
    });
    if (same != node_.parameters.end()) {
      Note("/as", fmt::format("is the parameter '{}' of the node, too", same->first));
    }
    if (!node_.collect.empty() && !IsOutputName(node_.collect)) {
      Note("/collect", "is not the name of an output");
    }
  }

  void CheckOver() {
    const auto expressions = ExpressionsOf(node_.over);
    if (!expressions.ok()) return;  // reported as a template
    bool alone = true;
    const auto literal = [&alone](std::string_view part) { alone = alone && part.empty(); };
    const auto skip = [](std::string_view) { return Status(); };
    static_cast<void>(ScanTemplate(node_.over, literal, skip).ok());
    using Kind = NodeExpression::Kind;
    const bool is_list = alone && expressions->size() == 1 &&
                         (expressions->front().kind == Kind::kOutput ||
                          expressions->front().kind == Kind::kWorkflowParameter);
    if (is_list && node_.over.size() <= kOverBytesMax) return;
    Note("/over",
         "must be one {{nodes.ID.outputs.NAME}} or {{workflow.parameters.NAME}} and nothing else");
  }

  const WorkflowNode& node_;
  std::vector<Error> mistakes_;
};

}  // namespace

bool HasKind(const WorkflowNode& node) {
  return !node.job.empty() || !node.task.empty() || node.approval || node.wait;
}

std::vector<Error> FindNodeMistakes(const WorkflowNode& node) { return NodeChecker(node).Check(); }

}  // namespace carillon
