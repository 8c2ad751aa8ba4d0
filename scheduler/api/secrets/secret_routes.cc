#include "scheduler/api/secrets/secret_routes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include <fmt/core.h>

#include "common/domain/secret_text.h"
#include "scheduler/api/call/allowed_actions.h"
#include "scheduler/api/call/audit.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr size_t kDescriptionCharactersMax = 1000;
constexpr size_t kRewrappedMax = 500;  // per request

json SecretToJson(const Call& call, const SecretRecord& secret) {
  return {{"name", secret.name},
          {"description", secret.description},
          {"shared", secret.shared},
          {"user_id", secret.user_id},
          {"version", secret.version},
          {"key_id", secret.key_id},
          {"create_time", FormatRfc3339(secret.created)},
          {"update_time", FormatRfc3339(secret.updated)},
          {"allowed_actions", AllowedActions(call, "secret", secret.user_id)}};
}

HttpResponse SecretResponse(const Call& call, int status, const SecretRecord& secret) {
  HttpResponse response = JsonResponse(status, SecretToJson(call, secret));
  response.headers.emplace_back("ETag", VersionTag(secret.version));
  return response;
}

Problem NoSuchSecret() { return NotFound("No such secret. GET /api/secrets lists them."); }

Outcome<StoredSecret> ReadSecret(const Call& call) {
  const std::string& name = call.arguments.at(0);
  if (!IsSecretName(name)) return NoSuchSecret();
  auto secret = call.stores.secrets.GetSecret(name);
  if (!secret.ok() && secret.code() == ErrorCode::kNotFound) return NoSuchSecret();
  if (!secret.ok()) return secret.error();
  return std::move(secret).value();
}

Problem StaleVersion(const Call& call, const SecretRecord& secret) {
  Problem problem{
      .status = 412,
      .code = "stale_version",
      .detail = fmt::format(
          "The secret is now at version {}. Review `current` and send If-Match with its ETag.",
          secret.version)};
  problem.members["current_version"] = secret.version;
  problem.members["current"] = SecretToJson(call, secret);
  problem.headers.emplace_back("ETag", VersionTag(secret.version));
  return problem;
}

Outcome<StoredSecret> ReadAtVersion(const Call& call, const EntityTags& wanted) {
  CARILLON_ASSIGN_OR_RETURN(StoredSecret secret, ReadSecret(call));
  if (!wanted.MatchesStrongly(VersionTag(secret.record.version))) {
    return StaleVersion(call, secret.record);
  }
  return secret;
}

// The problem for a write that the store refused.
Problem Refused(const Call& call, const Error& error) {
  if (error.code == ErrorCode::kNotFound) return NoSuchSecret();
  if (error.code == ErrorCode::kTimeout) {
    return OutcomeUnknown("It is unknown whether this was done. GET the secret before retrying.",
                          error);
  }
  if (error.code != ErrorCode::kConflict) return ToProblem(error);
  const auto current = ReadSecret(call);
  return current.ok() ? StaleVersion(call, current->record) : current.error();
}

Outcome<std::shared_ptr<const Keyring>> ReadKeys(const Call& call) {
  auto keys = call.api.secret_keys.Keys();
  if (keys != nullptr) return keys;
  return Problem{.status = 409,
                 .code = "secrets_unavailable",
                 .detail =
                     "This member has no key to encrypt secrets. Set secrets.key_file, with the "
                     "same keys on every member."};
}

Outcome<std::string> ReadName(const json& body) {
  CARILLON_ASSIGN_OR_RETURN(std::string name, TextMember(body, "name", 63));
  if (IsSecretName(name)) return name;
  return InvalidField("/name", "bad_name",
                      "Must be 1 to 63 letters, digits and _, not beginning with a digit.");
}

