#include "common/imports/kubernetes_container.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "common/domain/template/template_text.h"

namespace carillon {
namespace {

using nlohmann::json;

constexpr int64_t kMebibyte = 1 << 20;

// "500m" as 0.5, "128Mi" as 134217728.
std::optional<double> Quantity(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || !(number > 0)) return std::nullopt;
  const std::string_view unit(read.ptr, static_cast<size_t>(text.data() + text.size() - read.ptr));
  struct Unit {
    std::string_view name;
    double factor;
  };
  constexpr std::array<Unit, 12> kUnits{{{"", 1},
                                         {"m", 0.001},
                                         {"k", 1e3},
                                         {"M", 1e6},
                                         {"G", 1e9},
                                         {"T", 1e12},
                                         {"Ki", 1024.0},
                                         {"Mi", 1024.0 * 1024},
                                         {"Gi", 1024.0 * 1024 * 1024},
                                         {"Ti", 1024.0 * 1024 * 1024 * 1024},
                                         {"P", 1e15},
                                         {"E", 1e18}}};
  const auto* found = std::find_if(kUnits.begin(), kUnits.end(),
                                   [unit](const Unit& one) { return one.name == unit; });
  if (found == kUnits.end()) return std::nullopt;
  return number * found->factor;
}

class PodReader {
 public:
  explicit PodReader(const json& pod) : pod_(pod) {}

  KubernetesPod Read() {
    ReadPod();
    const json& containers = MemberOf(pod_, "containers");
    if (!containers.is_array() || containers.size() != 1) {
      Refuse(containers.is_array() && containers.size() > 1
                 ? fmt::format("it has {} containers; a job has one", containers.size())
                 : "it has no container");
      return std::move(read_);
    }
    ReadContainer(containers[0]);
    if (!left_out_.empty()) {
      read_.remarks.push_back(fmt::format("left out: {}", fmt::join(left_out_, ", ")));
    }
    return std::move(read_);
  }

 private:
  void Refuse(std::string why) { read_.refusals.push_back(std::move(why)); }

  void ReadPod() {
    if (!pod_.is_object()) return;
    for (const char* name : {"initContainers", "volumes", "ephemeralContainers"}) {
      if (IsSet(MemberOf(pod_, name))) Refuse(fmt::format("{} is not available", name));
    }
    for (const char* name : {"hostNetwork", "hostPID", "hostIPC"}) {
      if (MemberOf(pod_, name) == json(true)) Refuse(fmt::format("{} is not available", name));
    }
    constexpr std::array<std::string_view, 18> kKnown{"containers",
                                                      "initContainers",
                                                      "volumes",
                                                      "ephemeralContainers",
                                                      "hostNetwork",
                                                      "hostPID",
                                                      "hostIPC",
                                                      "restartPolicy",
                                                      "terminationGracePeriodSeconds",
                                                      "dnsPolicy",
                                                      "schedulerName",
                                                      "securityContext",
                                                      "automountServiceAccountToken",
                                                      "enableServiceLinks",
                                                      "activeDeadlineSeconds",
                                                      "serviceAccount",
                                                      "shareProcessNamespace",
                                                      "os"};
    for (const auto& [name, value] : pod_.items()) {
      const bool known = std::find(kKnown.begin(), kKnown.end(), name) != kKnown.end();
      if (!known && IsSet(value)) left_out_.push_back(name);
    }
  }

  void ReadContainer(const json& container) {
    json made = {{"image", TextOf(container, "image")}};
    ReadEnv(container);
    ReadWords(container, "command", made);
    ReadWords(container, "args", made);
    SetPull(container, made);
    SetSecurity(container, made);
    SetLimits(container);
    for (const char* name : {"volumeMounts", "volumeDevices", "workingDir"}) {
      if (IsSet(MemberOf(container, name))) Refuse(fmt::format("{} is not available", name));
    }
    constexpr std::array<std::string_view, 14> kKnown{"name",
                                                      "image",
                                                      "command",
                                                      "args",
                                                      "env",
                                                      "envFrom",
                                                      "imagePullPolicy",
                                                      "securityContext",
                                                      "resources",
                                                      "volumeMounts",
                                                      "volumeDevices",
                                                      "workingDir",
                                                      "terminationMessagePath",
                                                      "terminationMessagePolicy"};
    if (container.is_object()) {
      for (const auto& [name, value] : container.items()) {
        const bool known = std::find(kKnown.begin(), kKnown.end(), name) != kKnown.end();
        if (!known && IsSet(value)) left_out_.push_back(name);
      }
    }
    read_.job["container"] = std::move(made);
  }

