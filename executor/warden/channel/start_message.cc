#include "executor/warden/channel/start_message.h"

#include <fmt/format.h>

namespace carillon::executor {
namespace {

using namespace warden_message;

Error TooOld(std::string_view what) {
  return {ErrorCode::kInvalid,
          fmt::format("the warden was started before an upgrade and {}; restart it", what)};
}

}  // namespace

Result<WardenMessage> StartMessage(const StartAttempt& start, uint32_t warden_version) {
  if (start.container) {
    if (warden_version < kWardenRunsContainers) return TooOld("runs no containers");
    return WardenMessage(StartContainer{start});
  }
  if (start.limits || start.user) {
    if (warden_version < kWardenIsolates) return TooOld("knows neither limits nor run_as");
    return WardenMessage(StartIsolated{start});
  }
  if (start.script) {
    if (warden_version < kWardenRunsScripts) return TooOld("runs no scripts");
    return WardenMessage(StartScript{start});
  }
  if (start.masked.empty()) return WardenMessage(Start{start});
  if (warden_version < kWardenMasks) return TooOld("cannot mask secrets");
  return WardenMessage(StartMasked{start});
}

}  // namespace carillon::executor
