#include "common/wire/messages/container_codec.h"

namespace carillon::wire {

void EncodeContainer(const ContainerDefinition& container, v1::Container& to) {
  to.set_image(container.image);
  for (const std::string& text : container.command) to.add_command(text);
  for (const std::string& text : container.args) to.add_args(text);
  to.set_network(std::string(Name(container.network)));
  to.set_read_only(container.read_only);
  to.set_user(container.user);
  to.set_pull(std::string(Name(container.pull)));
}

std::optional<ContainerDefinition> DecodeContainer(const v1::Container& from) {
  const auto network = ParseName<ContainerNetwork>(from.network());
  const auto pull = ParseName<ContainerPull>(from.pull());
  if (!network.ok() || !pull.ok()) return std::nullopt;
  ContainerDefinition container{.image = from.image(),
                                .command = {from.command().begin(), from.command().end()},
                                .args = {from.args().begin(), from.args().end()},
                                .network = *network,
                                .read_only = from.read_only(),
                                .user = from.user(),
                                .pull = *pull};
  if (!IsRenderedContainer(container)) return std::nullopt;
  return container;
}

}  // namespace carillon::wire
