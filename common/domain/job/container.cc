#include "common/domain/job/container.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/domain/enum_names.h"
#include "common/domain/job_text.h"

namespace carillon {
namespace {

constexpr size_t kImageBytesMax = 512;
constexpr size_t kUserBytesMax = 128;
constexpr std::array<NameOf<ContainerNetwork>, 2> kNetworks{
    {{ContainerNetwork::kBridge, "bridge"}, {ContainerNetwork::kNone, "none"}}};
constexpr std::array<NameOf<ContainerPull>, 3> kPulls{{{ContainerPull::kIfMissing, "missing"},
                                                       {ContainerPull::kEachTime, "always"},
                                                       {ContainerPull::kNotAtAll, "never"}}};

// Only characters of which no command line can make an option or a second word.
bool IsWord(std::string_view text, size_t bytes_max, std::string_view punctuation) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && text.size() <= bytes_max && plain(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return plain(c) || punctuation.find(c) != std::string_view::npos;
         });
}

}  // namespace

std::string_view Name(ContainerNetwork value) { return NameIn(kNetworks, value); }
std::string_view Name(ContainerPull value) { return NameIn(kPulls, value); }
template <>
Result<ContainerNetwork> ParseName(std::string_view text) {
  return ValueIn(kNetworks, text);
}
template <>
Result<ContainerPull> ParseName(std::string_view text) {
  return ValueIn(kPulls, text);
}

std::vector<Error> FindContainerMistakes(const ContainerDefinition& container,
                                         const std::map<std::string, std::string>& env) {
  std::vector<Error> mistakes;
  const auto note = [&](std::string pointer, std::string why) {
    mistakes.push_back({ErrorCode::kInvalid, std::move(why), std::move(pointer)});
  };
  if (container.image.empty()) {
    note("/container/image", "a container job needs an image");
  } else if (!IsWord(container.image, kImageBytesMax, "._-/:@+")) {
    note("/container/image",
         "must be the name of an image, such as alpine:3.20: at most 512 letters, digits and . _ - "
         "/ : @ +");
  }
  if (!container.user.empty() && !IsWord(container.user, kUserBytesMax, "._-:")) {
    note("/container/user",
         "must be NAME, UID, NAME:GROUP or UID:GID: at most 128 letters, digits and . _ - :");
  }
  if (!container.command.empty() && container.command.front().empty()) {
    note("/container/command/0", "the program must not be empty");
  }
  if (container.command.size() + container.args.size() > kContainerArgsMax) {
    note("/container/args",
         fmt::format("command and args have {} entries; at most {} are allowed",
                     container.command.size() + container.args.size(), kContainerArgsMax));
    return mistakes;
  }
  const auto check = [&](std::string_view field, const std::vector<std::string>& texts) {
    for (size_t i = 0; i < texts.size(); ++i) {
      std::string why = TextFault(texts[i], kContainerArgBytesMax);
      if (!why.empty()) note(fmt::format("/container/{}/{}", field, i), std::move(why));
    }
  };
  check("command", container.command);
  check("args", container.args);
  for (const auto& [name, value] : env) {
    // The engines read variables line by line.
    if (value.find_first_of("\r\n") == std::string::npos) continue;
    note(
        "/env/" + name,
        "may have no line break in a container; a parameter of the job may: CARILLON_PARAM_<NAME>");
  }
  return mistakes;
}

bool IsRenderedContainer(const ContainerDefinition& container) {
  ContainerDefinition named = container;
  // Values of parameters may be longer than a template.
  for (auto* texts : {&named.command, &named.args}) {
    for (std::string& text : *texts) {
      if (text.find('\0') != std::string::npos) return false;
      if (text.size() > kContainerArgBytesMax) text.resize(1);
    }
  }
  if (!named.command.empty() && named.command.front().empty()) named.command.clear();
  return FindContainerMistakes(named, {}).empty();
}

}  // namespace carillon
