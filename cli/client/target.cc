#include "cli/client/target.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/client/context.h"

namespace carillon::cli {
namespace {

constexpr size_t kAddressesMax = 16;
constexpr size_t kFileBytesMax = 64u << 10;
constexpr std::string_view kDefaultDataDir = "/.local/share/carillon";

std::string Variable(const std::map<std::string, std::string>& environment,
                     const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

std::string Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(kFileBytesMax, '\0');
  if (in) in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad()) return {ErrorCode::kUnavailable, "cannot read " + path};
  text.resize(static_cast<size_t>(in.gcount()));
  return text;
}

Result<std::string> ReadToken(const std::string& path) {
  const auto text = ReadFile(path);
  // kInvalid, because a wrong path is a usage error. kUnavailable would be reported as a server
  // that does not answer.
  if (!text.ok()) return {ErrorCode::kInvalid, "token file: " + text.error().message};
  const std::string token = Trim(*text);
  if (token.empty()) return {ErrorCode::kInvalid, path + " contains no token"};
  return token;
}

Result<std::string> CheckUrl(std::string_view text) {
  std::string url = Trim(text);
  while (!url.empty() && url.back() == '/' && !url.ends_with("://")) url.pop_back();
  if (url.find("://") == std::string::npos) url = "http://" + url;
  const bool known = url.rfind("http://", 0) == 0 || url.rfind("https://", 0) == 0;
  const size_t host = url.find("://") + 3;
  if (!known || host >= url.size() || url[host] == '/' ||
      url.find_first_of("?#@ \"<>\\") != std::string::npos) {
    return {ErrorCode::kInvalid,
            "invalid server address '" + std::string(text) + "' (use e.g. http://127.0.0.1:8640)"};
  }
  return url;
}

Status AddUrls(std::string_view list, Target& target) {
  while (true) {
    const size_t comma = list.find(',');
    CARILLON_ASSIGN_OR_RETURN(std::string url, CheckUrl(list.substr(0, comma)));
    if (target.urls.size() >= kAddressesMax) {
      return {ErrorCode::kInvalid, "too many server addresses: at most 16"};
    }
    target.urls.push_back(std::move(url));
    if (comma == std::string_view::npos) return {};
    list.remove_prefix(comma + 1);
  }
}

// Reads the server's URL from `path`, the runtime.json that a standalone server writes when it is
// ready. With `with_token` also reads the server's token.
Status UseRuntime(const std::string& path, bool with_token, Target& target) {
  const Result<std::string> read = ReadFile(path);
  if (!read.ok()) {
    const std::string directory = path.substr(0, path.rfind('/'));
    return {read.code(), "no server is ready on this data directory: " + read.error().message +
                             ". Start one with: carillon standalone --data-dir " + directory};
  }
  const std::string& text = *read;
  const auto runtime = nlohmann::json::parse(text, nullptr, false);
  if (!runtime.is_object() || !runtime.contains("url") || !runtime["url"].is_string()) {
    return {ErrorCode::kInvalid, path + " contains no url"};
  }
  CARILLON_TRY(AddUrls(runtime["url"].get<std::string>(), target));
  target.origin = path;
  if (!with_token) return {};
  if (!runtime.contains("token_file") || !runtime["token_file"].is_string()) {
    return {ErrorCode::kInvalid, path + " contains no token_file"};
  }
  CARILLON_ASSIGN_OR_RETURN(target.token, ReadToken(runtime["token_file"].get<std::string>()));
  return {};
}

Result<std::string> TokenOf(const TargetFlags& flags,
                            const std::map<std::string, std::string>& environment) {
  if (!flags.token_file.empty()) return ReadToken(flags.token_file);
  const std::string token = Trim(Variable(environment, "CARILLON_TOKEN"));
  if (!token.empty()) return token;
  const std::string file = Variable(environment, "CARILLON_TOKEN_FILE");
  return file.empty() ? std::string() : ReadToken(file);
}

// Returns `file` if it contains a certificate, or if the name is empty.
Result<std::string> CheckCaFile(const std::string& file) {
  if (file.empty()) return file;
  const auto text = ReadFile(file);
  if (!text.ok()) return {ErrorCode::kInvalid, "CA file: " + text.error().message};
  if (text->find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
    return {ErrorCode::kInvalid, "CA file: " + file + " contains no PEM certificate"};
  }
  return file;
}

Status UseContext(const NamedContext& named, const TargetFlags& flags, Target& target) {
  const auto& [name, context] = named;
  CARILLON_TRY(AddUrls(context.addresses, target));
  target.origin = "context " + name;
  if (flags.ca_file.empty() && !context.ca_file.empty()) {
    CARILLON_ASSIGN_OR_RETURN(target.ca_file, CheckCaFile(context.ca_file));
  }
  if (!flags.token_file.empty() || context.token_file.empty()) return {};
  CARILLON_ASSIGN_OR_RETURN(target.token, ReadToken(context.token_file));
  return {};
}

// Uses the server that the user named by a flag, a variable or a context. If the user named no
// server, `target` stays unchanged.
Status UseNamed(const TargetFlags& flags, const std::map<std::string, std::string>& environment,
                Target& target) {
  const std::string variable = Variable(environment, "CARILLON_ADDR");
  if (!flags.addresses.empty()) {
    target.origin = "--addr";
    return AddUrls(flags.addresses, target);
  }
  if (!flags.data_dir.empty()) {
    return UseRuntime(flags.data_dir + "/runtime.json", flags.token_file.empty(), target);
  }
  CARILLON_ASSIGN_OR_RETURN(const auto named, FindNamedContext(flags.context, environment));
  if (named) return UseContext(*named, flags, target);
  if (!variable.empty()) {
    target.origin = "CARILLON_ADDR";
    return AddUrls(variable, target);
  }
  CARILLON_ASSIGN_OR_RETURN(const auto current, FindCurrentContext(environment));
  return current ? UseContext(*current, flags, target) : Status();
}

std::string DefaultRuntime(const std::map<std::string, std::string>& environment) {
  const std::string home = Variable(environment, "HOME");
  const std::string path = home + std::string(kDefaultDataDir) + "/runtime.json";
  std::error_code ignored;
  return !home.empty() && std::filesystem::exists(path, ignored) ? path : "";
}

}  // namespace

Result<Target> FindTarget(const TargetFlags& flags,
                          const std::map<std::string, std::string>& environment) {
  Target target;
  const std::string ca_file =
      flags.ca_file.empty() ? Variable(environment, "CARILLON_CA_FILE") : flags.ca_file;
  CARILLON_ASSIGN_OR_RETURN(target.ca_file, CheckCaFile(ca_file));
  CARILLON_TRY(UseNamed(flags, environment, target));
  if (!target.token.empty()) return target;
  CARILLON_ASSIGN_OR_RETURN(target.token, TokenOf(flags, environment));
  if (!target.urls.empty()) return target;
  const std::string runtime = DefaultRuntime(environment);
  if (!runtime.empty()) {
    target.token_found = target.token.empty();
    CARILLON_TRY(UseRuntime(runtime, target.token_found, target));
    return target;
  }
  target.urls.emplace_back(kDefaultUrl);
  target.origin = "default";
  return target;
}

}  // namespace carillon::cli
