// Owning handles for OpenSSL's objects, and the conversion of PEM text and of OpenSSL's errors.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace carillon::tls {

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
template <typename T, auto Free>
using Handle = std::unique_ptr<T, Deleter<Free>>;

using Bio = Handle<BIO, &BIO_free_all>;
using Key = Handle<EVP_PKEY, &EVP_PKEY_free>;
using Certificate = Handle<X509, &X509_free>;
using Request = Handle<X509_REQ, &X509_REQ_free>;

// Returns an error with the text "`what`: " and the oldest OpenSSL error of this thread. Discards
// the thread's later errors.
Error OpensslError(std::string_view what);

Result<Key> ReadKey(const std::string& pem);
Result<Certificate> ReadCertificate(const std::string& pem);
Result<Request> ReadRequest(const std::string& pem);

std::string KeyText(EVP_PKEY& key);
std::string CertificateText(X509& certificate);
std::string RequestText(X509_REQ& request);

// The first common name; empty if there is none.
std::string CommonName(const X509_NAME* name);

}  // namespace carillon::tls
