// Removes containers, says whether something is left, and finds out how they have ended.
//
// Place    docs/containers.md. In children of the warden (container_cleaner.h); in a keeper whose
//          warden has died.
// Threads  Stateless. Waits for the engine and for the disk.
// Always   Touches only containers with the label of their warden. Three answers: what cannot be
//          seen is neither there nor gone.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/warden/container/container_record.h"

namespace carillon::executor {

struct ContainerToRemove {
  std::string name;
  std::string engine;
  std::string warden_id;
  std::string record_file;
  std::string outputs_file = {};
  std::shared_ptr<const SecretPatterns> patterns = {};  // null: nothing is masked
  // An engine also knows the end, but not whether somebody has asked for it.
  bool ask_engine = false;
};
struct RemovedContainer {
  bool gone =
      false;  // the engine has said that it does not exist any more, and its end was looked for
  bool killed =
      false;  // a kill was sent, so that the engine's next word for its end may be about that
  std::optional<ContainerEnd> end = {};
};
// One list for all containers of an engine. The answers are in the order of `containers`.
std::vector<RemovedContainer> RemoveContainers(const std::vector<ContainerToRemove>& containers);
std::string EncodeRemoved(const std::vector<RemovedContainer>& removed);
// nullopt: it is not whole.
std::optional<std::vector<RemovedContainer>> DecodeRemoved(std::string_view bytes);

// Kills and removes the container with growing pauses until it is gone, but not for ever: its files
// remain, and the next warden goes on.
void RemoveWithoutWarden(const ContainerToRemove& container);

// Everything that has the label of this warden; nullopt: the engine does not say.
std::optional<std::vector<ListedContainer>> ListContainers(const std::string& engine,
                                                           const std::string& warden_id);
void RemoveById(const std::string& engine, const std::vector<std::string>& ids);
std::string EncodeListed(const std::vector<ListedContainer>& listed);
std::optional<std::vector<ListedContainer>> DecodeListed(std::string_view bytes);

// The pause before the removal is tried again, after so many tries: 1 s, doubled up to a minute.
Duration PauseAfter(int tries);

}  // namespace carillon::executor
