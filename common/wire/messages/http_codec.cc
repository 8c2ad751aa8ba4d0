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

void EncodeValue(const ExpectedValue& value, v1::HttpCall::Value& to) {
  if (!value) return to.set_null(true);
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
      *value);
}

ExpectedValue DecodeValue(const v1::HttpCall::Value& from) {
  switch (from.value_case()) {
    case v1::HttpCall::Value::kWhole: return from.whole();
    case v1::HttpCall::Value::kNumber: return from.number();
    case v1::HttpCall::Value::kFlag: return from.flag();
    case v1::HttpCall::Value::kNull: return std::nullopt;
    default: return from.text();
  }
}

void EncodePoll(const HttpPoll& poll, v1::HttpCall::Poll& to) {
  to.set_url(poll.url);
  to.set_url_at(poll.url_at);
  to.set_interval(static_cast<uint32_t>(poll.interval_s));
  for (const auto& [pointer, values] : poll.until) {
    v1::HttpCall::Values& all = (*to.mutable_until())[pointer];
    for (const ExpectedValue& value : values) EncodeValue(value, *all.add_values());
  }
}

HttpPoll DecodePoll(const v1::HttpCall::Poll& from) {
  HttpPoll poll{.url = from.url(), .url_at = from.url_at(), .interval_s = from.interval()};
  for (const auto& [pointer, values] : from.until()) {
    std::vector<ExpectedValue>& all = poll.until[pointer];
    for (const v1::HttpCall::Value& value : values.values()) all.push_back(DecodeValue(value));
  }
  return poll;
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
  if (!call.client_certificate.empty()) {
    EncodeSecretText(call.client_certificate, *to.mutable_client_certificate());
  }
  if (call.poll) EncodePoll(*call.poll, *to.mutable_poll());
}

std::optional<HttpCall> DecodeHttpCall(const v1::HttpCall& from) {
  // The limits of a definition: FindHttpCallMistakes checks the bytes that it also checks there.
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
  if (from.has_poll()) plain.poll = DecodePoll(from.poll());
  HttpCall call{.method = plain.method,
                .url = plain.url,
                .expect = plain.expect,
                .follow = plain.follow,
                .connect_timeout_s = plain.connect_timeout_s,
                .tls_verify = plain.tls_verify,
                .poll = plain.poll};
  for (const auto& [name, text] : from.headers()) {
    // A header has its text without the secrets, which the receiver checks once they are filled in.
    auto pieces = DecodeSecretText(text, kHttpHeaderBytesMax * kNamesOfSecrets);
    if (!pieces) return std::nullopt;
    std::string& value = plain.headers[name];
    for (const SecretPiece& piece : *pieces) value += piece.text;
    call.headers[name] = std::move(*pieces);
  }
  auto body = DecodeSecretText(from.body(), kHttpBodyBytesMax * kNamesOfSecrets);
  auto certificate =
      DecodeSecretText(from.client_certificate(), kHttpHeaderBytesMax * kNamesOfSecrets);
  if (!body || !certificate || !FindHttpCallMistakes(plain).empty()) return std::nullopt;
  call.body = std::move(*body);
  call.client_certificate = std::move(*certificate);
  return call;
}

}  // namespace carillon::wire
