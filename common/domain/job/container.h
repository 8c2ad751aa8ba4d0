// The container of a job of type container: its image, the command in it, and how it is
// isolated. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace carillon {

enum class ContainerNetwork { kBridge, kNone };
// When the engine fetches the image: if the host lacks it, before each attempt, or never.
enum class ContainerPull { kIfMissing, kEachTime, kNotAtAll };
std::string_view Name(ContainerNetwork value);
std::string_view Name(ContainerPull value);
template <typename Enum>
Result<Enum> ParseName(std::string_view text);
template <>
Result<ContainerNetwork> ParseName(std::string_view text);
template <>
Result<ContainerPull> ParseName(std::string_view text);

struct ContainerDefinition {
  std::string image = {};  // 1-512 bytes, as the engine's command line takes it
  std::vector<std::string> command =
      {};  // in place of the entry point of the image; templates, as `args`
  std::vector<std::string> args = {};  // in place of the image's command; both together <= 100
  ContainerNetwork network = ContainerNetwork::kBridge;
  bool read_only = false;  // its root file system
  std::string user =
      {};  // NAME, UID, NAME:GROUP or UID:GID in the container; "" = that of the image
  ContainerPull pull = ContainerPull::kIfMissing;

  bool operator==(const ContainerDefinition&) const = default;
};

inline constexpr size_t kContainerArgsMax = 100;
inline constexpr size_t kContainerArgBytesMax = 32'768;

// The mistakes of a container, each with a pointer such as "/container/args/0". `env` is that of
// its job.
std::vector<Error> FindContainerMistakes(const ContainerDefinition& container,
                                         const std::map<std::string, std::string>& env);
// True for a container whose templates are filled in, whoever has sent it.
bool IsRenderedContainer(const ContainerDefinition& container);

}  // namespace carillon
