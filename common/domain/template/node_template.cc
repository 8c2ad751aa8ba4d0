#include "common/domain/template/node_template.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "common/domain/job_text.h"
#include "common/domain/nodes/mapped_items.h"
#include "common/domain/template/fire_date.h"
#include "common/domain/template/template_text.h"

namespace carillon {
namespace {

using Kind = NodeExpression::Kind;

constexpr std::string_view kNodesPrefix = "nodes.";
constexpr std::string_view kParametersPrefix = "workflow.parameters.";
constexpr std::string_view kRunId = "workflow.run_id";
constexpr std::string_view kState = "workflow.state";
constexpr std::string_view kMessage = "message";
constexpr std::string_view kOutputsPrefix = "outputs.";
constexpr std::string_view kFireTime = "fire_time";

Error UnknownExpression(std::string_view text) {
  return TemplateError(fmt::format(
      "unknown expression '{}'; known are nodes.ID.outputs.NAME, nodes.ID.state, "
      "nodes.ID.exit_code, workflow.parameters.NAME, workflow.run_id, "
      "workflow.state, fire_time, fire_date and fire_time.local; write {{{{{{{{ for a literal {{{{",
      text.substr(0, kPlaceholderShownMax)));
}

// Has a code of its own until it leaves this file.
Error NoValue(std::string_view text, std::string_view why) {
  Error error = TemplateError(
      fmt::format("'{}' has no value: {}", text.substr(0, kPlaceholderShownMax), why));
  error.code = ErrorCode::kNotFound;
  return error;
}

// The value of {{workflow.state}}.
std::string_view StateName(RunState state) {
  switch (state) {
    case RunState::kFailed: return "failed";
    case RunState::kTimedOut: return "timed_out";
    case RunState::kCancelled: return "cancelled";
    default: return "completed";
  }
}

struct Filled {
  ParameterValue value;
  bool untrusted = false;
};

enum class Missing { kIsAnError, kIsEmpty };  // a value of a node that has not COMPLETED

// Of a node's parameters. A finally node is there to tell how the others have ended.
Missing MissingIn(const WorkflowGraph& graph, size_t position) {
  return graph.is_finally(position) ? Missing::kIsEmpty : Missing::kIsAnError;
}

class Renderer {
 public:
  Renderer(const WorkflowGraph& graph, const NodeRows& rows, const WorkflowFacts& facts,
           Missing missing = Missing::kIsAnError)
      : graph_(graph), rows_(rows), facts_(facts), missing_(missing) {}

  Result<Filled> Render(const ParameterValue& value) const {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) return Filled{value};
    std::string filled;
    std::optional<Filled> first;
    bool alone = true;  // the text is the placeholder `first` and nothing else
    bool untrusted = false;
    size_t room = kRenderedBytesMax;
    const auto add = [&](std::string_view part) {
      if (!part.empty()) alone = false;
      Append(part, room, filled);
    };
    const auto fill = [&](std::string_view name) -> Status {
      CARILLON_ASSIGN_OR_RETURN(Filled one, ValueOf(name));
      Append(ParameterText(one.value), room, filled);
      if (room == 0) return TooLong();
      untrusted = untrusted || one.untrusted;
      if (first) alone = false;
      first = std::move(one);
      return {};
    };
    CARILLON_TRY(ScanTemplate(*text, add, fill));
    if (room == 0) return TooLong();
    if (first && alone) return *std::move(first);
    return Filled{std::move(filled), untrusted};
  }

 private:
  static Error TooLong() {
    return TemplateError(fmt::format("the result has {} bytes or more", kRenderedBytesMax));
  }

  // Adds no more than `room` bytes.
  static void Append(std::string_view part, size_t& room, std::string& to) {
    part = part.substr(0, room);
    room -= part.size();
    to += part;
  }

