// Credentials of both ends of the control link.
#pragma once

#include <memory>
#include <string>

#include "common/adapters/grpc/grpc_include.h"
#include "common/tls/certificates.h"

namespace carillon::rpc {

// In the clear when `identity` is empty. A client without a certificate gets as far as a call, a
// client with a bad one does not.
std::shared_ptr<grpc::ServerCredentials> ServerCredentials(const tls::Identity& identity);

// To the server with a certificate for `name`, whatever its address.
std::shared_ptr<grpc::ChannelCredentials> ChannelCredentials(const tls::Identity& identity,
                                                             const std::string& name,
                                                             grpc::ChannelArguments& arguments);

// The name in the verified certificate that the other end has shown; empty without one.
std::string CertifiedName(const grpc::AuthContext& context);

}  // namespace carillon::rpc
