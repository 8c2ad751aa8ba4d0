// Converts the container of a Kubernetes pod to that of a job. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace carillon {

struct KubernetesPod {
  nlohmann::json job = nlohmann::json::object();  // container, env, limits
  std::vector<std::string> remarks = {};
  std::vector<std::string> refusals = {};
};

// `pod` is the spec of a pod; it may be anything.
KubernetesPod ConvertPod(const nlohmann::json& pod);

// References $(NAME) become values, and $$ becomes $, as Kubernetes does it.
std::string ExpandReferences(const std::string& text, const nlohmann::json& values);

// The member, or null if it is absent or `value` is no object.
const nlohmann::json& MemberOf(const nlohmann::json& value, const std::string& name);
// The same as text; a number or a boolean as it is written. "" for others.
std::string TextOf(const nlohmann::json& value, const std::string& name);
// True unless the value is null, or an empty list or object.
bool IsSet(const nlohmann::json& value);

}  // namespace carillon
