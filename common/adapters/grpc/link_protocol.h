// Constants that both ends of the control link must agree on, besides the messages.
#pragma once

#include <string>
#include <string_view>

namespace carillon::rpc {

inline constexpr const char* kAttachMethod = "/carillon.v1.Control/Attach";
// An executor's request for a certificate in, the certificate out; both PEM. Metadata as of Attach;
// authorization is a join token, or absent when a certificate was shown.
inline constexpr const char* kJoinMethod = "/carillon.v1.Control/Join";
inline constexpr const char* kExecutorMetadata = "carillon-executor";
inline constexpr const char* kIncarnationMetadata = "carillon-incarnation";
inline constexpr const char* kSecretMetadata = "authorization";
// Of one connection; an executor has one, and for a while the next one.
inline constexpr int kStreamsOfAPeerMax = 64;
inline constexpr int kMessageBytesMax = 16 << 20;
// Finds the other end gone within 8 s, where TCP alone would take minutes.
inline constexpr int kKeepaliveMs = 5000;
inline constexpr int kKeepaliveTimeoutMs = 3000;

// [a-z0-9][a-z0-9-]{0,62}
bool IsIdentity(std::string_view text);
// Takes as long for a nearly right secret as for a wrong one.
bool SameSecret(std::string_view given, std::string_view wanted);

}  // namespace carillon::rpc
