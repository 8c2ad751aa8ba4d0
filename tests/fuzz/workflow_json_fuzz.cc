// libFuzzer: a workflow in the form of a request. An accepted workflow can be compiled, and
// survives the store's text unchanged.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/domain/workflow/workflow_graph.h"
#include "common/wire/json/json_text.h"
#include "common/wire/json/workflow/workflow_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto body =
      carillon::ParseJsonText(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!body.ok()) return 0;
  const auto parsed = carillon::ParseWorkflow(*body);
  if (!parsed.problems.empty()) return 0;
  if (!carillon::WorkflowGraph::Compile(parsed.definition).ok()) std::abort();
  const auto again = carillon::WorkflowFromText(carillon::WorkflowToText(parsed.definition));
  if (!again.ok() || *again != parsed.definition) std::abort();
  return 0;
}
