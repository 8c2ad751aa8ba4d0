// The meaning of exit codes: a shell reports 128 + N if signal N ended its command. Pure.
#pragma once

#include <optional>
#include <string>

namespace carillon {

// 1 to 64 for the codes 129 to 192. A program may exit with such a code of its own accord, too.
std::optional<int> SignalOfExitCode(int code);

// "137 (128 + 9: SIGKILL; often out of memory)", or the code alone.
std::string ExitCodeText(int code);

}  // namespace carillon
