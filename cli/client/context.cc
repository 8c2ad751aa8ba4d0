#include "cli/client/context.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/client/user_file.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr size_t kNameCharactersMax = 63;

Result<std::string> PathOf(const std::map<std::string, std::string>& environment) {
  const std::string directory = UserDirectory(environment);
  if (!directory.empty()) return directory + "/contexts.json";
  return {ErrorCode::kInvalid, "cannot find the contexts: neither XDG_CONFIG_HOME nor HOME is set"};
}

Result<NamedContext> Look(const Contexts& contexts, const std::string& name) {
  const auto found = contexts.by_name.find(name);
  if (found != contexts.by_name.end()) return NamedContext(*found);
  return {ErrorCode::kInvalid, "unknown context '" + name + "'. See `carillon context list`."};
}

}  // namespace

Status ValidateContextName(const std::string& name) {
  const auto fits = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
  };
  const bool begins = !name.empty() && std::isalnum(static_cast<unsigned char>(name[0])) != 0;
  if (begins && name.size() <= kNameCharactersMax && std::all_of(name.begin(), name.end(), fits)) {
    return {};
  }
  return {ErrorCode::kInvalid, "a context name has up to 63 letters, digits, '_', '.' and '-'"};
}

Result<Contexts> ReadContexts(const std::map<std::string, std::string>& environment) {
  CARILLON_ASSIGN_OR_RETURN(const std::string path, PathOf(environment));
  std::ifstream in(path, std::ios::binary);
  if (!in) return Contexts{};
  std::ostringstream text;
  text << in.rdbuf();
  const json document = json::parse(text.str(), nullptr, false);
  const auto broken = [&path] {
    return Error{ErrorCode::kInvalid, path + " is not a valid context file; fix or remove it"};
  };
  if (!document.is_object() || !document.contains("contexts") ||
      !document["contexts"].is_object()) {
    return broken();
  }
  Contexts contexts;
  try {
    contexts.current = document.value("current", std::string());
    for (const auto& [name, stored] : document["contexts"].items()) {
      contexts.by_name[name] = {.addresses = stored.at("addresses").get<std::string>(),
                                .token_file = stored.value("token_file", std::string()),
                                .ca_file = stored.value("ca_file", std::string())};
    }
  } catch (const json::exception&) {
    return broken();
  }
  return contexts;
}

Status WriteContexts(const std::map<std::string, std::string>& environment,
                     const Contexts& contexts) {
  CARILLON_ASSIGN_OR_RETURN(const std::string path, PathOf(environment));
  CARILLON_TRY(MakeUserDirectory(UserDirectory(environment)));
  json document = {{"current", contexts.current}, {"contexts", json::object()}};
  for (const auto& [name, context] : contexts.by_name) {
    document["contexts"][name] = {{"addresses", context.addresses},
                                  {"token_file", context.token_file},
                                  {"ca_file", context.ca_file}};
  }
  return ReplaceUserFile(path, document.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

Result<std::optional<NamedContext>> FindNamedContext(
    const std::string& name, const std::map<std::string, std::string>& environment) {
  const auto variable = environment.find("CARILLON_CONTEXT");
  const std::string wanted =
      !name.empty() || variable == environment.end() ? name : variable->second;
  if (wanted.empty()) return std::optional<NamedContext>();
  CARILLON_ASSIGN_OR_RETURN(const Contexts contexts, ReadContexts(environment));
  CARILLON_ASSIGN_OR_RETURN(NamedContext found, Look(contexts, wanted));
  return std::optional(std::move(found));
}

Result<std::optional<NamedContext>> FindCurrentContext(
    const std::map<std::string, std::string>& environment) {
  if (UserDirectory(environment).empty()) return std::optional<NamedContext>();
  CARILLON_ASSIGN_OR_RETURN(const Contexts contexts, ReadContexts(environment));
  if (contexts.current.empty()) return std::optional<NamedContext>();
  CARILLON_ASSIGN_OR_RETURN(NamedContext found, Look(contexts, contexts.current));
  return std::optional(std::move(found));
}

}  // namespace carillon::cli