// Reads the value in the body. Answers and errors never contain any part of the value.
Outcome<std::optional<std::string>> ReadValue(const json& body) {
  const auto found = body.find("value");
  if (found == body.end() || found->is_null()) return std::optional<std::string>();
  if (!found->is_string()) return InvalidField("/value", "wrong_type", "Must be a string.");
  const auto& value = found->get_ref<const std::string&>();
  const std::string complaint = SecretValueComplaint(value);
  if (complaint.empty()) return std::optional(value);
  const std::string code = value.size() < kSecretBytesMin   ? "too_short"
                           : value.size() > kSecretBytesMax ? "too_long"
                                                            : "bad_text";
  return InvalidField("/value", code, complaint);
}

// To share a secret, the caller needs the permission for all secrets, because all jobs may use
// a shared secret.
Outcome<bool> ReadShared(const Call& call, const json& body, bool now) {
  if (!body.contains("shared")) return now;
  CARILLON_ASSIGN_OR_RETURN(const bool shared, FlagMember(body, "shared"));
  if (shared == now || call.owns_all) return shared;
  Problem problem{.status = 403,
                  .code = "forbidden",
                  .detail = "Only an administrator can share a secret or stop sharing it.",
                  .errors = {{"/shared", "forbidden", "Leave this unchanged."}}};
  problem.members["permission"] = Name(Permission::kWriteSecrets);
  return problem;
}

json ForTheAudit(const SecretRecord& secret) {
  return {{"description", secret.description}, {"shared", secret.shared}};
}

struct Rewrapping {
  const Call& call;
  const Keyring& keys;
  int64_t rewrapped = 0;
  json unreadable = json::array();
};

// Seals one secret again with the first key. A conflict is not an error, because the other write
// has already sealed the secret with the first key.
Outcome<bool> RewrapOne(Rewrapping& work, const std::string& name) {
  const auto secret = work.call.stores.secrets.GetSecret(name);
  if (!secret.ok() && secret.code() == ErrorCode::kNotFound) return true;
  if (!secret.ok()) return secret.error();
  const auto value = work.keys.Open(name, secret->value);
  if (!value.ok()) {
    work.unreadable.push_back(name);
    return true;
  }
  const Status written =
      work.call.stores.secrets.RewrapSecret(name, secret->value, work.keys.Seal(name, *value));
  if (written.ok()) {
    ++work.rewrapped;
    return true;
  }
  if (written.code() == ErrorCode::kConflict || written.code() == ErrorCode::kNotFound) return true;
  return written.error();
}

}  // namespace

Reply ListSecrets(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const Query query,
                            Query::Read(call.request, {"page_size", "page_token"}));
  CARILLON_ASSIGN_OR_RETURN(Page page, Page::Read(query, "secrets"));
  CARILLON_ASSIGN_OR_RETURN(
      const auto secrets,
      call.stores.secrets.ListSecrets({.after_name = page.cursor(), .limit = page.size() + 1}));
  for (const SecretRecord& secret : secrets) {
    if (!page.Add(SecretToJson(call, secret), secret.name)) break;
  }
  return page.Finish(false, [&] { return call.stores.secrets.CountSecrets(); });
}

