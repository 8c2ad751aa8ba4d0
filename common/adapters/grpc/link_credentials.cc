#include "common/adapters/grpc/link_credentials.h"

#include <grpc/grpc_security_constants.h>

#include "common/adapters/grpc/link_protocol.h"

namespace carillon::rpc {

std::shared_ptr<grpc::ServerCredentials> ServerCredentials(const tls::Identity& identity) {
  if (identity.empty()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = identity.authority;
  options.pem_key_cert_pairs.push_back(
      {.private_key = identity.key, .cert_chain = identity.certificate});
  return grpc::SslServerCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> ChannelCredentials(const tls::Identity& identity,
                                                             const std::string& name,
                                                             grpc::ChannelArguments& arguments) {
  if (identity.empty()) return grpc::InsecureChannelCredentials();
  arguments.SetSslTargetNameOverride(name);
  return grpc::SslCredentials({.pem_root_certs = identity.authority,
                               .pem_private_key = identity.key,
                               .pem_cert_chain = identity.certificate});
}

std::string CertifiedName(const grpc::AuthContext& context) {
  if (!context.IsPeerAuthenticated()) return {};
  const auto names = context.FindPropertyValues(GRPC_X509_CN_PROPERTY_NAME);
  return names.empty() ? std::string() : std::string(names[0].data(), names[0].size());
}

// No probes of the bandwidth: each of them is a ping for a few bytes of data.
grpc::ChannelArguments LinkArguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMessageBytesMax);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return arguments;
}

}  // namespace carillon::rpc
