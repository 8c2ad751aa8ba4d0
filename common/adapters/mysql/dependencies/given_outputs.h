// Renders the outputs that the runs of dependents ask for (trigger_outputs.h), in the transaction
// that starts them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/domain/run/dependents.h"

namespace carillon::mysql {

// The parameters of one run, or the sentence for which it is not started.
struct GivenOutputs {
  std::string parameters = {};
  std::string refusal = {};
};

// By run; those that ask for no output are absent. The jobs of the runs are locked.
Result<std::map<RunKey, GivenOutputs>> OutputsFor(Session& session,
                                                  const std::vector<DependentRun>& runs);

}  // namespace carillon::mysql