  void ReadEnv(const json& container) {
    if (IsSet(MemberOf(container, "envFrom"))) {
      Refuse("envFrom is not available: write the variables in env, or use secrets");
    }
    const json& env = MemberOf(container, "env");
    if (!env.is_array()) return;
    for (const json& one : env) {
      const std::string name = TextOf(one, "name");
      if (IsSet(MemberOf(one, "valueFrom"))) {
        Refuse(fmt::format("the variable {} has a valueFrom, which is not available: use a secret",
                           name));
        continue;
      }
      env_[name] = ExpandReferences(TextOf(one, "value"), env_);
    }
    for (const auto& [name, value] : env_.items()) {
      read_.job["env"][name] = EscapeTemplate(value.get_ref<const std::string&>());
    }
  }

  void ReadWords(const json& container, const char* field, json& made) {
    const json& words = MemberOf(container, field);
    if (!IsSet(words)) return;
    made[field] = json::array();
    if (!words.is_array()) return Refuse(fmt::format("{} is no list", field));
    for (const json& word : words) {
      if (!word.is_string()) return Refuse(fmt::format("{} has something else than texts", field));
      made[field].push_back(EscapeTemplate(ExpandReferences(word, env_)));
    }
  }

  // Without a policy, Kubernetes pulls an image that is named by the tag latest, or by none.
  void SetPull(const json& container, json& made) const {
    const std::string policy = TextOf(container, "imagePullPolicy");
    const std::string image = TextOf(container, "image");
    const size_t tag =
        image.find(':', image.rfind('/') == std::string::npos ? 0 : image.rfind('/'));
    const bool latest = tag == std::string::npos || image.substr(tag) == ":latest";
    const bool pinned = image.find('@') != std::string::npos;
    if (policy == "Always" || (policy.empty() && latest && !pinned)) made["pull"] = "always";
    if (policy == "Never") made["pull"] = "never";
  }

  void SetSecurity(const json& container, json& made) {
    json context = MemberOf(pod_, "securityContext");
    if (!context.is_object()) context = json::object();
    const json& own = MemberOf(container, "securityContext");
    if (own.is_object()) context.update(own);
    std::string user = TextOf(context, "runAsUser");
    const std::string group = TextOf(context, "runAsGroup");
    if (!user.empty() && !group.empty()) user += ":" + group;
    if (!user.empty()) made["user"] = user;
    if (MemberOf(context, "readOnlyRootFilesystem") == json(true)) made["read_only"] = true;
    for (const auto& [name, value] : context.items()) {
      if (name == "runAsUser" || name == "readOnlyRootFilesystem" || !IsSet(value)) continue;
      if (name == "runAsGroup" && !user.empty()) continue;
      left_out_.push_back("securityContext." + name);
    }
  }

  void SetLimits(const json& container) {
    const json& resources = MemberOf(container, "resources");
    if (IsSet(MemberOf(resources, "requests"))) left_out_.emplace_back("resources.requests");
    const json& limits = MemberOf(resources, "limits");
    if (!limits.is_object()) return;
    for (const auto& [name, value] : limits.items()) {
      const auto amount = Quantity(value);
      if (amount && name == "cpu") {
        read_.job["limits"]["cpu"] = *amount;
      } else if (amount && name == "memory") {
        read_.job["limits"]["memory_mb"] =
            static_cast<int64_t>(std::ceil(std::min(*amount, 1e15) / kMebibyte));
      } else {
        left_out_.push_back("resources.limits." + name);
      }
    }
  }

  const json& pod_;
  KubernetesPod read_;
  json env_ = json::object();
  std::vector<std::string> left_out_;
};

}  // namespace

const json& MemberOf(const json& value, const std::string& name) {
  static const json kNull;
  if (!value.is_object()) return kNull;
  const auto found = value.find(name);
  return found == value.end() ? kNull : *found;
}

std::string TextOf(const json& value, const std::string& name) {
  const json& member = MemberOf(value, name);
  if (member.is_string()) return member.get<std::string>();
  return member.is_number() || member.is_boolean() ? member.dump() : std::string();
}

bool IsSet(const json& value) {
  return !value.is_null() && !(value.is_structured() && value.empty());
}

std::string ExpandReferences(const std::string& text, const json& values) {
  constexpr size_t kExpandedBytesMax = 100'000;  // more than a job may have
  std::string expanded;
  for (size_t at = 0; at < text.size() && expanded.size() < kExpandedBytesMax; ++at) {
    const std::string_view rest = std::string_view(text).substr(at);
    if (rest.starts_with("$$")) {
      expanded += '$';
      ++at;
      continue;
    }
    const size_t end = rest.starts_with("$(") ? rest.find(')') : std::string_view::npos;
    const std::string name(end == std::string_view::npos ? "" : rest.substr(2, end - 2));
    if (name.empty() || !values.contains(name)) {
      expanded += text[at];
      continue;
    }
    expanded += values[name].get_ref<const std::string&>();
    at += end;
  }
  return expanded;
}

KubernetesPod ConvertPod(const json& pod) { return PodReader(pod).Read(); }

}  // namespace carillon
