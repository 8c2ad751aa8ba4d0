// Constants that both ends of the control link share, besides the messages.
#pragma once

#include <string>
#include <string_view>

namespace carillon::rpc {

inline constexpr const char* kAttachMethod = "/carillon.v1.Control/Attach";
// Request: an executor's certificate request. Response: the certificate. Both are PEM. The metadata
// is the same as for Attach, except that `authorization` is a join token. An executor that has
// presented a certificate leaves `authorization` out.
inline constexpr const char* kJoinMethod = "/carillon.v1.Control/Join";
inline constexpr const char* kExecutorMetadata = "carillon-executor";
inline constexpr const char* kIncarnationMetadata = "carillon-incarnation";
inline constexpr const char* kPiecesMetadata = "carillon-pieces";  // "1": the executor takes pieces
inline constexpr const char* kSecretMetadata = "authorization";
// Limit per connection. An executor needs one stream, or two while a new stream
// replaces the old stream.
inline constexpr int kStreamsOfAPeerMax = 64;
inline constexpr int kMessageBytesMax = 16 << 20;
// With these two times an executor detects a dead member within 23 s. TCP alone would take minutes.
// The member sends no keepalives: it judges executors by their heartbeats.
inline constexpr int kKeepaliveMs = 20'000;
inline constexpr int kKeepaliveTimeoutMs = 3000;
// Executors of earlier versions send one every 5 s.
inline constexpr int kPingLeastMs = 2500;

// True if `text` matches [a-z0-9][a-z0-9-]{0,62}.
bool IsIdentity(std::string_view text);
// Compares in constant time, so that the duration reveals nothing about the secret.
bool SameSecret(std::string_view given, std::string_view wanted);

}  // namespace carillon::rpc
