#include "common/wire/messages/http_codec.h"

#include <string>
#include <type_traits>
#include <variant>

namespace carillon::wire {
namespace {

// The limits of a definition are for the text alone; the names of secrets, which are in its
// template, come on top.
constexpr size_t kNamesOfSecrets = 2;  // factor

bool ContainsNul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

void EncodeValue(const ParameterValue& value, v1::HttpCall::Value& to) {
  std::visit(
      [&to](const auto& one) {
        using T = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<T, std::string>) {
          to.set_text(one);
        } else if constexpr (std::is_same_v<T, int64_t>) {
          to.set_whole(one);
        } else if constexpr (std::is_same_v<T, double>) {
          to.set_number(one);
        } else {
          to.set_flag(one);
        }
      },
      value);
}

ParameterValue DecodeValue(const v1::HttpCall::Value& from) {
  switch (from.value_case()) {
    case v1::HttpCall::Value::kWhole: return from.whole();
    case v1::HttpCall::Value::kNumber: return from.number();
    case v1::HttpCall::Value::kFlag: return from.flag();
    default: return from.text();
  }
}

}  // namespace

void EncodeSecretText(const SecretText& pieces, v1::SecretText& to) {
  for (const SecretPiece& piece : pieces) {
    v1::SecretText::Piece& added = *to.add_pieces();
    if (piece.secret.empty()) {
      added.set_text(piece.text);
    } else {
      added.set_secret(piece.secret);
    }
  }
}

std::optional<SecretText> DecodeSecretText(const v1::SecretText& from, size_t bytes_max) {
  SecretText pieces;
  size_t bytes = 0;
  for (const v1::SecretText::Piece& piece : from.pieces()) {
    bytes += piece.text().size() + piece.secret().size();
    const bool named = piece.has_secret();
    if (ContainsNul(piece.text()) || (named && !IsSecretName(piece.secret()))) return std::nullopt;
    pieces.push_back({.text = piece.text(), .secret = piece.secret()});
  }
  if (bytes > bytes_max) return std::nullopt;
  return pieces;
}

void EncodeHttpCall(const HttpCall& call, v1::HttpCall& to) {
  to.set_method(std::string(Name(call.method)));
  to.set_url(call.url);
  for (const auto& [name, pieces] : call.headers) {
    EncodeSecretText(pieces, (*to.mutable_headers())[name]);
  }
  EncodeSecretText(call.body, *to.mutable_body());
  for (const std::string& range : call.expect.status) to.add_expect_status(range);
  to.set_expect_contains(call.expect.contains);
  to.set_expect_regex(call.expect.regex);
  for (const auto& [pointer, value] : call.expect.json) {
    EncodeValue(value, (*to.mutable_expect_json())[pointer]);
  }
  to.set_follow(static_cast<uint32_t>(call.follow));
  to.set_connect_timeout(static_cast<uint32_t>(call.connect_timeout_s));
  to.set_any_certificate(!call.tls_verify);
}

std::optional<HttpCall> DecodeHttpCall(const v1::HttpCall& from) {
  // The limits of a definition: FindHttpMistakes checks the bytes that it also checks there.
  HttpDefinition plain;
  const auto method = ParseHttpMethod(from.method());
  if (!method.ok()) return std::nullopt;
  plain.method = *method;
  plain.url = from.url();
  plain.expect.status = {from.expect_status().begin(), from.expect_status().end()};
  plain.expect.contains = from.expect_contains();
  plain.expect.regex = from.expect_regex();
  for (const auto& [pointer, value] : from.expect_json()) {
    plain.expect.json[pointer] = DecodeValue(value);
  }
  plain.follow = from.follow();
  plain.connect_timeout_s = from.connect_timeout();
  plain.tls_verify = !from.any_certificate();
  HttpCall call{.method = plain.method,
                .url = plain.url,
                .expect = plain.expect,
                .follow = plain.follow,
                .connect_timeout_s = plain.connect_timeout_s,
                .tls_verify = plain.tls_verify};
  for (const auto& [name, text] : from.headers()) {
    // A header has its text without the secrets, which the receiver checks once they are filled in.
    auto pieces = DecodeSecretText(text, kHttpHeaderBytesMax * kNamesOfSecrets);
    if (!pieces) return std::nullopt;
    std::string& value = plain.headers[name];
    for (const SecretPiece& piece : *pieces) value += piece.text;
    call.headers[name] = std::move(*pieces);
  }
  auto body = DecodeSecretText(from.body(), kHttpBodyBytesMax * kNamesOfSecrets);
  if (!body || !FindHttpMistakes(plain).empty()) return std::nullopt;
  call.body = std::move(*body);
  return call;
}

}  // namespace carillon::wire