  Result<Filled> ValueOf(std::string_view text) const {
    CARILLON_ASSIGN_OR_RETURN(const NodeExpression expression, ParseNodeExpression(text));
    if (expression.kind == Kind::kWorkflowRunId) return Filled{EncodeRunId(facts_.run)};
    if (expression.kind == Kind::kFire) return FireOf(expression.name);
    if (expression.kind == Kind::kWorkflowState) {
      if (facts_.state) return Filled{std::string(StateName(*facts_.state))};
      return NoValue(text, "the nodes that are not finally have not ended");
    }
    if (expression.kind == Kind::kWorkflowParameter) {
      const auto found = facts_.parameters.find(expression.name);
      if (found != facts_.parameters.end()) {
        return Filled{found->second, facts_.untrusted.contains(expression.name)};
      }
      return NoValue(text, "neither the workflow nor this run of it sets the parameter");
    }
    const auto position = graph_.Find(expression.node);
    if (!position) return NoValue(text, "there is no such node");
    const NodeRow& row = rows_[*position];
    auto value = ValueOf(expression, text, row);
    const bool is_empty = missing_ == Missing::kIsEmpty && row.state != RunState::kCompleted;
    if (value.ok() || !is_empty) return value;
    return Filled{std::string(), expression.kind == Kind::kOutput};
  }

  Result<Filled> FireOf(std::string_view name) const {
    if (name == kFireTime) return Filled{FormatRfc3339(facts_.run.fire)};
    CARILLON_ASSIGN_OR_RETURN(const FireDate date, ParseFireDate(name));
    CARILLON_ASSIGN_OR_RETURN(std::string local,
                              FormatFireDate(date, facts_.run.fire, facts_.time_zone));
    return Filled{std::move(local)};
  }

  static Result<Filled> ValueOf(const NodeExpression& expression, std::string_view text,
                                const NodeRow& row) {
    if (expression.kind == Kind::kState) return Filled{std::string(Name(row.state))};
    if (!IsFinal(row.state)) return NoValue(text, "the node has not ended");
    if (row.state == RunState::kSkipped) return NoValue(text, "the node was skipped");
    if (expression.kind == Kind::kExitCode) {
      if (row.exit_code) return Filled{int64_t{*row.exit_code}};
      return NoValue(text, fmt::format("the node ended as {}, without one", Name(row.state)));
    }
    const auto found = row.outputs.find(expression.name);
    if (found != row.outputs.end()) return Filled{found->second, true};
    return NoValue(text, "the node has not put it out");
  }

  const WorkflowGraph& graph_;
  const NodeRows& rows_;
  const WorkflowFacts& facts_;
  const Missing missing_;
};

}  // namespace

Result<NodeExpression> ParseNodeExpression(std::string_view text) {
  if (text == kRunId) return NodeExpression{.kind = Kind::kWorkflowRunId};
  if (text == kState) return NodeExpression{.kind = Kind::kWorkflowState};
  if (text == kFireTime || IsFireDate(text)) {
    if (text != kFireTime) CARILLON_TRY(ParseFireDate(text));
    return NodeExpression{.kind = Kind::kFire, .name = std::string(text)};
  }
  if (text.starts_with(kParametersPrefix)) {
    const std::string_view name = text.substr(kParametersPrefix.size());
    if (!IsVariableName(name)) return UnknownExpression(text);
    return NodeExpression{.kind = Kind::kWorkflowParameter, .name = std::string(name)};
  }
  if (!text.starts_with(kNodesPrefix)) return UnknownExpression(text);
  const std::string_view rest = text.substr(kNodesPrefix.size());
  const size_t dot = rest.find('.');
  if (dot == std::string_view::npos || !IsNodeId(rest.substr(0, dot))) {
    return UnknownExpression(text);
  }
  NodeExpression expression{.node = std::string(rest.substr(0, dot))};
  const std::string_view field = rest.substr(dot + 1);
  if (field == "state") {
    expression.kind = Kind::kState;
    return expression;
  }
  if (field == "exit_code") {
    expression.kind = Kind::kExitCode;
    return expression;
  }
  if (!field.starts_with(kOutputsPrefix) || !IsVariableName(field.substr(kOutputsPrefix.size()))) {
    return UnknownExpression(text);
  }
  expression.kind = Kind::kOutput;
  expression.name = field.substr(kOutputsPrefix.size());
  return expression;
}

Result<std::vector<NodeExpression>> ExpressionsOf(const ParameterValue& value) {
  std::vector<NodeExpression> found;
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return found;
  CARILLON_TRY(ScanTemplate(*text, kSkipText, [&found](std::string_view name) -> Status {
    CARILLON_ASSIGN_OR_RETURN(found.emplace_back(), ParseNodeExpression(name));
    return {};
  }));
  return found;
}