// Does not support Idempotency-Key, because the fingerprint would be a hash of the value.
Reply CreateSecret(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const json body,
                            ReadObject(call.request, Body::kRequired,
                                       {"name", "value", "description", "shared", "reason"}));
  CARILLON_TRY(TextMember(body, "reason", kReasonCharactersMax));
  SecretRecord record;
  CARILLON_ASSIGN_OR_RETURN(record.name, ReadName(body));
  CARILLON_ASSIGN_OR_RETURN(record.description,
                            TextMember(body, "description", kDescriptionCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(const auto value, ReadValue(body));
  if (!value) return InvalidField("/value", "missing", "A value is required.");
  CARILLON_ASSIGN_OR_RETURN(record.shared, ReadShared(call, body, false));
  CARILLON_ASSIGN_OR_RETURN(const auto keys, ReadKeys(call));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  record.user_id = call.caller.OwnerId();
  record.created = now;
  record.updated = now;
  const SealedValue sealed = keys->Seal(record.name, *value);
  record.key_id = sealed.key_id;
  const Status made = call.stores.secrets.CreateSecret({.record = record, .value = sealed});
  if (!made.ok() && made.code() == ErrorCode::kExists) {
    return Problem{
        .status = 409,
        .code = "exists",
        .detail = "This name is already used. PUT replaces the value of the existing secret.",
        .errors = {{"/name", "exists", "This name is already used."}}};
  }
  if (!made.ok()) return Refused(call, made.error());
  NoteChanges(call, {}, ForTheAudit(record));
  HttpResponse response = SecretResponse(call, 201, record);
  response.headers.emplace_back("Location", "/api/secrets/" + record.name);
  return response;
}

Reply GetSecret(const Call& call) {
  CARILLON_TRY(Query::Read(call.request, {}));
  CARILLON_ASSIGN_OR_RETURN(const StoredSecret secret, ReadSecret(call));
  return SecretResponse(call, 200, secret.record);
}

// Fields that are absent from the body do not change. If nothing changes, nothing is written.
Reply UpdateSecret(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(
      const json body,
      ReadObject(call.request, Body::kRequired, {"value", "description", "shared", "reason"}));
  CARILLON_TRY(TextMember(body, "reason", kReasonCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(const auto value, ReadValue(body));
  CARILLON_ASSIGN_OR_RETURN(const EntityTags tags, RequireIfMatch(call.request));
  return WriteMatching(tags, [&]() -> Reply {
    CARILLON_ASSIGN_OR_RETURN(const StoredSecret secret, ReadAtVersion(call, tags));
    StoredSecret wanted = secret;
    if (body.contains("description")) {
      CARILLON_ASSIGN_OR_RETURN(wanted.record.description,
                                TextMember(body, "description", kDescriptionCharactersMax));
    }
    CARILLON_ASSIGN_OR_RETURN(wanted.record.shared, ReadShared(call, body, secret.record.shared));
    if (value) {
      CARILLON_ASSIGN_OR_RETURN(const auto keys, ReadKeys(call));
      wanted.value = keys->Seal(secret.record.name, *value);
    }
    json told = ForTheAudit(wanted.record);
    if (value) told["value"] = "***";
    NoteChanges(call, ForTheAudit(secret.record), told);
    if (told == ForTheAudit(secret.record)) return SecretResponse(call, 200, secret.record);
    CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
    const auto updated = call.stores.secrets.UpdateSecret(wanted, now);
    if (!updated.ok()) return Refused(call, updated.error());
    return SecretResponse(call, 200, *updated);
  });
}

Reply DeleteSecret(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const EntityTags tags, RequireIfMatch(call.request));
  return WriteMatching(tags, [&]() -> Reply {
    CARILLON_ASSIGN_OR_RETURN(const StoredSecret secret, ReadAtVersion(call, tags));
    const Status deleted =
        call.stores.secrets.DeleteSecret(secret.record.name, secret.record.version);
    if (!deleted.ok()) return Refused(call, deleted.error());
    return HttpResponse{.status = 204};
  });
}

Reply RewrapSecrets(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const json body,
                            ReadObject(call.request, Body::kOptional, {"after", "reason"}));
  CARILLON_TRY(TextMember(body, "reason", kReasonCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(const std::string after, TextMember(body, "after", 63));
  CARILLON_ASSIGN_OR_RETURN(const auto keys, ReadKeys(call));
  CARILLON_ASSIGN_OR_RETURN(
      const auto secrets,
      call.stores.secrets.ListSecrets(
          {.after_name = after, .not_under_key = keys->current(), .limit = kRewrappedMax}));
  Rewrapping work{.call = call, .keys = *keys};
  for (const SecretRecord& secret : secrets) CARILLON_TRY(RewrapOne(work, secret.name));
  call.note.reason = fmt::format("{} under key {}", work.rewrapped, keys->current());
  const bool more = secrets.size() == kRewrappedMax;
  return JsonResponse(200, {{"key_id", keys->current()},
                            {"rewrapped", work.rewrapped},
                            {"unreadable", std::move(work.unreadable)},
                            {"next_after", more ? json(secrets.back().name) : json(nullptr)}});
}

}  // namespace carillon::scheduler
