// Constants that both ends of the control link share, besides the messages.
#pragma once

#include <string>
#include <string_view>

namespace carillon::rpc {

inline constexpr const char* kAttachMethod = "/carillon.v1.Control/Attach";
// Request: an executor's certificate request; response: the certificate; both PEM. Metadata as for
// Attach; authorization is a join token, and absent if the executor has shown a certificate.
inline constexpr const char* kJoinMethod = "/carillon.v1.Control/Join";
inline constexpr const char* kExecutorMetadata = "carillon-executor";
inline constexpr const char* kIncarnationMetadata = "carillon-incarnation";
inline constexpr const char* kSecretMetadata = "authorization";
// Limit per connection. An executor needs one stream, and for a while also the one that
// replaces it.
inline constexpr int kStreamsOfAPeerMax = 64;
inline constexpr int kMessageBytesMax = 16 << 20;
// Detects a dead peer within 8 s, where TCP alone would take minutes.
inline constexpr int kKeepaliveMs = 5000;
inline constexpr int kKeepaliveTimeoutMs = 3000;

// [a-z0-9][a-z0-9-]{0,62}
bool IsIdentity(std::string_view text);
// Compares in constant time.
bool SameSecret(std::string_view given, std::string_view wanted);

}  // namespace carillon::rpc