std::vector<NodeText> TextsOf(const WorkflowNode& node) {
  std::vector<NodeText> texts;
  for (const auto& [name, value] : node.parameters) {
    texts.push_back({"/parameters/" + EscapePointer(name), value});
  }
  if (node.approval) texts.push_back({"/approval/message", node.approval->message});
  if (node.wait) texts.push_back({"/wait/until", node.wait->until});
  if (!node.over.empty()) texts.push_back({"/over", node.over});
  return texts;
}

std::set<std::string> ParametersWithOutputs(const WorkflowNode& node) {
  std::set<std::string> names;
  const auto add = [&names](const std::string& name, const ParameterValue& value) {
    const auto expressions = ExpressionsOf(value);
    if (!expressions.ok()) return;
    for (const NodeExpression& one : *expressions) {
      if (one.kind == Kind::kOutput) names.insert(name);
    }
  };
  for (const auto& [name, value] : node.parameters) add(name, value);
  if (!node.over.empty()) add(node.as, node.over);
  return names;
}

namespace {

Error Misplaced(const Error& error, std::string pointer) {
  return {ErrorCode::kInvalid, error.message, std::move(pointer)};
}

Status RenderItems(const Renderer& renderer, const WorkflowNode& node,
                   RenderedParameters& rendered) {
  auto list = renderer.Render(node.over);
  if (!list.ok()) return Misplaced(list.error(), "/over");
  CARILLON_ASSIGN_OR_RETURN(rendered.items, ItemsOf(list->value));
  if (list->untrusted) rendered.untrusted.insert(node.as);
  return {};
}

}  // namespace

Result<RenderedParameters> RenderNodeParameters(const WorkflowGraph& graph, size_t position,
                                                const NodeRows& rows, const WorkflowFacts& facts) {
  const Renderer renderer(graph, rows, facts, MissingIn(graph, position));
  RenderedParameters rendered{.time_zone = facts.time_zone};
  const WorkflowNode& node = graph.node(position);
  for (const auto& [name, value] : node.parameters) {
    auto filled = renderer.Render(value);
    if (!filled.ok()) return Misplaced(filled.error(), "/parameters/" + EscapePointer(name));
    rendered.values[name] = std::move(filled->value);
    if (filled->untrusted) rendered.untrusted.insert(name);
  }
  CARILLON_TRY(ValidateParameters(rendered.values));
  if (!node.over.empty()) CARILLON_TRY(RenderItems({graph, rows, facts}, node, rendered));
  return rendered;
}

Result<RenderedParameters> RenderApproval(const WorkflowGraph& graph, size_t position,
                                          const NodeRows& rows, const WorkflowFacts& facts) {
  RenderedParameters rendered{.time_zone = facts.time_zone};
  const std::optional<Approval>& approval = graph.node(position).approval;
  if (!approval || approval->message.empty()) return rendered;
  const Renderer renderer(graph, rows, facts, MissingIn(graph, position));
  auto message = renderer.Render(approval->message);
  if (!message.ok()) return Misplaced(message.error(), "/approval/message");
  const std::string name(kMessage);
  rendered.values[name] = ParameterText(message->value);
  if (message->untrusted) rendered.untrusted.insert(name);
  const Status fits = ValidateParameters(rendered.values);
  if (!fits.ok()) return Misplaced(fits.error(), "/approval/message");
  return rendered;
}

Result<Outputs> RenderWorkflowOutputs(const WorkflowGraph& graph, const NodeRows& rows,
                                      const WorkflowFacts& facts) {
  const Renderer renderer(graph, rows, facts);
  Outputs outputs;
  for (const auto& [name, text] : graph.outputs()) {
    auto value = renderer.Render(text);
    if (value.ok()) {
      outputs[name] = ParameterText(value->value);
    } else if (value.code() != ErrorCode::kNotFound) {
      return Misplaced(value.error(), "/outputs/" + EscapePointer(name));
    }
  }
  const Status fits = CheckOutputs(outputs);
  if (!fits.ok()) return Misplaced(fits.error(), "/outputs");
  return outputs;
}

}  // namespace carillon
