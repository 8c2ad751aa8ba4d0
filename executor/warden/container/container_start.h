// The record of a container and the input of its driver, from the start of its attempt; and the
// result, from its end. Pure, except for the environment of this process, some of which the
// engine's command line needs.
#pragma once

#include "executor/warden/container/container_record.h"

namespace carillon::executor {

// The standard input of the driver. Values of variables may be secrets, so they are on no disk, and
// they would steer programs of the host, so they are in no environment.
struct DriverInput {
  std::string env_file;  // lines NAME=value, as the engines read them
  std::vector<std::string> variables =
      {};  // NAME=value with line breaks, which a line cannot have; CARILLON_* only
  std::vector<std::string> masked = {};  // values that the outputs must not show

  bool operator==(const DriverInput&) const = default;
};
std::string EncodeInput(const DriverInput& input);
std::optional<DriverInput> DecodeInput(std::string_view bytes);

struct PreparedContainer {
  ContainerRecord record;
  DriverInput input;
};
struct ContainerPlace {
  std::string warden_id;
  std::string control_directory;
  std::string outputs_file;
};
// kInvalid: a variable cannot be given to an engine; the message names it.
Result<PreparedContainer> PrepareContainer(const StartAttempt& start, const ContainerPlace& place);

// The result without times and output.
AttemptResult ResultOf(const ContainerEnd& end, const std::optional<Limits>& limits);

}  // namespace carillon::executor
